package rewind

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/bands/history"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git/gitwork"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/rewindstate"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// PreviewCodeStep returns what StepCode would change, and writes nothing.
func (r *CodeRewinder) PreviewCodeStep(ctx context.Context, op history.Operation, o Options) (done CodeRewound, err error) {
	h, err := rewindstate.ReadCodeHistory(r.Repo.CommonDir, r.snapshots.Lineage())
	if err != nil {
		return done, err
	}
	turn, _, err := nextCode(&h, op, o)
	if err == nil {
		err = r.checkCodePaths(turn, o.Paths)
	}
	if err != nil {
		return done, err
	}
	return r.planTurn(ctx, turn)
}

// StepCode takes the last code-only rewind back (bands.OpUndo), or its undo
// (bands.OpRedo): what it changed and nobody changed since, in the paths of the
// options if there are any. What was interrupted is taken back first, or completed
// if it was a redo. bands.ErrNoHistory means that there is none.
func (r *CodeRewinder) StepCode(ctx context.Context, op history.Operation, o Options) (done CodeRewound, err error) {
	err = r.journal.withCode(ctx, func(h *rewindstate.CodeHistory) error {
		turn, begun, err := nextCode(h, op, o)
		if err == nil {
			err = r.checkCodePaths(turn, o.Paths)
		}
		switch {
		case err != nil:
			return err
		case begun && h.Begun.Op == history.OpRedo && op == history.OpRedo:
			done, err = r.finishCode(ctx, h)
			return err
		case begun:
			done, err = r.takeCodeBack(ctx, h)
			return err
		}
		h.Begun = &rewindstate.CodeOperation{Op: op, Turn: turn}
		done, err = r.carryOut(ctx, h, turn, o)
		return err
	})
	return done, err
}

// nextCode returns the turn that an undo or redo carries out, in its direction.
func nextCode(h *rewindstate.CodeHistory, op history.Operation, o Options) (turn rewindstate.CodeTurn, begun bool, err error) {
	none := fmt.Errorf("%s: %w", op, history.ErrEmpty)
	turns := h.Undo
	if op == history.OpRedo {
		turns = h.Redo
	}
	switch b := h.Begun; {
	case b != nil && len(o.Paths) > 0:
		return turn, true, fmt.Errorf("%s: %w", op, restore.ErrInterrupted)
	case b != nil && op == history.OpRedo && b.Op == history.OpRestore:
		return turn, true, none
	case b != nil && op == history.OpRedo && b.Op == history.OpRedo:
		return b.Turn, true, nil
	case b != nil:
		return b.Turn.Reversed(), true, nil
	case len(turns) == 0:
		return turn, false, none
	}
	turn = turns[len(turns)-1]
	if op == history.OpUndo {
		turn = turn.Reversed()
	}
	if len(o.Paths) > 0 {
		turn.Changes = slices.DeleteFunc(slices.Clone(turn.Changes), func(c rewindstate.CodeChange) bool { return !belowAny(string(c.Path), o.Paths) })
	}
	return turn, false, nil
}

// checkCodePaths fails for a path that neither the turn nor the tree has.
func (r *CodeRewinder) checkCodePaths(turn rewindstate.CodeTurn, paths []string) error {
	for _, p := range paths {
		if slices.ContainsFunc(turn.Changes, func(c rewindstate.CodeChange) bool { return belowAny(string(c.Path), []string{p}) }) {
			continue
		}
		if _, err := os.Lstat(filepath.Join(r.Repo.Root, filepath.FromSlash(p))); err != nil {
			return fmt.Errorf("no file matches %s in %s or now", p, turn.To.Short())
		}
	}
	return nil
}

