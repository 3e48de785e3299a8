package strategy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// Repair carries out decisions whose commits were made and whose own hooks were
// stopped, or failed. It is called at the start of every hook that has the time;
// with an empty journal it reads one directory. What a quick search does not find
// is left to a detached child.
func (r *Recorder) Repair(ctx context.Context) { r.repair(ctx, r.waiting(ctx)) }

// repairHere is Repair for the decisions of this worktree only, which affect the
// next commit in it.
func (r *Recorder) repairHere(ctx context.Context) {
	r.repair(ctx, slices.DeleteFunc(r.waiting(ctx), func(d Decision) bool { return d.Worktree != r.Repo.WorktreeID }))
}

func (r *Recorder) repair(ctx context.Context, waiting []Decision) {
	unresolved, err := r.finishAll(ctx, waiting, recentCommits)
	if err != nil {
		r.Log.ErrorContext(ctx, "unfinished checkpoint", "error", err.Error())
	}
	if unresolved {
		r.detach(ctx, "")
	}
}

// waiting returns the decisions whose git process is gone, so that no hook of
// its own will carry them out.
func (r *Recorder) waiting(ctx context.Context) []Decision {
	return slices.DeleteFunc(r.decisions(ctx), r.isLive)
}

// isLive reports whether the git process that the decision was made for still
// runs: its own hooks carry the decision out, and no other hook may touch it.
func (r *Recorder) isLive(d Decision) bool {
	return d.Git != 0 && r.Env.Alive(d.Git, d.GitStart)
}

// finishAll carries out the decisions whose commits can be found. Of the others,
// those whose commits can't be made any more are dropped after a search of all
// commits; after a quicker search they are reported as unresolved. The git
// processes of the decisions must have ended before the call, or be waiting for
// this hook. A worktree in the middle of a rebase is passed over: its files are
// not what the session left.
func (r *Recorder) finishAll(ctx context.Context, list []Decision, scope searchScope) (unresolved bool, err error) {
	list = slices.DeleteFunc(slices.Clone(list), func(d Decision) bool { return r.rebasing(d.Worktree) })
	if len(list) == 0 {
		return false, nil
	}
	found, err := r.findCommits(ctx, list, scope)
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
			failed = append(failed, r.forget(d))
		case r.mayStillBeMade(d):
		case scope == allCommits:
			r.Log.InfoContext(ctx, "decision dropped, its commit was never made", "checkpoint_id", string(d.ID))
			failed = append(failed, r.forget(d))
		default:
			unresolved = true
		}
	}
	return unresolved, errors.Join(failed...)
}

// sweepAge is the age of a temporary file whose writer is surely gone.
const sweepAge = time.Hour

// sweep removes what writers left that were stopped.
func (r *Recorder) sweep(ctx context.Context) {
	before := r.Env.Now().Add(-sweepAge)
	for _, dir := range r.tempDirs() {
		if err := disk.SweepTemp(dir, before); err != nil {
			r.Log.WarnContext(ctx, "temporary files left", "error", err.Error())
		}
	}
}

// tempDirs are the folders that hooks write small files to.
func (r *Recorder) tempDirs() []string {
	own := filepath.Join(r.Repo.Root, ".entire")
	return append(r.storeDirs(),
		r.dir(), r.journal(), filepath.Join(r.Repo.CommonDir, "hooks"), r.Sessions.Dir(), r.Sessions.SideDir(), r.Repo.GitDir, own, filepath.Join(own, "tmp"))
}

// storeDirs are the folders of the store that hooks write small files to: of the
// snapshots only the newest, as others get none any more.
func (r *Recorder) storeDirs() []string {
	const newest = 20
	store, err := r.snapshots()
	if err != nil {
		return nil
	}
	dirs := []string{r.StoreDir(), r.requestDir()}
	versions, err := store.Versions()
	if err != nil {
		return dirs
	}
	for _, v := range versions[max(0, len(versions)-newest):] {
		dirs = append(dirs, store.SnapshotDir(v))
	}
	return dirs
}

// applyElsewhere applies a decision of any worktree of this repository. What the
// commit left pending is looked up in the decision's own worktree.
func (r *Recorder) applyElsewhere(ctx context.Context, d Decision, commit linkedCommit) error {
	if d.Worktree == r.Repo.WorktreeID {
		return r.apply(ctx, d, commit)
	}
	root := r.Repo.MainRoot()
	if d.Worktree != "" {
		data, err := os.ReadFile(filepath.Join(r.Repo.CommonDir, "worktrees", filepath.Base(d.Worktree), "gitdir"))
		if err != nil {
			return r.apply(ctx, d, commit) // the worktree is gone
		}
		root = filepath.Dir(strings.TrimSpace(string(data)))
	}
	repo, err := git.Discover(git.Locate{Dir: root, Getenv: r.Env.Getenv})
	if err != nil || repo.CommonDir != r.Repo.CommonDir {
		return r.apply(ctx, d, commit)
	}
	there := *r
	there.Repo = repo
	return errors.Join(there.apply(ctx, d, commit), repo.Close())
}

// endDead ends the turns of agents of this worktree that are no longer alive:
// no stop will come for them.
func (r *Recorder) endDead(ctx context.Context) {
	for _, s := range r.pendingHere(ctx) {
		agent := s.Recorder.Agent
		if s.Phase != session.Active || agent.PID == 0 || r.Env.Alive(agent.PID, agent.Start) {
			continue
		}
		r.Recovered++
		in := Input{SessionID: s.ID}
		if err := r.step(ctx, in, session.TurnEnd, nil); err != nil {
			r.Log.ErrorContext(ctx, "turn of a dead agent not saved", "session_id", s.ID, "error", err.Error())
		}
	}
}
