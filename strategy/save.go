package strategy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// saveTurn makes the shadow checkpoint of a turn and forgets the turn.
func (r *Recorder) saveTurn(ctx context.Context, s *session.State, n *notes, in Input) error {
	n.prompted, _ = r.promptTime(s.ID)
	r.beginLate(s)
	seen, err := r.look(ctx, s, n, in)
	if err != nil {
		return err
	}
	if in.Summary != "" {
		if s.Recorder.Turn.Summary, err = r.said(ctx, in.Summary); err != nil {
			return err
		}
		if said := digest(in.Summary); s.Recorder.Said != said {
			s.Recorder.Expect = said
		}
	}
	changes, err := r.turnChanges(s, seen)
	if err != nil {
		return err
	}
	touched, err := r.takeChanges(ctx, s, seen, changes)
	if err != nil {
		return err
	}
	r.share(ctx, s, touched, changes)
	stopTasks(s, in.Background)
	if len(touched) > 0 {
		if err := r.keep(ctx, s, n, touched, seen); err != nil {
			return err
		}
	}
	tasksDone(s)
	r.saw(s, n, seen, changes)
	r.annotate(ctx, s, n, seen, changes)
	r.owe(s, touched, changes)
	s.Recorder.Turn = afterTurn(s.Recorder.Turn, in.Background)
	n.turnSaved = true
	return nil
}

// keep stores what the turn said and what it wrote, and prepares its shadow
// checkpoint. On an unborn branch there is nothing for that to hang on.
func (r *Recorder) keep(ctx context.Context, s *session.State, n *notes, touched []string, seen sight) error {
	var wait sync.WaitGroup
	var entries map[string]git.Edit
	var failed error
	guarded(&wait, &failed, func() (err error) { entries, err = r.contents(ctx, touched); return err })
	complete, err := true, error(nil)
	if seen.born {
		complete, err = r.store(ctx, s, redactNow)
	}
	wait.Wait()
	if err := errors.Join(err, failed); err != nil {
		return err
	}
	if err := r.keepSteps(ctx, s, n, stepTurn{touched, entries, seen.head}); err != nil || !seen.born {
		return err
	}
	n.unstored = n.unstored || !complete
	turn := shadowTurn{touched: touched, edits: editsOf(entries, touched), by: seen.by}
	if err := r.endTasks(ctx, s, n, turn, seen.head); err != nil {
		return err
	}
	return r.shadow(ctx, s, n, turn, seen.head)
}

// guarded runs do beside its caller; a panic becomes an error, as one in a
// hook's goroutine would end the hook.
func guarded(wait *sync.WaitGroup, failed *error, do func() error) {
	wait.Go(func() { *failed = recovered(do) })
}

// recovered runs do; a panic becomes an error.
func recovered(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return do()
}

// turnChanges is what is needed to tell the turn's changes from others'.
func (r *Recorder) turnChanges(s *session.State, seen sight) (*turnChanges, error) {
	known, err := r.Sessions.SideOf(s, session.UntrackedKind).ReadAll()
	if err != nil {
		return nil, err
	}
	return &turnChanges{
		repo: r.Repo, turn: s.Recorder.Turn, named: r.inWorktree(s.Recorder.Turn.Edits), known: decodeKnown(known), head: seen.head.Tree,
	}, nil
}

// takeChanges adds to the pending files what the turn changed, takes from them
// what it took back, and answers the former.
func (r *Recorder) takeChanges(ctx context.Context, s *session.State, seen sight, t *turnChanges) ([]string, error) {
	touched, err := t.touched(ctx, seen.entries)
	if err != nil {
		return nil, fmt.Errorf("find what the turn changed: %w", err)
	}
	if !seen.complete() {
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

// saw keeps, for the next turn, what git's status listed now, and the snapshot
// that goes with it.
func (r *Recorder) saw(s *session.State, n *notes, seen sight, t *turnChanges) {
	switch {
	case seen.whole:
		n.known = encodeKnown(t.after(nil, seen.entries))
	case seen.asked != nil:
		n.known = encodeKnown(t.after(seen.asked, seen.entries))
	default:
		return
	}
	s.UntrackedAtStart, s.Recorder.Unlisted = untracked(n.known), false
	if seen.snap != nil {
		s.Recorder.Seen = session.Seen{Version: int(seen.snap.taken.Snapshot.Version), Lineage: r.Lineage()}
	}
}

// untracked lists untracked files for other versions of the tool.
func untracked(known []byte) []string {
	const most = 1000
	var paths []string
	for k := range strings.SplitSeq(string(known), "\x00") {
		if strings.HasPrefix(k, "?") && len(paths) < most {
			paths = append(paths, k[1:])
		}
	}
	return paths
}