// planTurn compares the tree with what a turn starts from.
func (r *CodeRewinder) planTurn(ctx context.Context, turn rewindstate.CodeTurn) (CodeRewound, error) {
	done := CodeRewound{Target: turn.To, Rescue: turn.From}
	present, err := r.code.presentCode(ctx, pathsOfChanges(turn.Changes))
	if err != nil {
		return done, err
	}
	for _, c := range turn.Changes {
		name := string(c.Path)
		switch now := present[name]; {
		case now.blocked:
			done.Plan.Skipped = append(done.Plan.Skipped, name)
		case now.file == c.After:
		case now.file == c.Before:
			done.Plan.Steps = append(done.Plan.Steps, newCodeStep(name, now, c.After))
		default:
			done.Plan.ChangedSince = append(done.Plan.ChangedSince, name)
		}
	}
	return done, nil
}

// carryOut makes the changes of the turn of h.Begun.
func (r *CodeRewinder) carryOut(ctx context.Context, h *rewindstate.CodeHistory, turn rewindstate.CodeTurn, o Options) (CodeRewound, error) {
	done, err := r.planTurn(ctx, turn)
	if err != nil {
		return done, err
	}
	if err := r.code.stageCode(ctx, done.Plan.Steps); err != nil {
		return done, err
	}
	if err := r.journal.saveCodeHistory(h); err != nil {
		return done, err
	}
	if done.Failed, err = r.code.applyCode(ctx, done.Plan.Steps); err != nil {
		return done, err
	}
	if err := r.alignTurn(ctx, turn, len(o.Paths) > 0); err != nil {
		return done, err
	}
	r.endCode(h, turn, done, o)
	return done, errors.Join(incompleteCode(done), r.journal.saveCodeHistory(h))
}

// endCode notes in the history that the move of h.Begun has ended.
func (r *CodeRewinder) endCode(h *rewindstate.CodeHistory, turn rewindstate.CodeTurn, done CodeRewound, o Options) {
	op := h.Begun.Op
	turn.At = r.Env.Now()
	h.End(turn.Changes, turn.At)
	turn.Changes = withoutFailed(turn.Changes, done.Failed, slices.Concat(done.Plan.Skipped, done.Plan.ChangedSince))
	from, to := &h.Undo, &h.Redo
	switch op {
	case history.OpUndo:
		turn = turn.Reversed()
	case history.OpRedo:
		from, to = to, from
	case history.OpRestore: // completed
		h.Redo, h.Rewound = nil, turn.At
		h.Undo = append(h.Undo, turn)
		return
	}
	last := len(*from) - 1
	if len(o.Paths) == 0 {
		*from = (*from)[:last]
	} else if rest := withoutFailed((*from)[last].Changes, nil, pathsOfChanges(turn.Changes)); len(rest) > 0 {
		(*from)[last].Changes = rest
	} else {
		*from = (*from)[:last]
	}
	if len(turn.Changes) > 0 {
		*to = append(*to, turn)
	}
}

// takeCodeBack takes back what was interrupted: the history is what it was before.
func (r *CodeRewinder) takeCodeBack(ctx context.Context, h *rewindstate.CodeHistory) (CodeRewound, error) {
	turn := h.Begun.Turn.Reversed()
	done := CodeRewound{Target: turn.To}
	if err := r.code.recoverCode(ctx, h); err != nil {
		return done, err
	}
	done, err := r.planTurn(ctx, turn)
	if err != nil {
		return done, err
	}
	if err := r.code.stageCode(ctx, done.Plan.Steps); err != nil {
		return done, err
	}
	h.Begun.Back = true
	if err := r.journal.saveCodeHistory(h); err != nil {
		return done, err
	}
	if done.Failed, err = r.code.applyCode(ctx, done.Plan.Steps); err != nil {
		return done, err
	}
	if err := r.alignTurn(ctx, turn, false); err != nil {
		return done, err
	}
	h.End(turn.Changes, r.Env.Now())
	done.TakenBack = true
	return done, errors.Join(incompleteCode(done), r.journal.saveCodeHistory(h))
}

// finishCode completes what was interrupted.
func (r *CodeRewinder) finishCode(ctx context.Context, h *rewindstate.CodeHistory) (CodeRewound, error) {
	if err := r.code.recoverCode(ctx, h); err != nil {
		return CodeRewound{}, err
	}
	h.Begun.Back = false
	return r.carryOut(ctx, h, h.Begun.Turn, Options{})
}

