package rewind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/btrfs"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// ForkWork is the work that was done in a fork.
type ForkWork struct {
	// Paths are uncommitted and differ from the fork's beginning.
	Paths []string
	// Sessions are the open sessions in the fork.
	Sessions []string
	// Head is the checked out commit. Detached reports that no branch is checked out, Branched that
	// a branch or tag contains the commit.
	Head               git.OID
	Detached, Branched bool
}

// Kept reports whether removing the fork's folder loses nothing.
func (w ForkWork) Kept() bool {
	return len(w.Paths) == 0 && len(w.Sessions) == 0 && (!w.Detached || w.Branched)
}

// at returns the workspace of a fork. The caller must close its Repo.
func at(w *workspace.Workspace, f Fork) (*workspace.Workspace, error) {
	repo, err := git.Discover(git.Locate{Dir: f.Dir, Getenv: w.Env.Getenv})
	if err != nil {
		return nil, err
	}
	if repo.CommonDir != w.Repo.CommonDir || repo.Root != f.Dir {
		return nil, errors.Join(fmt.Errorf("%s is no longer a worktree of this repository", f.Dir), repo.Close())
	}
	return w.At(repo), nil
}

// ReadForkWork determines the work that was done in a fork.
func ReadForkWork(ctx context.Context, w *workspace.Workspace, f Fork) (done ForkWork, err error) {
	if _, err := os.Lstat(f.Dir); errors.Is(err, fs.ErrNotExist) {
		return ForkWork{}, nil
	}
	there, err := at(w, f)
	if err != nil {
		return ForkWork{}, err
	}
	defer func() { err = errors.Join(err, there.Repo.Close()) }()
	states, failed := w.Sessions.All()
	for _, s := range states {
		phase := query.PhaseOf(s, w.Env.Alive)
		if s.WorktreePath == f.Dir && (phase == query.Active || phase == query.Idle) {
			done.Sessions = append(done.Sessions, s.ID)
		}
	}
	if err := errors.Join(failed...); err != nil {
		return done, err
	}
	if done.Head, err = there.Repo.ResolveRef("HEAD"); err != nil && !errors.Is(err, git.ErrMissing) {
		return done, err
	}
	branch, err := git.HeadBranch(ctx, there.Repo)
	if err != nil {
		return done, err
	}
	if done.Detached = branch == "" && done.Head != ""; done.Detached {
		out, err := w.Repo.Run(ctx, "for-each-ref", "--count=1", "--contains="+string(done.Head), "refs/heads/", "refs/tags/", "refs/remotes/")
		if err != nil {
			return done, err
		}
		done.Branched = len(out) > 0
	}
	done.Paths, err = changed(ctx, w, f, there)
	return done, err
}

// changed returns the paths that git reports as changed or new and that differ from the fork's
// beginning.
func changed(ctx context.Context, w *workspace.Workspace, f Fork, there *workspace.Workspace) (paths []string, err error) {
	status, err := git.Status(ctx, there.Repo)
	if err != nil || len(status) == 0 {
		return nil, err
	}
	began, err := readBeginning(w, f)
	if err != nil {
		return nil, err
	}
	if began != nil {
		defer func() { err = errors.Join(err, began.Bands.Close()) }()
	}
	for _, e := range status {
		if strings.HasPrefix(e.Path, ".entire/") || began != nil && began.has(f.Dir, e.Path) {
			continue
		}
		paths = append(paths, e.Path)
	}
	return paths, nil
}

// beginning is the snapshot that a fork was made of.
type beginning struct {
	*bands.ContentReader

	root band.Entry
}

// readBeginning opens the snapshot that a fork was made of. It returns nil if there was none or it no
// longer exists.
func readBeginning(w *workspace.Workspace, f Fork) (*beginning, error) {
	if f.Snapshot == 0 {
		return nil, nil //nolint:nilnil // no snapshot
	}
	store, err := tracking.OpenStore(w)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // everything that git reports counts then
	}
	s, err := store.Snapshot(f.Snapshot)
	if errors.Is(err, bands.ErrNoSnapshot) {
		return nil, nil //nolint:nilnil // thinned
	}
	if err != nil {
		return nil, err
	}
	ref, _ := s.Tree.Ref()
	reader, err := bands.OpenContent(store, s)
	if err != nil {
		return nil, err
	}
	return &beginning{reader, band.Entry{Kind: band.Dir, Content: ref}}, nil
}

