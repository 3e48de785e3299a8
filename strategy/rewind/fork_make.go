package rewind

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/btrfs"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// MadeFork is a new fork.
type MadeFork struct {
	Fork

	// Files counts files, symlinks and folders; it is 0 if git checked them out.
	Files int
	// Failed are paths that could not be written. Unknown are paths that the snapshot lacks.
	Failed  []restore.Failure
	Unknown []string
	// Severed are repositories inside the worktree whose .git is a file: submodules and worktrees.
	// Two working trees with one index would destroy each other's state, so the fork has their
	// files but not the .git file.
	Severed []string
}

// ErrForkExists means that the fork's folder is not empty.
var ErrForkExists = errors.New("already exists and isn't empty")

// MakeFork creates a fork: a worktree in the folder dir, an absolute path, on a new branch. The index
// is that of the commit: nothing is staged. If it fails or ctx ends, everything is removed again. A
// process that is killed leaves a record with which [Remover.Remove] does so. The result lists the
// paths that failed.
func MakeFork(ctx context.Context, w *workspace.Workspace, m ForkMoment, dir, branch string, progress func(bands.Progress)) (MadeFork, error) {
	if !git.ValidBranch(branch) {
		return MadeFork{}, fmt.Errorf("%q is not a valid branch name", branch)
	}
	refs, err := git.ListRefs(ctx, w.Repo, "refs/heads/"+branch)
	if err != nil {
		return MadeFork{}, err
	}
	if len(refs) > 0 {
		return MadeFork{}, fmt.Errorf("the branch %s already exists", branch)
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return MadeFork{}, err
	}
	if len(entries) > 0 {
		return MadeFork{}, fmt.Errorf("%s %w", dir, ErrForkExists)
	}
	self := session.Process{PID: os.Getpid()}
	if info, ok := proc.Inspect(self.PID); ok {
		self.Start = info.Start
	}
	made := MadeFork{Fork: Fork{
		Dir: dir, Branch: branch, Commit: m.Commit, From: w.Repo.Root, Snapshot: m.Snapshot.Version, Moment: m.Message,
		Session: m.Session, Turn: m.Turn, Date: m.Date.UTC(), Created: w.Env.Now().UTC(), Maker: self,
	}}
	if err := write(w, &made.Fork); err != nil {
		return MadeFork{}, err
	}
	err = fill(ctx, w, m, &made, progress)
	if err == nil {
		made.Maker.PID, made.Maker.Start = 0, 0
		err = write(w, &made.Fork)
	}
	if err != nil {
		return MadeFork{}, errors.Join(err, takeBack(context.WithoutCancel(ctx), w, &made.Fork, progress))
	}
	return made, nil
}

// fill creates the worktree and its files.
func fill(ctx context.Context, w *workspace.Workspace, m ForkMoment, made *MadeFork, progress func(bands.Progress)) error {
	id, err := git.AddWorktree(ctx, w.Repo, made.Dir, made.Branch, m.Commit, m.Snapshot.Version == 0)
	if err != nil {
		return err
	}
	made.Worktree = id
	if err := write(w, &made.Fork); err != nil {
		return err
	}
	there, err := git.Discover(git.Locate{Dir: made.Dir, Getenv: w.Env.Getenv})
	if err != nil {
		return err
	}
	defer func() { _ = there.Close() }()
	if m.Snapshot.Version != 0 {
		err = exportTree(ctx, w, m, made, progress)
		if err == nil {
			progress(bands.Progress{Stage: "index"})
			err = errors.Join(git.ResetIndex(ctx, there), git.CheckoutTracked(ctx, there, ".entire"))
		}
	} else if m.Shadow != "" {
		err = git.RestoreFrom(ctx, there, m.Shadow, ".entire")
	}
	if err != nil {
		return err
	}
	// Snapshots don't contain the settings of this worktree.
	ignored := filepath.Join(w.Repo.Root, ".entire", ".gitignore")
	for _, from := range []string{settings.ProjectFile(w.Repo.Root), settings.LocalFile(w.Repo.Root), ignored} {
		data, err := disk.ReadFile(from)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		to := filepath.Join(made.Dir, ".entire", filepath.Base(from))
		if err == nil {
			err = disk.MkdirAll(filepath.Dir(to), 0o755)
		}
		if err == nil {
			err = disk.WriteCache(to, data, 0o644)
		}
		if err != nil {
			return fmt.Errorf("settings of the fork: %w", err)
		}
	}
	return nil
}

