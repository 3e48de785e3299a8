package rewind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Point is a moment to rewind to: a snapshot of the tree, a shadow checkpoint, a commit with a
// checkpoint, or two of these of the same moment.
type Point struct {
	// ID names the point: the id of a shadow commit or a commit, else a
	// snapshot's version.
	ID      string
	Message string
	Date    time.Time
	// Snapshot is the whole tree, 0 if there is none.
	Snapshot bands.Version
	Cause    bands.Cause
	// Late reports whether the snapshot may contain later changes.
	Late bool
	// Shadow is a shadow commit; MetadataDir the directory named by its trailer, as upstream
	// shows it.
	Shadow      git.OID
	MetadataDir string
	// Commit is the user's commit, Checkpoint its checkpoint.
	Commit     git.OID
	Checkpoint checkpoint.ID
	Session    string
	Agent      string // its label, "" if it isn't known
	Prompt     string
	TaskID     string // of a subagent's checkpoint
	// Unreadable is why the checkpoint's transcripts can't be restored, "" if they can.
	Unreadable string
	// Turn is the turn that began at the point, if the point was named by it; else nil.
	Turn *Turn

	at time.Time // Date, to the fraction of a second where that is known
}

// LogsOnly reports whether only transcripts can be restored.
func (p Point) LogsOnly() bool { return p.Snapshot == 0 && p.Shadow == "" }

const (
	// MaxPoints is the default length of a list of points.
	MaxPoints = 20
	// AllPoints is the length of a list that has all of them.
	AllPoints = math.MaxInt32
)

const (
	// PointCommits is the number of commits searched for checkpoints, for a list of at most
	// as many points.
	PointCommits = 50
	pointVersion = 60 // newest snapshots read for such a list
)

// ListPoints returns up to most of the newest points of this worktree, newest first. It writes
// nothing.
func ListPoints(ctx context.Context, w *workspace.Workspace, most int) ([]Point, error) {
	shadows, err := shadowPoints(ctx, w, most)
	if err != nil {
		return nil, err
	}
	commits, err := commitPoints(ctx, w, most)
	if err != nil {
		return nil, err
	}
	snaps, err := snapshotPoints(ctx, w, max(most, pointVersion))
	if err != nil {
		return nil, err
	}
	points := merge(snaps, slices.Concat(shadows, commits))
	return points[:min(len(points), most)], nil
}

// merge merges the points of snapshots with those of their commits, newest first.
func merge(snaps []snapPoint, others []Point) []Point {
	var points []Point
	for _, s := range snaps {
		i := slices.IndexFunc(others, func(o Point) bool {
			return (s.Shadow != "" && o.Shadow == s.Shadow) || slices.Contains(s.pairs, o.Checkpoint)
		})
		for j := range others { // shadow checkpoints before it, of the same tree
			if o := &others[j]; o.Shadow != "" && o.Snapshot == 0 && slices.Contains(s.earlier, o.Shadow) {
				*o = o.joined(s)
			}
		}
		if i < 0 || others[i].Snapshot != 0 {
			points = append(points, s.Point)
			continue
		}
		others[i] = others[i].joined(s)
	}
	// A shadow checkpoint must be later than the one that it builds on: several may be of one
	// second, and of an older snapshot.
	var last time.Time
	for i := range slices.Backward(others) {
		p := &others[i]
		if p.Shadow == "" {
			continue
		}
		if p.Date.After(p.at) {
			p.at = p.Date
		}
		if !last.IsZero() && !p.at.After(last) {
			p.at = last.Add(1)
		}
		last = p.at
	}
	points = append(points, others...)
	for i := range points {
		if points[i].at.IsZero() {
			points[i].at = points[i].Date
		}
	}
	slices.SortStableFunc(points, func(a, b Point) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.Snapshot, a.Snapshot))
	})
	return points
}

// joined returns the shadow checkpoint or commit with the snapshot of its moment.
func (p Point) joined(s snapPoint) Point {
	p.Snapshot, p.Cause, p.Late, p.at = s.Snapshot, s.Cause, s.Late, s.Date
	if s.Prompt != "" && s.Session == p.Session && p.TaskID != "" {
		p.Prompt = s.Prompt
	}
	return p
}

