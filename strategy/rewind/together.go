package rewind

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Other is another repository that turns changed.
type Other struct {
	session.Other

	// Session and Turns are the session and the ids of its turns that changed it.
	Session string
	Turns   []string
}

// OthersOf returns the other repositories that turns changed, in the order of the sessions' states.
func OthersOf(w *workspace.Workspace, turns []Turn) []Other {
	var list []Other
	for _, t := range turns {
		s, err := w.Sessions.Load(t.Session)
		if err != nil || t.ID == "" {
			continue
		}
		for _, o := range s.Recorder.Others {
			if !slices.ContainsFunc(o.Turns, func(c session.ChangedTurn) bool { return c.ID == t.ID }) {
				continue
			}
			i := slices.IndexFunc(list, func(l Other) bool { return l.CommonDir == o.CommonDir && l.Session == t.Session })
			if i < 0 {
				list, i = append(list, Other{Other: o, Session: t.Session}), len(list)
			}
			list[i].Turns = append(list[i].Turns, t.ID)
		}
	}
	return list
}

// ErrNoPoint means that a repository has no snapshot from before a turn.
var ErrNoPoint = errors.New("no snapshot from before that turn")

// PointBefore returns the point at which the first of some turns of a session began in this repository:
// the snapshot of its prompt, else the last one before its first snapshot.
func PointBefore(w *workspace.Workspace, id string, turns []string) (Point, error) {
	store, err := tracking.SnapshotStore(w)
	if err != nil {
		return Point{}, err
	}
	list, _ := store.Snapshots() // unreadable ones are left out
	list = slices.DeleteFunc(list, func(s bands.Snapshot) bool { return s.Lineage != tracking.Lineage(w) || len(s.Only) > 0 })
	first := slices.IndexFunc(list, func(s bands.Snapshot) bool {
		return s.Cause != bands.Rescue && s.Causality.Session == id && slices.Contains(turns, s.Causality.Turn)
	})
	if first < 0 {
		return Point{}, ErrNoPoint
	}
	begin, found := list[first], true
	if begin.Cause != bands.Prompt {
		begin, found = bands.PresentSnapshot(list[:first])
	}
	if !found {
		return Point{}, ErrNoPoint
	}
	return pointOf(store, begin).Point, nil
}

// Part is the rewind of one repository in a rewind of several.
type Part struct {
	W       *workspace.Workspace
	Point   Point
	Options Options
}

// Together is the record of a rewind of several repositories that has begun, in the user's own state.
// docs/formats/rewind.md describes it.
type Together struct {
	ID    string    `json:"id"`
	At    time.Time `json:"at"`
	PID   int       `json:"pid"`
	Start uint64    `json:"process_start,omitempty"`
	// Rescued reports that every repository has its rescue snapshot: files may have changed.
	Rescued bool           `json:"rescued"`
	Parts   []TogetherPart `json:"repositories"`
	Code    bool           `json:"code,omitempty"`
	Nested  bool           `json:"nested,omitempty"`
	Exact   bool           `json:"exact,omitempty"`
	Force   bool           `json:"force,omitempty"`

	path string
}

// TogetherPart is a repository of a rewind of several.
type TogetherPart struct {
	Root      string        `json:"root"`
	CommonDir string        `json:"common_dir"`
	Session   string        `json:"session_id,omitempty"`
	Target    bands.Version `json:"target"`
	// Rescue is the newest snapshot of the repository before the rewind.
	Rescue bands.Version `json:"rescue,omitempty"`
	Done   bool          `json:"done,omitempty"`
}

