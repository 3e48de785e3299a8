package tracking

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// observation is the state of the repository at the end of a turn.
type observation struct {
	head    git.Commit
	born    bool
	by      git.Signature
	entries []git.StatusEntry
	// whole reports whether entries are everything that git lists. If asked isn't nil, they
	// are everything for those paths, which are all that matter. Else they cover only paths
	// named by edit tools.
	whole bool
	asked []string
	snap  *bandScan // nil if no snapshot was taken
	// stored reports whether the transcript was stored while the snapshot was written,
	// allStored whether that was all of it.
	stored, allStored bool
}

// complete reports whether no change is missing.
func (o observation) complete() bool { return o.whole || o.asked != nil }

// observe reads the transcript, reads HEAD and the user's name, and finds the changed files:
// by a snapshot and git's status of the paths that changed in it, or by git's status of the
// whole worktree.
func observe(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, in workspace.Input) (observation, error) {
	var seen observation
	var headErr, byErr, statusErr error
	var wait sync.WaitGroup
	all := func() (err error) {
		seen.entries, err = statusOfAll(ctx, w)
		seen.whole = err == nil
		return err
	}
	snapped := lastSeen(w, s)
	if snapped == 0 {
		workspace.Guard(&wait, &statusErr, all)
	}
	var head sync.WaitGroup
	workspace.Guard(&head, &headErr, func() (err error) { seen.head, seen.born, err = w.Head(ctx); return err })
	workspace.Guard(&wait, &byErr, func() (err error) { seen.by, err = w.Identity(ctx); return err })
	caught := CatchUp(ctx, w, s, n)
	head.Wait()
	var changedErr error
	seen.snap = scanTree(ctx, w, s, in, func(b *bandScan) {
		if caught == nil && seen.born && len(b.paths) > 0 {
			var store sync.WaitGroup
			// It isn't known yet whether the turn changed a file that git lists. If this
			// fails, it is tried again once that is known.
			store.Go(func() {
				err := workspace.Recover(func() (err error) {
					seen.allStored, err = StoreTranscript(ctx, w, s, RedactNow)
					return err
				})
				seen.stored = err == nil
			})
			defer store.Wait()
		}
		if snapped != 0 {
			changedErr = statusOfChanged(ctx, w, s, b, &seen)
		}
	})
	if snapped != 0 {
		if seen.snap == nil {
			seen.asked, changedErr = nil, nil
		}
		statusErr = changedErr
		if statusErr == nil && seen.asked == nil {
			statusErr = all()
		}
	}
	wait.Wait()
	if statusErr != nil && ctx.Err() == nil {
		w.Log.WarnContext(ctx, "status failed, only named files are seen", "session_id", s.ID, "error", statusErr.Error())
		seen.whole = false
		seen.entries, statusErr = namedStatus(ctx, w, s)
	}
	return seen, errors.Join(caught, headErr, byErr, statusErr)
}

// storeTranscript stores the session's transcript, unless it is stored already, and
// reports whether all of it is.
func storeTranscript(ctx context.Context, w *workspace.Workspace, s *session.State, seen observation) (complete bool, err error) {
	if seen.stored {
		return seen.allStored, nil
	}
	return StoreTranscript(ctx, w, s, RedactNow)
}

// observeNamed finds the changed ones of the paths named by edit tools, and lets a child take
// the snapshot. Its cost doesn't grow with the worktree.
func observeNamed(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, in workspace.Input) (observation, error) {
	var seen observation
	var headErr, byErr error
	var wait sync.WaitGroup
	workspace.Guard(&wait, &headErr, func() (err error) { seen.head, seen.born, err = w.Head(ctx); return err })
	workspace.Guard(&wait, &byErr, func() (err error) { seen.by, err = w.Identity(ctx); return err })
	err := CatchUp(ctx, w, s, n)
	if err == nil {
		seen.entries, err = namedStatus(ctx, w, s)
	}
	n.Snapshot = &SnapshotRequest{Cause: bands.Auto, Causality: Causality(w, s, in), Message: autoName(s, in.Task)}
	wait.Wait()
	return seen, errors.Join(err, headErr, byErr)
}

// IsLargeWorktree reports whether walking the worktree takes longer than a subagent should wait
// at each step of its task: by the time of the last walk, or without snapshots by the size of
// git's index.
func IsLargeWorktree(w *workspace.Workspace) bool {
	const slowWalk, largeIndex = 10 * time.Millisecond, 1 << 20
	if took, known := LastWalk(w); known {
		return took > slowWalk
	}
	info, err := os.Stat(filepath.Join(w.Repo.GitDir, "index"))
	return err == nil && info.Size() > largeIndex
}