// shadowPoints returns the newest shadow checkpoints on HEAD.
func shadowPoints(ctx context.Context, w *workspace.Workspace, most int) ([]Point, error) {
	head, born, err := w.Head(ctx)
	if err != nil || !born {
		return nil, err
	}
	commits, err := git.LastCommits(ctx, w.Repo, checkpoint.ShadowBranch(head.OID, w.Repo.WorktreeID), most)
	if err != nil { // there is no such branch
		return nil, nil //nolint:nilerr // git reports only that it can't
	}
	points := make([]Point, 0, len(commits))
	prompts := map[string]string{} // of the turn that ends next, by session
	for _, c := range commits {
		p := Point{
			ID: string(c.OID), Message: plain.FirstLine(c.Message), Date: c.Committer.When, Shadow: c.OID,
			Session: Trailer(c.Message, checkpoint.SessionKey), MetadataDir: Trailer(c.Message, checkpoint.MetadataKey),
		}
		if dir := Trailer(c.Message, checkpoint.TaskKey); dir != "" {
			p.TaskID, _ = checkpoint.TaskToolUse(dir)
			p.MetadataDir = dir
		}
		asked := "" // according to the checkpoint; that of a task has no record of it
		if p.TaskID == "" {
			texts, err := checkpoint.ShadowPrompts(ctx, w.Repo, c.Tree, p.Session)
			if err != nil {
				w.Log.WarnContext(ctx, "prompts of a shadow checkpoint not read", "commit", c.OID.Short(), "error", err.Error())
			}
			if n := len(texts); n > 0 {
				asked = texts[n-1]
			}
		}
		s, err := w.Sessions.Load(p.Session)
		if err != nil {
			s = new(session.State)
		}
		p.Agent = s.AgentType
		switch n := len(s.Recorder.Turn.Prompts); {
		case asked != "":
			p.Prompt = checkpoint.FirstPrompt(asked)
		case p.TaskID != "" && prompts[p.Session] != "": // of the stop that followed
			p.Prompt = prompts[p.Session]
		case p.TaskID != "" && n > 0: // of the turn under way
			p.Prompt = checkpoint.FirstPrompt(s.Recorder.Turn.Prompts[n-1])
		default:
			p.Prompt = s.FirstPrompt
		}
		prompts[p.Session] = p.Prompt
		points = append(points, p)
	}
	return points, nil
}

// commitPoints returns the newest commits that carry a stored checkpoint.
func commitPoints(ctx context.Context, w *workspace.Workspace, most int) ([]Point, error) {
	records, err := w.LocalRecords(ctx)
	if err != nil {
		return nil, err
	}
	if empty, err := records.Empty(ctx); err != nil || empty {
		return nil, err
	}
	commits, err := git.LastCommits(ctx, w.Repo, "HEAD", max(most, PointCommits))
	if err != nil {
		return nil, nil //nolint:nilerr // an unborn branch
	}
	var linked []Point
	var ids []checkpoint.ID
	for _, c := range commits {
		if named := checkpoint.IDsOf(c); len(named) > 0 {
			id := named[len(named)-1]
			linked = append(linked, Point{ID: string(c.OID), Message: plain.FirstLine(c.Message), Date: c.Committer.When, Commit: c.OID, Checkpoint: id})
			ids = append(ids, id)
		}
	}
	points, enough := make([]Point, 0, len(linked)), errors.New("enough points")
	err = records.ReadAll(ctx, ids, func(_ checkpoint.ID, stored checkpoint.Checkpoint, err error) error {
		if len(points) == most {
			return enough
		}
		p := linked[0]
		linked = linked[1:]
		switch {
		case errors.Is(err, git.ErrTooMuch), errors.Is(err, git.ErrMissing):
			p.Unreadable = err.Error()
			points = append(points, p)
			return nil
		case err != nil:
			return nil //nolint:nilerr // the trailer's checkpoint doesn't exist
		case !slices.ContainsFunc(stored.Sessions, func(s checkpoint.Stored) bool { return !s.Absent }):
			p.Unreadable = "its sessions are not in this clone"
		}
		if main, ok := stored.Main(); ok {
			p.Session, p.Agent = main.Meta.SessionID, main.Meta.Agent
			if stored, err := main.Prompts(ctx, w.Repo); err == nil {
				p.Prompt = checkpoint.FirstPrompt(cmp.Or(main.Meta.Title, transcript.LastPrompt(stored)))
			}
		}
		points = append(points, p)
		return nil
	})
	if errors.Is(err, enough) {
		err = nil
	}
	return points, err
}

