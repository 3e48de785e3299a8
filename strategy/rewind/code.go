package rewind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/bands/apply"
	"github.com/seed-3aff656d/entire/bands/history"
	"github.com/seed-3aff656d/entire/bands/plan"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitdiff"
	"github.com/seed-3aff656d/entire/internal/git/gitlog"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/points"
	"github.com/seed-3aff656d/entire/strategy/rewindstate"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// CodePlan is what going back to a shadow checkpoint without a snapshot
// changes: only files that sessions have touched are in such a checkpoint.
type CodePlan struct {
	Steps []CodeStep
	// Skipped can't be restored: the path leads through a symlink, or is a
	// directory now.
	Skipped []string
	// ChangedSince are paths of an undo or redo that were changed since.
	ChangedSince []string
}

// CodeStep is a path, and what becomes of it.
type CodeStep struct {
	Path string
	Kind plan.StepKind // StepCreate, StepRewrite or StepDelete

	was           dirfd.Stat // what is there, which the rescue holds
	before, after rewindstate.CodeFile
}

func newCodeStep(name string, now codePresent, after rewindstate.CodeFile) CodeStep {
	s := CodeStep{Path: name, Kind: plan.StepRewrite, was: now.stat, before: now.file, after: after}
	switch {
	case now.file == rewindstate.CodeFile{}:
		s.Kind = plan.StepCreate
	case after == rewindstate.CodeFile{}:
		s.Kind = plan.StepDelete
	}
	return s
}

// CodeRewound is what a code-only rewind, undo or redo did. Target is the commit
// that it went to. Rescue is one that holds what was there before, and is itself a
// point.
type CodeRewound struct {
	Plan   CodePlan
	Target git.OID
	Rescue git.OID
	// Failed are the paths that could not be restored, if the error is
	// bands.ErrIncomplete.
	Failed []apply.Failure
	// TakenBack is set if it took back what was interrupted, which can't be redone.
	TakenBack bool
}

// PreviewCode returns what RewindCodeOnly would change, and writes nothing.
func (r *CodeRewinder) PreviewCode(ctx context.Context, p points.Point) (CodePlan, error) {
	plan, _, err := r.planCode(ctx, p)
	return plan, err
}

// planCode compares the touched files with a point. It returns their paths, too.
func (r *CodeRewinder) planCode(ctx context.Context, p points.Point) (plan CodePlan, paths []string, err error) {
	c, err := r.Repo.Commit(ctx, string(p.Shadow))
	if err != nil {
		return plan, nil, fmt.Errorf("read shadow checkpoint: %w", err)
	}
	if paths, err = r.codePaths(ctx, c); err != nil {
		return plan, nil, err
	}
	present, err := r.code.presentCode(ctx, paths)
	if err != nil {
		return plan, nil, err
	}
	for _, name := range paths {
		wanted, _, err := r.Lookup(ctx, c.Tree, name)
		if err != nil {
			return plan, nil, err
		}
		after, now := rewindstate.CodeFile{Mode: wanted.Mode, OID: wanted.OID}, present[name]
		switch {
		case now.blocked || after.Mode == git.ModeModule:
			plan.Skipped = append(plan.Skipped, name)
		case now.file != after:
			plan.Steps = append(plan.Steps, newCodeStep(name, now, after))
		}
	}
	return plan, paths, nil
}

// codePaths are the files that the checkpoint, its branch or a session knows as
// touched.
func (r *CodeRewinder) codePaths(ctx context.Context, c git.Commit) ([]string, error) {
	head, born, err := r.Head(ctx)
	if err != nil || !born {
		return nil, err
	}
	var paths []string
	trees := []git.OID{c.OID}
	if tip, err := r.Repo.Commit(ctx, checkpoint.ShadowBranch(head.OID, r.Repo.WorktreeID)); err == nil {
		trees = append(trees, tip.OID)
	}
	for _, t := range trees {
		changes, err := gitdiff.Changes(ctx, r.Repo, head.OID, t)
		if err != nil {
			return nil, err
		}
		for _, ch := range changes {
			paths = append(paths, ch.Path)
		}
	}
	for _, s := range r.AllSessions(ctx) {
		paths = append(paths, s.FilesTouched...)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return p == ".entire" || strings.HasPrefix(p, ".entire/") })
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// RewindCodeOnly goes back to a shadow checkpoint that has no snapshot. What it
// overwrites or removes is in a commit of its own first. A code-only rewind that was
// interrupted becomes a part of it, so both are taken back together; an undo or redo
// that was interrupted, and went to this commit, is completed.
func (r *CodeRewinder) RewindCodeOnly(ctx context.Context, p points.Point) (done CodeRewound, err error) {
	err = r.journal.withCode(ctx, func(h *rewindstate.CodeHistory) error {
		if h.Begun != nil && h.Begun.Op != history.OpRestore && h.Begun.Turn.To == p.Shadow {
			done, err = r.finishCode(ctx, h)
			return err
		}
		done, err = r.rewindCode(ctx, h, p)
		return err
	})
	return done, err
}