// alignTurn aligns the sessions with a tree that an undo or redo has changed.
func (r *CodeRewinder) alignTurn(ctx context.Context, turn rewindstate.CodeTurn, partly bool) error {
	err := r.WithLock(ctx, func() error {
		if partly {
			_, err := r.aligner.dropClean(ctx, r.AllSessions(ctx), pathsOfChanges(turn.Changes))
			return err
		}
		return r.moveSessions(ctx, turn.Before, turn.After)
	})
	if err != nil {
		return fmt.Errorf("the files are restored, the sessions don't agree with them: %w", err)
	}
	return nil
}

// currentSessions is what the sessions of the worktree are.
func (r *CodeRewinder) currentSessions(ctx context.Context) []rewindstate.Session {
	states := r.AllSessions(ctx)
	sessions := make([]rewindstate.Session, 0, len(states))
	for _, s := range states {
		sessions = append(sessions, r.reader.Current(ctx, s))
	}
	return sessions
}

// moveSessions makes the sessions what they were, if they are still what the other
// states record; where these are unknown, if none has begun a turn since. A session
// that has worked since keeps its work: what was pending is pending again beside it.
func (r *CodeRewinder) moveSessions(ctx context.Context, from, to []rewindstate.Session) error {
	states := r.AllSessions(ctx)
	wanted := map[string]rewindstate.Session{}
	for _, m := range to {
		wanted[m.Session] = m
	}
	left := map[string]rewindstate.Session{}
	for _, m := range from {
		left[m.Session] = m
	}
	same := len(states) == len(to)
	for _, s := range states {
		is, was, becomes := r.reader.Current(ctx, s), left[s.ID], wanted[s.ID]
		same = same && becomes.Session != "" && is.Turn == becomes.Turn && is.Base == becomes.Base
		if was.Session != "" { // a part of it may have been done before an interruption
			same = same && (is.Shadow == was.Shadow || is.Shadow == becomes.Shadow) && (is.Count == was.Count || is.Count == becomes.Count) &&
				(slices.Equal(is.Files, was.Files) || slices.Equal(is.Files, becomes.Files))
		}
	}
	if same {
		_, err := r.aligner.restoreSessions(ctx, states, wanted)
		return err
	}
	return r.addPending(ctx, states, wanted)
}

// addPending makes files of other session states pending again that differ from HEAD, on a
// shadow commit that follows the present ones.
func (r *CodeRewinder) addPending(ctx context.Context, states []*session.State, wanted map[string]rewindstate.Session) error {
	head, born, err := r.Head(ctx)
	if err != nil || !born {
		return err
	}
	var changed []*session.State
	counts := map[string]int{}
	for _, s := range states {
		files := slices.DeleteFunc(slices.Clone([]string(wanted[s.ID].Files)), func(p string) bool { return workspace.ContainsPath(s.FilesTouched, p) })
		if len(files) == 0 {
			continue
		}
		entries, err := gitwork.Status(ctx, r.Repo, files...)
		if err != nil {
			return err
		}
		var again []string
		for _, e := range entries {
			if slices.Contains(files, e.Path) {
				again = append(again, e.Path)
			}
		}
		if len(again) > 0 {
			s.Touched(again)
			changed, counts[s.ID] = append(changed, s), s.CheckpointCount+1
		}
	}
	if len(changed) == 0 {
		return nil
	}
	shadow, err := workspace.NewRefTransaction(r.Repo).Get(ctx, checkpoint.ShadowBranch(head.OID, r.Repo.WorktreeID))
	if err != nil {
		return err
	}
	if err := r.aligner.moveTip(ctx, head, shadow, changed); err != nil {
		return err
	}
	for _, s := range changed {
		s.CheckpointCount = counts[s.ID]
		if err := r.Sessions.Save(s); err != nil {
			return err
		}
	}
	return nil
}