// exportTree writes the snapshot's files, unless the file system can take a snapshot of this worktree.
// If the file system shares blocks, files that this worktree has too are cloned from it.
func exportTree(ctx context.Context, w *workspace.Workspace, m ForkMoment, made *MadeFork, progress func(bands.Progress)) error {
	if done, err := snapshotVolume(ctx, w, m, made); done || err != nil {
		return err
	}
	store, err := tracking.OpenStore(w)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	o := restore.ExportOptions{
		Over: []string{".git"}, Progress: progress,
		Skip: func(path string, e *band.Entry) bool {
			if e.Kind != band.File || band.BasePath(path) != ".git" {
				return false
			}
			mu.Lock()
			defer mu.Unlock()
			made.Severed = append(made.Severed, band.ParentPath(path))
			return true
		},
	}
	if store.Linking() == disk.Reflink && m.Snapshot.Lineage == tracking.Lineage(w) {
		if o.Clones, err = clones(ctx, w, store, m); err != nil {
			return err
		}
		if present := o.Clones.Present; present != nil {
			defer func() { _ = present.Close() }()
		}
	}
	done, err := restore.Export(ctx, store, m.Snapshot, made.Dir, o)
	if err != nil && !errors.Is(err, restore.ErrIncomplete) {
		return err
	}
	slices.Sort(made.Severed)
	made.Files, made.Failed, made.Unknown = done.Files, done.Failed, done.Unknown
	return nil
}

// clones returns this worktree as the source of clones. The worktree is scanned unless the moment
// is now: then its snapshot was taken just before.
func clones(ctx context.Context, w *workspace.Workspace, store *bands.Store, m ForkMoment) (from *restore.CloneSource, err error) {
	from = &restore.CloneSource{Root: w.Repo.Root, Read: m.read}
	if from.Read.At != 0 {
		return from, nil
	}
	if from.Read, err = stamp(w, store); err != nil {
		return nil, err
	}
	from.Present, err = capture.Scan(ctx, store, tracking.TreeOptions(w))
	return from, err
}

// stamp returns the time of the file system of this worktree.
func stamp(w *workspace.Workspace, store *bands.Store) (bands.Stamp, error) {
	set, err := store.ResolveOptions(tracking.TreeOptions(w))
	if err != nil {
		return bands.Stamp{}, err
	}
	return store.Stamp(set)
}

// snapshotVolume replaces the fork's folder with a snapshot of this worktree, if that is a
// subvolume of Btrfs, the folder is in the same one, and the moment is now. The cost doesn't depend
// on the number of files. If it isn't possible it returns false and changes nothing.
//
// The snapshot is first created beside the folder, under a name that takeBack removes.
func snapshotVolume(ctx context.Context, w *workspace.Workspace, m ForkMoment, made *MadeFork) (bool, error) {
	root, aside := w.Repo.Root, asideOf(made.Dir)
	if m.read.At == 0 || !btrfs.IsSubvolume(root) {
		return false, nil
	}
	if nested, err := btrfs.Nested(root); err != nil || len(nested) > 0 {
		return false, nil //nolint:nilerr // the files are written one by one
	}
	link, err := os.ReadFile(filepath.Join(made.Dir, ".git"))
	if err != nil {
		return false, err
	}
	if err := btrfs.RemoveTree(aside, nil); err != nil {
		return false, err
	}
	err = btrfs.Snapshot(root, aside, btrfs.Writable)
	if errors.Is(err, syscall.EXDEV) || errors.Is(err, fs.ErrPermission) || errors.Is(err, btrfs.ErrNotBtrfs) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if made.Severed, err = detach(ctx, aside, link); err != nil {
		return false, err
	}
	if err := disk.Exchange(aside, made.Dir); err != nil {
		return false, err
	}
	made.Files = int(m.Snapshot.Totals.Files + m.Snapshot.Totals.Dirs)
	return true, btrfs.RemoveTree(aside, nil)
}

// detach turns a copy of a worktree at dir into one whose .git is the given link. It removes the
// copy's .git and .entire, and each .git below that is not a folder. It returns the folders that
// contained the latter.
func detach(ctx context.Context, dir string, link []byte) (severed []string, err error) {
	for _, name := range []string{".git", ".entire"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	root, err := dirfd.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if severed, err = volume.RemoveLinks(ctx, root); err != nil {
		return nil, err
	}
	f, err := root.Create(".git", 0o644)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(link)
	return severed, errors.Join(err, f.Close())
}