func (r *CodeRewinder) rewindCode(ctx context.Context, h *rewindstate.CodeHistory, p points.Point) (CodeRewound, error) {
	done := CodeRewound{Target: p.Shadow}
	if err := r.code.recoverCode(ctx, h); err != nil {
		return done, err
	}
	plan, paths, err := r.planCode(ctx, p)
	if done.Plan = plan; err != nil || len(plan.Steps) == 0 && h.Begun == nil {
		return done, err
	}
	if done.Rescue, err = r.rescueCode(ctx, p, plan, paths); err != nil {
		return done, fmt.Errorf("nothing changed: %w", err)
	}
	if err := r.code.stageCode(ctx, plan.Steps); err != nil {
		return done, err
	}
	turn := rewindstate.CodeTurn{From: done.Rescue, To: p.Shadow, At: r.Env.Now()}
	for _, s := range plan.Steps {
		turn.Changes = append(turn.Changes, rewindstate.CodeChange{Path: session.Path(s.Path), Before: s.before, After: s.after})
	}
	again := h.Begun != nil
	if again {
		if err := r.mergeBegun(ctx, &turn, h.Begun.Turn); err != nil {
			return done, err
		}
	} else {
		turn.Before = r.currentSessions(ctx)
	}
	h.Begun = &rewindstate.CodeOperation{Op: history.OpRestore, Turn: turn}
	if err := r.journal.saveCodeHistory(h); err != nil {
		return done, err
	}
	if done.Failed, err = r.code.applyCode(ctx, plan.Steps); err != nil {
		return done, err
	}
	err = r.WithLock(ctx, func() error {
		if again { // it may have come to some of the sessions
			if err := r.moveSessions(ctx, nil, turn.Before); err != nil {
				return err
			}
		}
		c, err := r.Repo.Commit(ctx, string(p.Shadow))
		if err != nil {
			return err
		}
		return r.alignCode(ctx, h, c, p)
	})
	if err != nil {
		return done, fmt.Errorf("the files are restored, the sessions don't agree with them: %w", err)
	}
	turn.After = r.currentSessions(ctx)
	h.End(turn.Changes, r.Env.Now())
	h.Redo, h.Rewound = nil, r.Env.Now()
	if turn.Changes = withoutFailed(turn.Changes, done.Failed, nil); len(turn.Changes) > 0 {
		h.Undo = append(h.Undo, turn)
	}
	return done, errors.Join(incompleteCode(done), r.journal.saveCodeHistory(h))
}

// mergeBegun makes a turn start where an interrupted one did: what that changed and
// nobody changed since was before what it was before that.
func (r *CodeRewinder) mergeBegun(ctx context.Context, turn *rewindstate.CodeTurn, begun rewindstate.CodeTurn) error {
	turn.From, turn.Before = begun.From, begun.Before
	at := map[session.Path]int{}
	for i, c := range turn.Changes {
		at[c.Path] = i
	}
	present, err := r.code.presentCode(ctx, pathsOfChanges(begun.Changes))
	if err != nil {
		return err
	}
	for _, c := range begun.Changes {
		i, planned := at[c.Path]
		switch now := present[string(c.Path)]; {
		case now.blocked || now.file != c.After:
		case planned:
			turn.Changes[i].Before = c.Before
		default:
			turn.Changes = append(turn.Changes, c)
		}
	}
	turn.Changes = slices.DeleteFunc(turn.Changes, func(c rewindstate.CodeChange) bool { return c.Before == c.After })
	return nil
}

// incompleteCode is bands.ErrIncomplete if some paths could not be restored.
func incompleteCode(done CodeRewound) error {
	if len(done.Failed) == 0 {
		return nil
	}
	return apply.ErrIncomplete
}

