package turn

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
	"github.com/seed-3aff656d/entire/internal/git/gitwork"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// observation is the state of the repository at the end of a turn.
type observation struct {
	head    git.Commit
	born    bool
	by      git.Signature
	entries []gitwork.StatusEntry
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
func (ob *Observer) observe(ctx context.Context, s *session.State, n *tracking.Pending, in workspace.Input) (observation, error) {
	var seen observation
	var headErr, byErr, statusErr error
	var wait sync.WaitGroup
	all := func() (err error) {
		seen.entries, err = ob.statusOfAll(ctx)
		seen.whole = err == nil
		return err
	}
	snapped := ob.lastSeen(s)
	if snapped == 0 {
		workspace.Guard(&wait, &statusErr, all)
	}
	var head sync.WaitGroup
	workspace.Guard(&head, &headErr, func() (err error) { seen.head, seen.born, err = ob.Head(ctx); return err })
	workspace.Guard(&wait, &byErr, func() (err error) { seen.by, err = ob.Identity(ctx); return err })
	caught := ob.transcripts.CatchUp(ctx, s, n)
	head.Wait()
	var changedErr error
	seen.snap = ob.scan(ctx, s, in, func(b *bandScan) {
		if caught == nil && seen.born && len(b.paths) > 0 {
			var store sync.WaitGroup
			// It isn't known yet whether the turn changed a file that git lists. If this
			// fails, it is tried again once that is known.
			store.Go(func() {
				err := workspace.Recover(func() (err error) {
					seen.allStored, err = ob.transcripts.StoreTranscript(ctx, s, tracking.RedactNow)
					return err
				})
				seen.stored = err == nil
			})
			defer store.Wait()
		}
		if snapped != 0 {
			changedErr = ob.statusOfChanged(ctx, s, b, &seen)
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
		ob.Log.WarnContext(ctx, "status failed, only named files are seen", "session_id", s.ID, "error", statusErr.Error())
		seen.whole = false
		seen.entries, statusErr = ob.namedStatus(ctx, s)
	}
	return seen, errors.Join(caught, headErr, byErr, statusErr)
}

// storeTranscript stores the session's transcript, unless it is stored already, and
// reports whether all of it is.
func (ob *Observer) storeTranscript(ctx context.Context, s *session.State, seen observation) (complete bool, err error) {
	if seen.stored {
		return seen.allStored, nil
	}
	return ob.transcripts.StoreTranscript(ctx, s, tracking.RedactNow)
}

// observeNamed finds the changed ones of the paths named by edit tools, and lets a child take
// the snapshot. Its cost doesn't grow with the worktree.
func (ob *Observer) observeNamed(ctx context.Context, s *session.State, n *tracking.Pending, in workspace.Input) (observation, error) {
	var seen observation
	var headErr, byErr error
	var wait sync.WaitGroup
	workspace.Guard(&wait, &headErr, func() (err error) { seen.head, seen.born, err = ob.Head(ctx); return err })
	workspace.Guard(&wait, &byErr, func() (err error) { seen.by, err = ob.Identity(ctx); return err })
	err := ob.transcripts.CatchUp(ctx, s, n)
	if err == nil {
		seen.entries, err = ob.namedStatus(ctx, s)
	}
	n.Snapshot = &snapshots.Request{Cause: bands.Auto, Causality: ob.snapshots.Causality(s, in), Message: autoName(s, in.Task)}
	wait.Wait()
	return seen, errors.Join(err, headErr, byErr)
}

// LargeWorktree reports whether walking the worktree takes longer than a subagent should wait
// at each step of its task: by the time of the last walk, or without snapshots by the size of
// git's index.
func (ob *Observer) LargeWorktree() bool {
	const slowWalk, largeIndex = 10 * time.Millisecond, 1 << 20
	if took, known := ob.snapshots.LastWalk(); known {
		return took > slowWalk
	}
	info, err := os.Stat(filepath.Join(ob.Repo.GitDir, "index"))
	return err == nil && info.Size() > largeIndex
}

// statusOfAll returns git's status of the whole worktree. It has a time limit, so that in a
// repository that is too large there is time left to read the files named by edit tools.
func (ob *Observer) statusOfAll(ctx context.Context) ([]gitwork.StatusEntry, error) {
	if end, ok := ctx.Deadline(); ok {
		const share = 0.6
		within, cancel := context.WithTimeout(ctx, time.Duration(share*float64(end.Sub(ob.Env.Now()))))
		defer cancel()
		ctx = within
	}
	return gitwork.Status(ctx, ob.Repo)
}

// statusOfChanged asks git for the state of the paths that changed in the snapshot, of the
// pending ones and of those named by edit tools; of none if there are too many.
func (ob *Observer) statusOfChanged(ctx context.Context, s *session.State, b *bandScan, seen *observation) error {
	if !b.few {
		return nil
	}
	asked := slices.Concat([]string{}, b.paths, s.FilesTouched, ob.namedPaths(s))
	slices.Sort(asked)
	if asked = slices.Compact(asked); len(asked) > maxAsked {
		return nil
	}
	seen.asked = asked
	if len(asked) == 0 {
		return nil
	}
	var err error
	seen.entries, err = gitwork.Status(ctx, ob.Repo, asked...)
	if err != nil {
		seen.asked = nil
	}
	return err
}

// namedPaths returns the paths named by edit tools in the session's running and unclosed turns,
// sorted.
func (ob *Observer) namedPaths(s *session.State) []string {
	var edits []string
	for _, t := range s.Recorder.Turns() {
		edits = append(edits, t.Edits...)
	}
	return slices.Sorted(maps.Keys(ob.RelativePaths(edits)))
}

// namedStatus returns git's status of namedPaths, or of the maxAsked that changed last if there are
// more.
func (ob *Observer) namedStatus(ctx context.Context, s *session.State) ([]gitwork.StatusEntry, error) {
	paths := ob.namedPaths(s)
	if len(paths) == 0 {
		return nil, nil
	}
	if len(paths) > maxAsked {
		changed := make(map[string]time.Time, len(paths))
		for _, p := range paths {
			if info, err := os.Lstat(filepath.Join(ob.Repo.Root, filepath.FromSlash(p))); err == nil {
				changed[p] = disk.Changed(info)
			}
		}
		slices.SortStableFunc(paths, func(a, b string) int { return changed[b].Compare(changed[a]) })
		paths = paths[:maxAsked]
	}
	return gitwork.Status(ctx, ob.Repo, paths...)
}

// newChanges returns the Changes that separate the changes of the session's turn from those of
// others. next is the turn that followed it without a stop, nil if there is none.
func (ob *Observer) newChanges(ctx context.Context, s *session.State, seen observation, next *session.Turn) (*Changes, error) {
	known, err := ob.Sessions.SideOf(s, session.UntrackedKind).ReadAll()
	if err != nil {
		return nil, err
	}
	ch := &Changes{
		Repo: ob.Repo, Turn: s.Recorder.Turn, Named: ob.RelativePaths(s.Recorder.Turn.Edits), known: decodeKnown(known), head: seen.head.Tree,
		unsure: map[string]bool{},
	}
	if len(ch.Turn.Edits)+len(ch.Turn.Calls) > 0 {
		ch.Work = ob.steps.WorkOf(ctx, s, s.Recorder.Cursor, ch.Turn, next)
	}
	if next != nil {
		ch.until = next.Start
	}
	for _, p := range ch.Turn.Unsure {
		ch.unsure[p] = true
	}
	return ch, nil
}

// observeUnclosed reads the transcript, HEAD and the user's name, and lists the changed files. It
// takes no snapshot.
func (ob *Observer) observeUnclosed(ctx context.Context, s *session.State, n *tracking.Pending) (seen observation, err error) {
	if err := ob.transcripts.CatchUp(ctx, s, n); err != nil {
		return seen, err
	}
	if seen.head, seen.born, err = ob.Head(ctx); err != nil {
		return seen, err
	}
	if seen.by, err = ob.Identity(ctx); err != nil {
		return seen, err
	}
	seen.entries, err = ob.statusOfAll(ctx)
	return seen, err
}
