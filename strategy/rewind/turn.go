package rewind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Turn is a turn of this worktree.
type Turn struct {
	Session, Agent, Prompt string
	// ID is the turn's id, empty if no snapshot names it.
	ID string
	At time.Time
	// Number is its place among the worktree's turns in the index, 1 for the newest; 0 if it
	// was not found there.
	Number int
	// Unchanged reports whether it changed no file. Before is then the number of the last turn
	// before it that changed one, 0 if there is none.
	Unchanged bool
	Before    int
}

// pointBeforeTurn returns the point at which the n-th last turn of this worktree began, with the
// turn. The list of turns is the index's, which is brought up to date. If no snapshot was taken for
// the turn, the point is that of the last snapshot before it.
func pointBeforeTurn(ctx context.Context, w *workspace.Workspace, spec string, n int) (p Point, err error) {
	store, err := tracking.SnapshotStore(w)
	if err != nil {
		return Point{}, &PointError{spec, err.Error()}
	}
	r, err := query.OpenIndex(ctx, w, func(string, int64, int64) {})
	if err != nil {
		return Point{}, fmt.Errorf("read the list of turns: %w", err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	const searched = 50 // for a turn that changed something
	rows, _, err := r.Turns(ctx, index.Filter{Worktree: w.Repo.Root}, n+searched)
	if err != nil {
		return Point{}, err
	}
	if n > len(rows) {
		return Point{}, &PointError{spec, fmt.Sprintf("no such turn: `entire log` lists %d of this worktree", len(rows))}
	}
	list, _ := store.Snapshots() // unreadable ones are left out
	all := ownSnapshots{rows: rows, list: slices.DeleteFunc(list, func(s bands.Snapshot) bool {
		return s.Lineage != tracking.Lineage(w) || len(s.Only) > 0
	})}
	begin, found := all.before(n-1, running(w, &rows[n-1]))
	if !found {
		return Point{}, &PointError{spec, "no snapshot from before that turn"}
	}
	row := &rows[n-1]
	p = pointOf(store, begin).Point
	p.Turn = &Turn{
		ID: all.id(n-1, running(w, row)), Session: row.Session, Agent: row.Agent, Prompt: cmp.Or(transcript.PromptTitle(row.Prompt), row.Prompt), At: row.At, Number: n,
		Unchanged: !all.changed(n-1) && running(w, row) == "",
	}
	if p.Turn.Unchanged {
		for i := n; i < len(rows); i++ {
			if _, found := all.before(i, ""); found && all.changed(i) {
				p.Turn.Before = i + 1
				break
			}
		}
	}
	return p, nil
}

// running returns the id of a turn that is under way, "" if it has ended.
func running(w *workspace.Workspace, row *index.Row) string {
	s, err := w.Sessions.Load(row.Session)
	if err != nil || s.Phase != session.Active || row.Line < s.Recorder.Turn.Line {
		return ""
	}
	return s.TurnID
}

// ownSnapshots are the turns of a worktree, newest first, and its snapshots of the whole tree,
// oldest first.
type ownSnapshots struct {
	rows []index.Row
	list []bands.Snapshot
}

// taken returns the index of the first snapshot that was taken for a turn, and whether one was
// taken in it or at its end. id is the turn's if it is under way.
func (o *ownSnapshots) taken(turn int, id string) (first int, within bool) {
	row := &o.rows[turn]
	id = o.id(turn, id)
	first = -1
	for i, s := range o.list {
		if id == "" || s.Cause == bands.Rescue || s.Causality.Turn != id || s.Causality.Session != row.Session {
			continue
		}
		if first < 0 {
			first = i
		}
		within = within || s.Cause != bands.Prompt
	}
	return first, within
}

// id returns the id of a turn as its snapshots have it, "" if it has none. known is the id if it is under
// way.
func (o *ownSnapshots) id(turn int, known string) string {
	row := &o.rows[turn]
	for _, s := range o.list {
		in := int(s.Version) == row.Snapshot || s.Cause == bands.Commit && !s.Created.Before(row.At) && !s.Created.After(row.Ended)
		if known == "" && in && s.Causality.Session == row.Session {
			known = s.Causality.Turn
		}
	}
	return known
}

// changed reports whether a turn that has ended changed a file.
func (o *ownSnapshots) changed(turn int) bool {
	_, within := o.taken(turn, "")
	return within || o.rows[turn].Files > 0
}

// before returns the snapshot of the tree at the beginning of a turn.
func (o *ownSnapshots) before(turn int, id string) (s bands.Snapshot, found bool) {
	first, _ := o.taken(turn, id)
	if first >= 0 && o.list[first].Cause == bands.Prompt {
		return o.list[first], true
	}
	row := &o.rows[turn]
	earlier := o.list[:max(first, 0)]
	if first < 0 {
		n := slices.IndexFunc(o.list, func(s bands.Snapshot) bool { return s.Created.After(row.At) })
		if n < 0 {
			n = len(o.list)
		}
		earlier = o.list[:n]
		if n < len(o.list) {
			if s := o.list[n]; s.Cause == bands.Prompt && s.Causality.Session == row.Session && s.Created.Before(row.Ended) {
				return s, true
			}
		}
	}
	return bands.PresentSnapshot(earlier)
}

// TurnsSince returns the turns, oldest first, whose snapshots a rewind to a version takes back: those
// that were taken after it and are in effect, see [bands.InEffect].
func TurnsSince(w *workspace.Workspace, v bands.Version) ([]Turn, error) {
	store, err := tracking.SnapshotStore(w)
	if err != nil {
		return nil, err
	}
	all, _ := store.Snapshots() // unreadable ones are left out
	all = slices.DeleteFunc(all, func(s bands.Snapshot) bool { return s.Lineage != tracking.Lineage(w) || len(s.Only) > 0 })
	var turns []Turn
	last := ""
	for _, s := range bands.InEffect(all) {
		c := s.Causality
		if s.Version <= v || s.Cause == bands.Prompt || s.Cause == bands.Rescue || c.Turn == "" || c.Turn == last {
			continue
		}
		last = c.Turn
		turns = append(turns, Turn{ID: c.Turn, Session: c.Session, Agent: labelOf(c.Agent), Prompt: c.Prompt, At: s.Created})
	}
	return turns, nil
}