// withoutFailed are the changes that were carried out.
func withoutFailed(changes []rewindstate.CodeChange, failed []apply.Failure, left []string) []rewindstate.CodeChange {
	return slices.DeleteFunc(slices.Clone(changes), func(c rewindstate.CodeChange) bool {
		return slices.Contains(left, string(c.Path)) || slices.ContainsFunc(failed, func(f apply.Failure) bool { return f.Path == string(c.Path) })
	})
}

func pathsOfChanges(changes []rewindstate.CodeChange) []string {
	paths := make([]string, len(changes))
	for i, c := range changes {
		paths[i] = string(c.Path)
	}
	return paths
}

// rescueCode makes a commit of the files as they are, under a ref that keeps it.
// It holds all touched files and not only those of the plan: as a point it would
// make the others what HEAD has of them.
func (r *CodeRewinder) rescueCode(ctx context.Context, p points.Point, plan CodePlan, paths []string) (git.OID, error) {
	head, _, err := r.Head(ctx)
	if err != nil {
		return "", err
	}
	entries, err := r.files.StoreContents(ctx, paths)
	if err != nil {
		return "", err
	}
	for _, s := range plan.Steps {
		if e, kept := entries[s.Path]; !kept || (rewindstate.CodeFile{Mode: e.Mode, OID: e.OID}) != s.before {
			return "", fmt.Errorf("%s can't be kept, or changed meanwhile", r.Redact.Path(s.Path))
		}
	}
	by, err := r.Identity(ctx)
	if err != nil {
		return "", err
	}
	tree, err := gittree.Apply(ctx, r.Repo, head.Tree, workspace.EditsOf(entries, paths))
	if err != nil {
		return "", err
	}
	oid, err := r.Repo.WriteCommit(git.Commit{
		Tree: tree, Parents: []git.OID{head.OID}, Author: by, Committer: by,
		Message: "before rewind to " + p.Shadow.Short() + "\n\n" + checkpoint.SessionKey + ": " + p.Session + "\n",
	})
	if err != nil {
		return "", err
	}
	name := rewindstate.HeldRefs + r.snapshots.Lineage() + "-" + strconv.FormatInt(r.Env.Now().UnixNano(), 10)
	return oid, gitref.Update(ctx, r.Repo, "entire: rewind", []gitref.Change{{Name: name, New: oid}})
}

// alignCode aligns the sessions with a shadow checkpoint: the branch ends
// there, and what no longer differs from HEAD isn't pending. At a rescue they are
// what they were when it was made.
func (r *CodeRewinder) alignCode(ctx context.Context, h *rewindstate.CodeHistory, c git.Commit, p points.Point) error {
	head, _, err := r.Head(ctx)
	if err != nil {
		return err
	}
	branch := checkpoint.ShadowBranch(head.OID, r.Repo.WorktreeID)
	log, err := gitlog.Last(ctx, r.Repo, branch, points.PointCommits)
	if err != nil {
		log = nil // there is no such branch
	}
	at := slices.IndexFunc(log, func(o git.Commit) bool { return o.OID == c.OID })
	if at < 0 { // a rescue, not a checkpoint of the branch
		if sessions := h.SessionsAt(c.OID); sessions != nil {
			return r.moveSessions(ctx, nil, sessions)
		}
		states := r.AllSessions(ctx)
		var pending []string
		for _, s := range states {
			pending = append(pending, s.FilesTouched...)
		}
		if len(pending) > 0 {
			_, err = r.aligner.dropClean(ctx, states, pending)
		}
		return err
	}
	refs := workspace.NewRefTransaction(r.Repo)
	if err := errors.Join(refs.Set(ctx, branch, p.Shadow), refs.Set(ctx, rewindstate.HeldRefs+r.snapshots.Lineage()+"-"+log[0].OID.Short(), log[0].OID)); err != nil {
		return err
	}
	if err := gitref.Update(ctx, r.Repo, "entire: rewind", refs.Updates()); err != nil {
		return err
	}
	counts := map[string]int{}
	for _, o := range log[:at] {
		counts[points.Trailer(o.Message, checkpoint.SessionKey)]++
	}
	for _, s := range r.AllSessions(ctx) {
		entries, err := gitdiff.Changes(ctx, r.Repo, head.OID, c.OID)
		if err != nil {
			return err
		}
		s.Keep(slices.DeleteFunc(slices.Clone(s.FilesTouched), func(f string) bool {
			return !slices.ContainsFunc(entries, func(ch gitdiff.Change) bool { return ch.Path == f })
		}))
		s.CheckpointCount = max(0, s.CheckpointCount-counts[s.ID])
		if err := r.Sessions.Save(s); err != nil {
			return err
		}
	}
	return nil
}