// RunTogether rewinds several repositories: all of them, or if one fails none. It takes the rescue
// snapshots of all of them before it changes a file. The record is removed at the end; if the process
// is stopped, FinishTogether completes the rewind or takes it back.
func RunTogether(ctx context.Context, parts []Part) ([]Rewound, error) {
	dir := parts[0].W.Env.Machine.RewindsDir()
	if dir == "" {
		return nil, errors.New("no home directory to record the rewind in")
	}
	first := parts[0]
	t := &Together{
		At: first.W.Env.Now().UTC(), PID: os.Getpid(), Code: first.Options.Scope == RewindCode,
		Nested: first.Options.Nested, Exact: first.Options.Exact, Force: first.Options.Force,
	}
	if info, ok := proc.Inspect(t.PID); ok {
		t.Start = info.Start
	}
	nonce := make([]byte, 6)
	if _, err := io.ReadFull(first.W.Env.Random, nonce); err != nil {
		return nil, fmt.Errorf("random number: %w", err)
	}
	t.ID = hex.EncodeToString(nonce)
	for _, p := range parts {
		t.Parts = append(t.Parts, TogetherPart{Root: p.W.Repo.Root, CommonDir: p.W.Repo.CommonDir, Session: p.Options.Session, Target: p.Point.Snapshot})
	}
	if err := disk.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	t.path = filepath.Join(dir, t.ID+".json")
	if err := disk.WriteJSON(t.path, t); err != nil {
		return nil, err
	}
	for i, p := range parts {
		v, err := rescueTogether(ctx, p.W)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: nothing was changed: %w", p.W.Repo.Root, err), disk.Remove(t.path))
		}
		t.Parts[i].Rescue = v
	}
	t.Rescued = true
	if err := disk.WriteJSON(t.path, t); err != nil {
		return nil, err
	}
	done := make([]Rewound, len(parts))
	for i, p := range parts {
		var err error
		done[i], err = Rewind(ctx, p.W, p.Point, p.Options)
		if err != nil && !errors.Is(err, restore.ErrIncomplete) {
			err = fmt.Errorf("%s: %w", p.W.Repo.Root, err)
			if ctx.Err() != nil {
				ctx = context.WithoutCancel(ctx)
			}
			open := func(root string) (*workspace.Workspace, func() error, error) {
				at := slices.IndexFunc(parts, func(p Part) bool { return p.W.Repo.Root == root })
				return parts[at].W, func() error { return nil }, nil
			}
			if failed := t.takeBack(ctx, open); failed != nil {
				return done, errors.Join(err, failed)
			}
			return nil, fmt.Errorf("the rewind was undone in every repository: %w", err)
		}
		t.Parts[i].Done = true
		if failed := disk.WriteJSON(t.path, t); failed != nil {
			return done, failed
		}
	}
	return done, disk.Remove(t.path)
}

// rescueTogether takes the rescue snapshot of a repository, if its newest one differs from the tree, and
// returns the newest.
func rescueTogether(ctx context.Context, w *workspace.Workspace) (bands.Version, error) {
	store, err := tracking.SnapshotStore(w)
	if err != nil {
		return 0, err
	}
	held, err := tracking.HoldStore(ctx, store, tracking.HoldWait)
	if err != nil {
		return 0, err
	}
	taken, err := tracking.TakeSnapshot(ctx, w, held, capture.TakeOptions{
		Cause: bands.Rescue, Message: "before a rewind of several repositories", Force: true, SkipUnchanged: true,
	})
	return taken.Snapshot.Version, errors.Join(err, held.Release())
}

// FindTogether returns the rewinds of several repositories that were stopped, of those that include the
// worktree at root. Those whose process runs are left out.
func FindTogether(dir, root string) []*Together {
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var list []*Together
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		t := &Together{path: filepath.Join(dir, e.Name())}
		found, err := disk.ReadJSON(t.path, t)
		isIn := slices.ContainsFunc(t.Parts, func(p TogetherPart) bool { return p.Root == root })
		if err == nil && found && isIn && !proc.Alive(t.PID, t.Start) {
			list = append(list, t)
		}
	}
	return list
}

// Outcome is how a stopped rewind of several repositories was ended.
type Outcome string

// The outcomes.
const (
	Unbegun   Outcome = "unbegun"    // no file had changed
	Completed Outcome = "completed"  // it is done in every repository
	TakenBack Outcome = "taken-back" // it is done in none
)

// FinishTogether ends a rewind of several repositories that was stopped. Between two repositories it is
// completed in all of them. If it was stopped within one, or if one of those in which it had not begun has
// changed since, it is taken back in all. open opens a
// repository. On an error the record stays.
func FinishTogether(ctx context.Context, t *Together, open func(root string) (*workspace.Workspace, func() error, error)) (Outcome, error) {
	if !t.Rescued {
		return Unbegun, disk.Remove(t.path)
	}
	for i := range t.Parts {
		p := &t.Parts[i]
		ended := errMoved
		err := within(open, p, func(w *workspace.Workspace) error {
			ended = nil
			return t.complete(ctx, w, p)
		})
		if err = errors.Join(ended, err); err != nil && !errors.Is(err, restore.ErrIncomplete) {
			if errors.Is(err, errMoved) || errors.Is(err, errChangedSince) || errors.Is(err, errHalf) {
				return TakenBack, t.takeBack(ctx, open)
			}
			return "", fmt.Errorf("%s: %w", p.Root, err)
		}
	}
	return Completed, disk.Remove(t.path)
}

