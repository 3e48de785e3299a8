package record

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// RepairCommits carries out decisions whose commits were made but whose own hooks failed or were stopped.
// It is called at the start of every hook that has the time. With an empty journal it reads one
// directory. Commits that a quick search doesn't find are left to a detached child.
func RepairCommits(ctx context.Context, w *workspace.Workspace) {
	repair(ctx, w, WaitingDecisions(ctx, w))
}

// RepairCommitsHere is Repair only for the decisions of this worktree, which affect its next commit.
func RepairCommitsHere(ctx context.Context, w *workspace.Workspace) {
	repair(ctx, w, slices.DeleteFunc(WaitingDecisions(ctx, w), func(d tracking.Decision) bool { return d.Worktree != w.Repo.WorktreeID }))
}

func repair(ctx context.Context, w *workspace.Workspace, waiting []tracking.Decision) {
	unresolved, err := finishAll(ctx, w, waiting, tracking.RecentCommits)
	if err != nil {
		w.Log.ErrorContext(ctx, "unfinished checkpoint", "error", err.Error())
	}
	if unresolved {
		w.RequestCompletion(ctx, "")
	}
}

// WaitingDecisions returns the decisions whose git process has exited, so that none of its hooks will carry
// them out.
func WaitingDecisions(ctx context.Context, w *workspace.Workspace) []tracking.Decision {
	return slices.DeleteFunc(tracking.Decisions(ctx, w), func(d tracking.Decision) bool { return isLive(w, d) })
}

// isLive reports whether the git process of the decision is still running: its own hooks carry the
// decision out, and no other hook may touch it.
func isLive(w *workspace.Workspace, d tracking.Decision) bool {
	return d.Git != 0 && w.Env.Alive(d.Git, d.GitStart)
}

// AwaitGit waits until the git processes that have made their commits exit: a post-commit hook that
// gave up started this child, and its decision may be carried out only after git has exited.
func AwaitGit(ctx context.Context, w *workspace.Workspace) error {
	const patience, poll = 30 * time.Second, 20 * time.Millisecond
	live := slices.DeleteFunc(tracking.Decisions(ctx, w), func(d tracking.Decision) bool { return !isLive(w, d) })
	if len(live) == 0 {
		return nil
	}
	made, err := tracking.FindCommits(ctx, w, live, tracking.RecentCommits)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for slices.ContainsFunc(live, func(d tracking.Decision) bool { _, ok := made[d.Nonce]; return ok && isLive(w, d) }) {
		select {
		case <-within.Done():
			return ctx.Err()
		case <-time.After(poll):
		}
	}
	return nil
}

// finishAll carries out the decisions whose commits can be found. Of the others, it drops those
// whose commits can't be made any more after a search of all commits; after a quicker search it
// reports them as unresolved. The git processes of the decisions must have exited before the call,
// or be waiting for this hook. A worktree with a rebase in progress is skipped: its files are not
// as the session left them.
func finishAll(ctx context.Context, w *workspace.Workspace, list []tracking.Decision, scope tracking.SearchScope) (unresolved bool, err error) {
	return finish(ctx, w, slices.DeleteFunc(slices.Clone(list), func(d tracking.Decision) bool { return tracking.IsRebasing(w, d.Worktree) }), scope)
}

// FinishRebased carries out the decisions about commits that were made in this worktree while a
// rebase had stopped. It is called at the end of the rebase, whose files still exist.
func FinishRebased(ctx context.Context, w *workspace.Workspace) error {
	waiting := slices.DeleteFunc(WaitingDecisions(ctx, w), func(d tracking.Decision) bool { return d.Worktree != w.Repo.WorktreeID })
	unresolved, err := finish(ctx, w, waiting, tracking.RecentCommits)
	if unresolved {
		w.RequestCompletion(ctx, "")
	}
	return err
}

func finish(ctx context.Context, w *workspace.Workspace, list []tracking.Decision, scope tracking.SearchScope) (unresolved bool, err error) {
	if len(list) == 0 {
		return false, nil
	}
	found, err := tracking.FindCommits(ctx, w, list, scope)
	if err != nil {
		return false, err
	}
	var failed []error
	for _, d := range list {
		at, made := found[d.Nonce]
		switch {
		case made:
			w.Recovered++
			failed = append(failed, applyElsewhere(ctx, w, d, at))
		case d.ID == "": // the ids that it keeps have their own checkpoints
			failed = append(failed, tracking.RemoveDecision(d))
		case tracking.MayStillBeMade(w, d):
		case scope == tracking.AllCommits:
			w.Log.InfoContext(ctx, "decision dropped, its commit was never made", "checkpoint_id", string(d.ID))
			failed = append(failed, tracking.RemoveDecision(d))
		default:
			unresolved = true
		}
	}
	return unresolved, errors.Join(failed...)
}

// applyElsewhere applies a decision of any worktree of this repository. The remaining pending files
// are looked up in the decision's own worktree.
func applyElsewhere(ctx context.Context, w *workspace.Workspace, d tracking.Decision, commit tracking.LinkedCommit) error {
	if d.Worktree == w.Repo.WorktreeID {
		return ApplyDecision(ctx, w, d, commit)
	}
	root := w.Repo.MainRoot()
	if d.Worktree != "" {
		var found bool
		if root, found = git.WorktreeRoot(w.Repo, d.Worktree); !found {
			return ApplyDecision(ctx, w, d, commit) // the worktree no longer exists
		}
	}
	repo, err := git.Discover(git.Locate{Dir: root, Getenv: w.Env.Getenv})
	if err != nil || repo.CommonDir != w.Repo.CommonDir {
		return ApplyDecision(ctx, w, d, commit)
	}
	there := w.At(repo)
	return errors.Join(ApplyDecision(ctx, there, d, commit), repo.Close())
}
