package commits

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/condense"
	"github.com/seed-3aff656d/entire/strategy/journal"
)

// Repair carries out decisions whose commits were made but whose own hooks failed or were stopped.
// It is called at the start of every hook that has the time. With an empty journal it reads one
// directory. Commits that a quick search doesn't find are left to a detached child.
func (r *Repairer) Repair(ctx context.Context) { r.repair(ctx, r.Waiting(ctx)) }

// RepairHere is Repair only for the decisions of this worktree, which affect its next commit.
func (r *Repairer) RepairHere(ctx context.Context) {
	r.repair(ctx, slices.DeleteFunc(r.Waiting(ctx), func(d journal.Decision) bool { return d.Worktree != r.Repo.WorktreeID }))
}

func (r *Repairer) repair(ctx context.Context, waiting []journal.Decision) {
	unresolved, err := r.finishAll(ctx, waiting, journal.RecentCommits)
	if err != nil {
		r.Log.ErrorContext(ctx, "unfinished checkpoint", "error", err.Error())
	}
	if unresolved {
		r.children.RequestCompletion(ctx, "")
	}
}

// Waiting returns the decisions whose git process has exited, so that none of its hooks will carry
// them out.
func (r *Repairer) Waiting(ctx context.Context) []journal.Decision {
	return slices.DeleteFunc(r.journal.Decisions(ctx), r.isLive)
}

// isLive reports whether the git process of the decision is still running: its own hooks carry the
// decision out, and no other hook may touch it.
func (r *Repairer) isLive(d journal.Decision) bool {
	return d.Git != 0 && r.Env.Alive(d.Git, d.GitStart)
}

// AwaitGit waits until the git processes that have made their commits exit: a post-commit hook that
// gave up started this child, and its decision may be carried out only after git has exited.
func (r *Repairer) AwaitGit(ctx context.Context) error {
	const patience, poll = 30 * time.Second, 20 * time.Millisecond
	live := slices.DeleteFunc(r.journal.Decisions(ctx), func(d journal.Decision) bool { return !r.isLive(d) })
	if len(live) == 0 {
		return nil
	}
	made, err := r.commits.FindCommits(ctx, live, journal.RecentCommits)
	if err != nil {
		return err
	}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for slices.ContainsFunc(live, func(d journal.Decision) bool { _, ok := made[d.Nonce]; return ok && r.isLive(d) }) {
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
func (r *Repairer) finishAll(ctx context.Context, list []journal.Decision, scope journal.SearchScope) (unresolved bool, err error) {
	return r.finish(ctx, slices.DeleteFunc(slices.Clone(list), func(d journal.Decision) bool { return r.commits.Rebasing(d.Worktree) }), scope)
}

// FinishRebased carries out the decisions about commits that were made in this worktree while a
// rebase had stopped. It is called at the end of the rebase, whose files still exist.
func (r *Repairer) FinishRebased(ctx context.Context) error {
	waiting := slices.DeleteFunc(r.Waiting(ctx), func(d journal.Decision) bool { return d.Worktree != r.Repo.WorktreeID })
	unresolved, err := r.finish(ctx, waiting, journal.RecentCommits)
	if unresolved {
		r.children.RequestCompletion(ctx, "")
	}
	return err
}

func (r *Repairer) finish(ctx context.Context, list []journal.Decision, scope journal.SearchScope) (unresolved bool, err error) {
	if len(list) == 0 {
		return false, nil
	}
	found, err := r.commits.FindCommits(ctx, list, scope)
	if err != nil {
		return false, err
	}
	var failed []error
	for _, d := range list {
		at, made := found[d.Nonce]
		switch {
		case made:
			r.Recovered++
			failed = append(failed, r.applyElsewhere(ctx, d, at))
		case d.ID == "": // the ids that it keeps have their own checkpoints
			failed = append(failed, r.journal.Remove(d))
		case r.commits.MayStillBeMade(d):
		case scope == journal.AllCommits:
			r.Log.InfoContext(ctx, "decision dropped, its commit was never made", "checkpoint_id", string(d.ID))
			failed = append(failed, r.journal.Remove(d))
		default:
			unresolved = true
		}
	}
	return unresolved, errors.Join(failed...)
}

// applyElsewhere applies a decision of any worktree of this repository. The remaining pending files
// are looked up in the decision's own worktree.
func (r *Repairer) applyElsewhere(ctx context.Context, d journal.Decision, commit journal.LinkedCommit) error {
	if d.Worktree == r.Repo.WorktreeID {
		return r.condenser.Apply(ctx, d, commit)
	}
	root := r.Repo.MainRoot()
	if d.Worktree != "" {
		data, err := disk.ReadFile(filepath.Join(r.Repo.CommonDir, "worktrees", filepath.Base(d.Worktree), "gitdir"))
		if err != nil {
			return r.condenser.Apply(ctx, d, commit) // the worktree no longer exists
		}
		root = filepath.Dir(strings.TrimSpace(string(data)))
	}
	repo, err := git.Discover(git.Locate{Dir: root, Getenv: r.Env.Getenv})
	if err != nil || repo.CommonDir != r.Repo.CommonDir {
		return r.condenser.Apply(ctx, d, commit)
	}
	there := condense.New(r.At(repo)).Condenser
	return errors.Join(there.Apply(ctx, d, commit), repo.Close())
}
