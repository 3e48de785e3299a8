package rewind

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/btrfs"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

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