var (
	errMoved        = errors.New("the repository was moved or removed")
	errChangedSince = errors.New("the repository has changed since")
	errHalf         = errors.New("some files of the repository are restored, others not")
)

// within calls do for the repository of a part, unless it isn't there any more.
func within(open func(root string) (*workspace.Workspace, func() error, error), p *TogetherPart, do func(*workspace.Workspace) error) error {
	w, end, err := open(p.Root)
	if err != nil {
		return nil //nolint:nilerr // it was moved or removed
	}
	if w.Repo.CommonDir == p.CommonDir {
		err = do(w)
	}
	return errors.Join(err, end())
}

// complete rewinds a repository, unless that is done.
func (t *Together) complete(ctx context.Context, w *workspace.Workspace, p *TogetherPart) error {
	if p.Done {
		return nil
	}
	store, err := tracking.SnapshotStore(w)
	if err != nil {
		return err
	}
	state, err := t.stateOf(w, store, p)
	if err != nil {
		return err
	}
	switch state {
	case partInterrupted, partReverting: // files may be incomplete: those before it are whole
		return errHalf
	case partUntouched:
		now, found, err := store.Lineage(tracking.Lineage(w)).Latest()
		if err != nil || !found || now.Version != p.Rescue {
			return errors.Join(errChangedSince, err)
		}
	case partEnded: // its sessions may be left
		_, _, err := finish(ctx, w, store)
		if err != nil {
			return err
		}
	}
	if state != partEnded {
		o := Options{Scope: RewindAll, Session: p.Session, Nested: t.Nested, Exact: t.Exact, Force: t.Force}
		if t.Code {
			o.Scope = RewindCode
		}
		target, err := store.Snapshot(p.Target)
		if err != nil {
			return err
		}
		if _, err := Rewind(ctx, w, pointOf(store, target).Point, o); err != nil && !errors.Is(err, restore.ErrIncomplete) {
			return err
		}
	}
	p.Done = true
	return disk.WriteJSON(t.path, t)
}

// partState is how far a repository's part of a rewind of several is, according to the repository's own
// journal and history.
type partState int

const (
	partUntouched   partState = iota // no file has changed, or that was taken back
	partInterrupted                  // it was stopped while files changed
	partReverting                    // it was stopped while it was taken back
	partEnded                        // the files are restored
)

func (t *Together) stateOf(w *workspace.Workspace, store *bands.Store, p *TogetherPart) (partState, error) {
	isOwn := func(at time.Time) bool { return !at.Before(t.At) }
	if j, found := bands.InterruptedRestore(store, tracking.Lineage(w)); found && isOwn(j.Started) {
		if j.Op == bands.OpRestore {
			return partInterrupted, nil
		}
		return partReverting, nil
	}
	past, err := bands.ReadHistory(store, tracking.Lineage(w))
	if err != nil {
		return partUntouched, err
	}
	is := func(r bands.PastRestore) bool { return r.Target == p.Target && isOwn(r.At) }
	last := len(past.Undo) - 1
	switch {
	case last >= 0 && is(past.Undo[last]):
		return partEnded, nil
	case slices.ContainsFunc(past.Undo, is):
		return partUntouched, errors.New("the repository was rewound again since: undo that with `entire undo` first")
	}
	return partUntouched, nil
}

// takeBack takes the rewind back in the repositories in which it has begun, and removes the record.
func (t *Together) takeBack(ctx context.Context, open func(root string) (*workspace.Workspace, func() error, error)) error {
	for i := range t.Parts {
		p := &t.Parts[i]
		err := within(open, p, func(w *workspace.Workspace) error {
			store, err := tracking.SnapshotStore(w)
			if err != nil {
				return err
			}
			const most = 4 // an interrupted undo is itself taken back first
			for range most {
				state, err := t.stateOf(w, store, p)
				if err != nil || state == partUntouched {
					return err
				}
				if _, err := UndoRewind(ctx, w, Options{Force: t.Force, Nested: t.Nested}); err != nil && !errors.Is(err, restore.ErrIncomplete) {
					return err
				}
			}
			return errors.New("its files are not restored")
		})
		if err != nil {
			return fmt.Errorf("undo it in %s: %w", p.Root, err)
		}
	}
	return disk.Remove(t.path)
}
