package strategy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// Repair finishes what a crash, or a write that failed, left unfinished:
// decisions whose commit was made. It is called at the start of every hook
// that has the time; where there is nothing to do it reads one folder.
func (r *Recorder) Repair(ctx context.Context) {
	waiting := r.waiting(ctx)
	if len(waiting) == 0 {
		return
	}
	err := r.locked(ctx, func() error {
		for _, d := range waiting {
			if err := r.late(ctx, d, git.Commit{}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		r.Log.ErrorContext(ctx, "unfinished checkpoint", "error", err.Error())
	}
}

// waiting answers the decisions that no hook is about to carry out.
func (r *Recorder) waiting(ctx context.Context) []Decision {
	return slices.DeleteFunc(r.decisions(ctx), func(d Decision) bool {
		return d.Git != 0 && r.Env.Alive(d.Git, d.GitStart) // its own hook will do it
	})
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

// late carries out a decision that its own hook didn't, if its commit is found
// in the worktree's recent history. One whose commit was never made is dropped
// when a commit after it was (head), or when it is old.
func (r *Recorder) late(ctx context.Context, d Decision, head git.Commit) error {
	if _, err := readDecision(r.decisionPath(d)); err != nil {
		return nil // somebody else has done it meanwhile
	}
	commit, found := r.find(ctx, d)
	switch {
	case found:
		r.Recovered++
		r.belated = true
		defer func() { r.belated = false }()
		return r.applyElsewhere(ctx, d, commit)
	case head.OID != "", r.Env.Now().Sub(d.Created) > stale:
		return r.forget(d)
	default:
		return nil
	}
}

// find looks for the commit of a decision among the newest of its worktree.
func (r *Recorder) find(ctx context.Context, d Decision) (git.Commit, bool) {
	const newest = 30
	rev := "HEAD"
	switch {
	case d.ID == "":
		return git.Commit{}, false
	case d.Worktree == r.Repo.WorktreeID:
	case d.Worktree == "":
		rev = "main-worktree/HEAD"
	default:
		rev = "worktrees/" + d.Worktree + "/HEAD"
	}
	commits, err := r.Repo.Log(ctx, rev, newest)
	if err != nil {
		return git.Commit{}, false
	}
	for _, c := range commits {
		replaced := d.Amend && c.OID == d.Parent // not made yet: this is the commit that was to be replaced
		if !replaced && slices.Contains(checkpoint.IDs(c.Message), d.ID) {
			return c, true
		}
	}
	return git.Commit{}, false
}

// applyElsewhere applies a decision of any worktree of this repository: what
// is left to commit is seen in its own.
func (r *Recorder) applyElsewhere(ctx context.Context, d Decision, commit git.Commit) error {
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
