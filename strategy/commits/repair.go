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

// Repair carries out decisions whose commits were made and whose own hooks were
// stopped, or failed. It is called at the start of every hook that has the time;
// with an empty journal it reads one directory. What a quick search does not find
// is left to a detached child.
func (r *Repairer) Repair(ctx context.Context) { r.repair(ctx, r.Waiting(ctx)) }

// RepairHere is Repair for the decisions of this worktree only, which affect the
// next commit in it.
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

// Waiting returns the decisions whose git process is gone, so that no hook of
// its own will carry them out.
func (r *Repairer) Waiting(ctx context.Context) []journal.Decision {
	return slices.DeleteFunc(r.journal.Decisions(ctx), r.isLive)
}

// isLive reports whether the git process that the decision was made for still
// runs: its own hooks carry the decision out, and no other hook may touch it.
func (r *Repairer) isLive(d journal.Decision) bool {
	return d.Git != 0 && r.Env.Alive(d.Git, d.GitStart)
}

// AwaitGit waits for the end of the git processes that have made their commits:
// a post-commit that gave up started this child, and its decision may be carried
// out only when git has ended.
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

// finishAll carries out the decisions whose commits can be found. Of the others,
// those whose commits can't be made any more are dropped after a search of all
// commits; after a quicker search they are reported as unresolved. The git
// processes of the decisions must have ended before the call, or be waiting for
// this hook. A worktree in the middle of a rebase is passed over: its files are
// not what the session left.
func (r *Repairer) finishAll(ctx context.Context, list []journal.Decision, scope journal.SearchScope) (unresolved bool, err error) {
	list = slices.DeleteFunc(slices.Clone(list), func(d journal.Decision) bool { return r.commits.Rebasing(d.Worktree) })
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
		case d.ID == "": // the ids that it keeps have checkpoints of their own
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

// applyElsewhere applies a decision of any worktree of this repository. What the
// commit left pending is looked up in the decision's own worktree.
func (r *Repairer) applyElsewhere(ctx context.Context, d journal.Decision, commit journal.LinkedCommit) error {
	if d.Worktree == r.Repo.WorktreeID {
		return r.condenser.Apply(ctx, d, commit)
	}
	root := r.Repo.MainRoot()
	if d.Worktree != "" {
		data, err := disk.ReadFile(filepath.Join(r.Repo.CommonDir, "worktrees", filepath.Base(d.Worktree), "gitdir"))
		if err != nil {
			return r.condenser.Apply(ctx, d, commit) // the worktree is gone
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