// snapPoint is the point of a snapshot, and the checkpoints it is paired with.
type snapPoint struct {
	Point

	pairs   []checkpoint.ID
	earlier []git.OID // shadow commits of the same tree
}

// snapshotPoints returns the points of the newest snapshots of this worktree.
func snapshotPoints(ctx context.Context, w *workspace.Workspace, most int) ([]snapPoint, error) {
	store, err := tracking.SnapshotStore(w)
	if errors.Is(err, tracking.ErrNoBands) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	versions, err := store.Versions()
	if err != nil {
		return nil, err
	}
	var points []snapPoint
	for _, v := range slices.Backward(versions) {
		if len(points) == most {
			break
		}
		s, err := store.Snapshot(v)
		if err != nil {
			w.Log.WarnContext(ctx, "snapshot skipped", "version", v.String(), "error", err.Error())
			continue
		}
		if s.Lineage == tracking.Lineage(w) {
			points = append(points, pointOf(store, s))
		}
	}
	return points, nil
}

// pointOf returns the point of a snapshot.
func pointOf(store *bands.Store, s bands.Snapshot) snapPoint {
	p := snapPoint{Point: Point{
		ID: s.Version.String(), Date: s.Created, Snapshot: s.Version, Cause: s.Cause, Late: s.Late,
		Session: s.Causality.Session, Agent: s.Causality.Agent, Prompt: s.Causality.Prompt,
	}}
	p.Agent = labelOf(p.Agent)
	p.Message = MessageOf(s)
	if s.Cause == bands.Commit {
		p.Commit = git.OID(s.Causality.Commit)
	}
	for _, pair := range s.Pairs { // of several, the newest comes last
		p.pairs = append(p.pairs, checkpoint.ID(pair.Checkpoint))
		p.Checkpoint, p.Commit = checkpoint.ID(pair.Checkpoint), git.OID(pair.Commit)
	}
	if recorded, err := tracking.SessionsAt(store, s.Version); err == nil {
		for _, m := range recorded {
			if m.Session == s.Causality.Session {
				p.Shadow, p.earlier = m.Shadow, m.Earlier
			}
		}
	}
	return p
}

// labelOf returns the label of an agent, or its name if it is unknown.
func labelOf(name string) string {
	if a, known := agent.ByName(name); known {
		return a.Label
	}
	return name
}

// MessageOf describes a snapshot: by the prompt before or after which it was taken, its
// commit, or its message.
func MessageOf(s bands.Snapshot) string {
	switch {
	case s.Cause == bands.Prompt:
		return "before: " + s.Causality.Prompt
	case s.Cause == bands.Commit:
		return "commit " + git.OID(s.Causality.Commit).Short()
	case s.Cause == bands.Auto && s.Causality.Prompt != "" && s.Message == workspace.AutoMessage:
		return "after: " + s.Causality.Prompt
	}
	return s.Message
}

// Trailer returns the value of the last line of the message that begins with key.
func Trailer(message, key string) string {
	value := ""
	for line := range strings.SplitSeq(message, "\n") {
		if v, ok := strings.CutPrefix(line, key+":"); ok {
			value = strings.TrimSpace(v)
		}
	}
	return value
}

// PointError means that a text names no point.
type PointError struct{ Spec, Why string }

// Error returns the text, and why it names no point.
func (e *PointError) Error() string { return fmt.Sprintf("%q: %s", e.Spec, e.Why) }