// has reports whether a path of a fork is as it was in the beginning.
func (b *beginning) has(dir, path string) bool {
	e, err := band.LookupPath(b.Records, b.root.Content, strings.TrimSuffix(path, "/"))
	full := filepath.Join(dir, filepath.FromSlash(path))
	info, statErr := os.Lstat(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.Is(statErr, fs.ErrNotExist)
	case err != nil || statErr != nil:
		return false
	case e.Kind == band.Symlink:
		target, err := os.Readlink(full)
		return err == nil && target == e.Target
	case e.Kind != band.File || !info.Mode().IsRegular() || info.Size() != e.Size:
		return false
	case info.Mode().Perm()&0o100 != os.FileMode(e.Attr.Mode)&0o100:
		return false
	}
	f, err := os.Open(full)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return b.Same(f, &e)
}

// RemovedFork is the result of removing a fork.
type RemovedFork struct {
	// Saved is a snapshot of the fork's files, 0 if all of its work was kept elsewhere.
	Saved bands.Version
	// Kept is the fork's branch, empty if it was removed too because it had no commit of its own.
	Kept string
}

// RemoveFork removes the fork's worktree, and its branch if the branch has not moved. If work would be
// lost, it takes a snapshot before, provided that snapshots are enabled.
func RemoveFork(ctx context.Context, w *workspace.Workspace, f Fork, work ForkWork, progress func(bands.Progress)) (done RemovedFork, err error) {
	if len(work.Paths) > 0 || work.Detached && !work.Branched {
		if done.Saved, err = save(ctx, w, f, progress); err != nil {
			return done, err
		}
	}
	if err := takeBack(ctx, w, &f, progress); err != nil {
		return done, err
	}
	refs, err := git.ListRefs(ctx, w.Repo, "refs/heads/"+f.Branch)
	if err == nil && len(refs) > 0 {
		done.Kept = f.Branch
	}
	return done, err
}

// save takes a snapshot of a fork's files.
func save(ctx context.Context, w *workspace.Workspace, f Fork, progress func(bands.Progress)) (v bands.Version, err error) {
	there, err := at(w, f)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, there.Repo.Close()) }()
	store, err := tracking.SnapshotStore(w)
	if errors.Is(err, tracking.ErrNoBands) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	held, err := tracking.HoldStore(ctx, store, tracking.HoldWait)
	if err != nil {
		return 0, err
	}
	taken, err := tracking.TakeSnapshot(ctx, there, held, capture.TakeOptions{
		Cause: bands.Rescue, Message: "before the fork " + f.Name() + " was removed", Force: true, SkipUnchanged: true,
		Progress: progress,
	})
	return taken.Snapshot.Version, errors.Join(err, held.Release())
}

// takeBack removes the worktree of a fork, its branch if that has no commit of its own, and finally
// the record. It can be repeated after an interruption at any step.
func takeBack(ctx context.Context, w *workspace.Workspace, f *Fork, progress func(bands.Progress)) error {
	id := f.Worktree
	if id == "" {
		id = git.WorktreeAt(w.Repo, f.Dir)
	}
	if id == "" { // git has created neither the worktree nor the branch
		return remove(w, f)
	}
	admin := filepath.Join(w.Repo.CommonDir, "worktrees", id)
	if reason, err := os.ReadFile(filepath.Join(admin, "locked")); err == nil {
		return fmt.Errorf("%s is locked: %s", f.Dir, cmp.Or(strings.TrimSpace(string(reason)), "no reason is given"))
	}
	if f.Removing = true; f.Worktree == "" {
		f.Worktree = id
	}
	if err := write(w, f); err != nil {
		return err
	}
	// The folder is renamed first, so that a half removed tree never exists under the fork's name.
	aside := asideOf(f.Dir)
	if err := disk.Step("rename", f.Dir); err != nil {
		return err
	}
	if err := btrfs.RemoveTree(aside, nil); err != nil { // left by a process that was killed
		return err
	}
	if err := os.Rename(f.Dir, aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := disk.Step("remove-tree", aside); err != nil {
		return err
	}
	at := bands.Progress{Stage: "files"}
	err := btrfs.RemoveTree(aside, func() {
		at.Done++
		progress(at)
	})
	if err != nil {
		return err
	}
	if _, err := os.Lstat(admin); err == nil {
		if err := git.RemoveWorktree(ctx, w.Repo, f.Dir); err != nil {
			return err
		}
	}
	// A branch that has moved or is checked out elsewhere remains.
	ref := "refs/heads/" + f.Branch
	elsewhere, err := w.Repo.Run(ctx, "for-each-ref", "--format=%(worktreepath)", ref)
	if err != nil {
		return err
	}
	if strings.TrimSpace(string(elsewhere)) == "" {
		err = git.UpdateRefs(ctx, w.Repo, "entire fork: removed", []git.RefChange{{Name: ref, Old: f.Commit}})
		if err != nil && !errors.Is(err, git.ErrRefMoved) {
			return err
		}
	}
	return remove(w, f)
}

// asideOf returns the name of a fork's folder while it is created or removed.
func asideOf(dir string) string {
	return filepath.Join(filepath.Dir(dir), ".entire-removed-"+filepath.Base(dir))
}