// statusOfAll returns git's status of the whole worktree. It has a time limit, so that in a
// repository that is too large there is time left to read the files named by edit tools.
func statusOfAll(ctx context.Context, w *workspace.Workspace) ([]git.StatusEntry, error) {
	if end, ok := ctx.Deadline(); ok {
		const share = 0.6
		within, cancel := context.WithTimeout(ctx, time.Duration(share*float64(end.Sub(w.Env.Now()))))
		defer cancel()
		ctx = within
	}
	return git.Status(ctx, w.Repo)
}

// statusOfChanged asks git for the state of the paths that changed in the snapshot, of the
// pending ones and of those named by edit tools; of none if there are too many.
func statusOfChanged(ctx context.Context, w *workspace.Workspace, s *session.State, b *bandScan, seen *observation) error {
	if !b.few {
		return nil
	}
	asked := slices.Concat([]string{}, b.paths, s.FilesTouched, namedPaths(w, s))
	slices.Sort(asked)
	if asked = slices.Compact(asked); len(asked) > maxAsked {
		return nil
	}
	seen.asked = asked
	if len(asked) == 0 {
		return nil
	}
	var err error
	seen.entries, err = git.Status(ctx, w.Repo, asked...)
	if err != nil {
		seen.asked = nil
	}
	return err
}

// namedPaths returns the paths named by edit tools in the session's running and unclosed turns,
// sorted.
func namedPaths(w *workspace.Workspace, s *session.State) []string {
	var edits []string
	for _, t := range s.Recorder.Turns() {
		edits = append(edits, t.Edits...)
	}
	return slices.Sorted(maps.Keys(w.RelativePaths(edits)))
}

// namedStatus returns git's status of namedPaths, or of the maxAsked that changed last if there are
// more.
func namedStatus(ctx context.Context, w *workspace.Workspace, s *session.State) ([]git.StatusEntry, error) {
	paths := namedPaths(w, s)
	if len(paths) == 0 {
		return nil, nil
	}
	if len(paths) > maxAsked {
		changed := make(map[string]time.Time, len(paths))
		for _, p := range paths {
			if info, err := os.Lstat(filepath.Join(w.Repo.Root, filepath.FromSlash(p))); err == nil {
				changed[p] = disk.Changed(info)
			}
		}
		slices.SortStableFunc(paths, func(a, b string) int { return changed[b].Compare(changed[a]) })
		paths = paths[:maxAsked]
	}
	return git.Status(ctx, w.Repo, paths...)
}

// newChanges returns the Changes that separate the changes of the session's turn from those of
// others. next is the turn that followed it without a stop, nil if there is none.
func newChanges(ctx context.Context, w *workspace.Workspace, s *session.State, seen observation, next *session.Turn) (*TurnChanges, error) {
	known, err := w.Sessions.SideOf(s, session.UntrackedKind).ReadAll()
	if err != nil {
		return nil, err
	}
	ch := &TurnChanges{
		Repo: w.Repo, Turn: s.Recorder.Turn, Named: w.RelativePaths(s.Recorder.Turn.Edits), known: decodeKnown(known), head: seen.head.Tree,
		unsure: map[string]bool{},
	}
	ch.Turn.Timed = ch.Turn.Timed || s.Recorder.Launched != ""
	if len(ch.Turn.Edits)+len(ch.Turn.Calls) > 0 {
		ch.Work = WorkOf(ctx, w, s, s.Recorder.Cursor, ch.Turn, next)
	}
	if next != nil {
		ch.until = next.Start
	}
	for _, p := range ch.Turn.Unsure {
		ch.unsure[p] = true
	}
	return ch, nil
}

// HasChanged reports whether the session's running turn changed files that git lists, or moved HEAD, as
// far as tool calls show it. It writes nothing but objects.
func HasChanged(ctx context.Context, w *workspace.Workspace, s *session.State) (bool, error) {
	n := new(Pending)
	if err := CatchUp(ctx, w, s, n); err != nil {
		return false, err
	}
	var seen observation
	var err error
	if seen.head, seen.born, err = w.Head(ctx); err != nil {
		return false, err
	}
	changes, err := newChanges(ctx, w, s, seen, nil)
	if err != nil || len(changes.Turn.Edits)+len(changes.Turn.Calls) == 0 {
		return false, err
	}
	if changes.During(moduleTime(w.Repo.Root)) {
		return true, nil
	}
	if seen.entries, err = statusOfAll(ctx, w); err != nil {
		return false, err
	}
	touched, err := changes.take(ctx, s, seen)
	return len(touched) > 0, err
}

// observeUnclosed reads the transcript, HEAD and the user's name, and lists the changed files. It
// takes no snapshot.
func observeUnclosed(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending) (seen observation, err error) {
	if err := CatchUp(ctx, w, s, n); err != nil {
		return seen, err
	}
	if seen.head, seen.born, err = w.Head(ctx); err != nil {
		return seen, err
	}
	if seen.by, err = w.Identity(ctx); err != nil {
		return seen, err
	}
	seen.entries, err = statusOfAll(ctx, w)
	return seen, err
}
