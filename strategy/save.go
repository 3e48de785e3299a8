package strategy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// saveTurn makes the shadow checkpoint of a turn and forgets the turn.
func (r *Recorder) saveTurn(ctx context.Context, s *session.State, n *notes, in Input) error {
	seen, err := r.look(ctx, s, n)
	if err != nil {
		return err
	}
	if in.Summary != "" {
		s.Recorder.Turn.Summary = r.Redact.Text(in.Summary)
		if said := digest(in.Summary); s.Recorder.Said != said {
			s.Recorder.Expect = said
		}
	}
	touched, err := r.takeChanges(ctx, s, seen)
	if err != nil {
		return err
	}
	if len(touched) > 0 && seen.born {
		if err := r.keep(ctx, s, n, touched, seen); err != nil {
			return err
		}
	}
	if seen.whole {
		n.known = encodeKnown(seen.entries)
		s.UntrackedAtStart = untracked(seen.entries)
	}
	s.Recorder.Turn = afterTurn(s.Recorder.Turn, in.Background)
	return r.unmarkPrompt(s.ID)
}

// keep stores what the turn said and what it wrote, and prepares its shadow
// checkpoint.
func (r *Recorder) keep(ctx context.Context, s *session.State, n *notes, touched []string, seen sight) error {
	var wait sync.WaitGroup
	var entries map[string]git.Edit
	var failed error
	guarded(&wait, &failed, func() (err error) { entries, err = r.contents(ctx, touched); return err })
	complete, err := r.store(ctx, s, redactNow)
	wait.Wait()
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	n.unstored = !complete
	return r.shadow(ctx, s, n, shadowTurn{touched: touched, edits: editsOf(entries, touched), by: seen.by}, seen.head)
}

// guarded runs do beside its caller; a panic becomes an error, as one in a
// hook's goroutine would end the hook.
func guarded(wait *sync.WaitGroup, failed *error, do func() error) {
	wait.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				*failed = fmt.Errorf("panic: %v", p)
			}
		}()
		*failed = do()
	})
}

// sight is what there is to see when a turn ends.
type sight struct {
	head    git.Commit
	born    bool
	by      git.Signature
	entries []git.StatusEntry
	whole   bool // entries are all that git lists, not only what edit tools named
}

// look reads the transcript while git lists what changed, says where HEAD is,
// and who the user is.
func (r *Recorder) look(ctx context.Context, s *session.State, n *notes) (sight, error) {
	var seen sight
	var headErr, byErr, statusErr error
	var wait sync.WaitGroup
	guarded(&wait, &statusErr, func() (err error) {
		within, cancel := r.statusDeadline(ctx)
		defer cancel()
		seen.entries, err = r.Repo.Status(within)
		return err
	})
	guarded(&wait, &headErr, func() (err error) { seen.head, seen.born, err = r.head(ctx); return err })
	guarded(&wait, &byErr, func() (err error) { seen.by, err = r.identity(ctx); return err })
	caught := r.catchUp(ctx, s, n)
	wait.Wait()
	seen.whole = statusErr == nil
	if statusErr != nil && ctx.Err() == nil {
		r.Log.WarnContext(ctx, "status failed, only named files are seen", "session_id", s.ID, "error", statusErr.Error())
		seen.entries, statusErr = r.namedStatus(ctx, s)
	}
	return seen, errors.Join(caught, headErr, byErr, statusErr)
}

// statusDeadline leaves, in a repository that is too large for git's status,
// the time to look at the files that edit tools named.
func (r *Recorder) statusDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	end, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	const share = 0.6
	return context.WithTimeout(ctx, time.Duration(share*float64(end.Sub(r.Env.Now()))))
}

func (r *Recorder) namedStatus(ctx context.Context, s *session.State) ([]git.StatusEntry, error) {
	paths := slices.Sorted(maps.Keys(r.inWorktree(s.Recorder.Turn.Edits)))
	if len(paths) == 0 {
		return nil, nil
	}
	return r.Repo.Status(ctx, paths...)
}

// takeChanges adds to the pending files what the turn changed, takes from them
// what it took back, and answers the former.
func (r *Recorder) takeChanges(ctx context.Context, s *session.State, seen sight) ([]string, error) {
	known, err := r.Sessions.Side(s.ID, "untracked").ReadAll()
	if err != nil {
		return nil, err
	}
	t := turnChanges{repo: r.Repo, turn: s.Recorder.Turn, named: r.inWorktree(s.Recorder.Turn.Edits), known: decodeKnown(known), head: seen.head.Tree}
	touched, err := t.touched(ctx, seen.entries)
	if err != nil {
		return nil, fmt.Errorf("find what the turn changed: %w", err)
	}
	if !seen.whole {
		s.Touched(touched)
		return touched, nil
	}
	back := t.reset(s.FilesTouched, seen.entries)
	s.Keep(slices.DeleteFunc(slices.Clone(s.FilesTouched), func(p string) bool { return among(back, p) }))
	s.Touched(touched)
	return touched, nil
}

// afterTurn is what remains of a turn that is saved: if tasks go on in the
// background, what they change is still the turn's.
func afterTurn(t session.Turn, background bool) session.Turn {
	if !background {
		return session.Turn{}
	}
	open := slices.DeleteFunc(t.Calls, func(c transcript.Call) bool { return !c.Open })
	return session.Turn{Start: t.Start, Line: t.Line, Calls: open, Timed: t.Timed}
}

// untracked lists untracked files for other versions of the tool.
func untracked(entries []git.StatusEntry) []string {
	const most = 1000
	var paths []string
	for _, e := range entries {
		if e.Index == '?' && len(paths) < most {
			paths = append(paths, e.Path)
		}
	}
	return paths
}
