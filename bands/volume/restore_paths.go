package volume

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Differing returns the paths at and below paths that differ between a snapshot and a volume, in
// the form of Changed; nil paths are all.
func Differing(ctx context.Context, snapshot, live View, paths, hidden []string) ([]string, error) {
	if len(paths) == 0 {
		return Changed(ctx, snapshot, live, hidden...)
	}
	changed, err := Changed(ctx, snapshot, live)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, path := range paths {
		for _, at := range changed {
			switch {
			case at == path || strings.HasPrefix(at, path+"/"):
				list = append(list, at)
			case strings.HasPrefix(path, at+"/"): // only one of them has a folder above it
				list = append(list, path)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// RestorePaths makes the paths of a volume equal to the snapshot v. It copies each path, as a
// reflink if the file system has those, and replaces the present one in one step. It takes a
// snapshot before. If it is killed, Recover continues it; after an error the remaining paths are as
// they were.
func RestorePaths(ctx context.Context, h *bands.Held, d Driver, v bands.Version, paths []string, o RestoreOptions) (done Restored, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("restore %s to %s: %w", o.Root, v, err)
		}
	}()
	target, err := h.Snapshot(v)
	if err != nil {
		return done, err
	}
	from, err := Open(h.Store, target)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	differing, err := Differing(ctx, from, Live(d, o.Root), paths, o.Hidden)
	if err != nil {
		return done, err
	}
	o.Causality.Restores, o.Causality.RestoresPaths = v, true
	rescue, _, err := Take(h, d, TakeOptions{Options: o.Options, Message: o.Message, Cause: bands.Rescue, Causality: o.Causality, Force: true})
	if err != nil {
		return done, err
	}
	done.Target, done.Rescue = target, rescue
	r := restoring{Held: h, driver: d, journal: journal{
		Format: pathsFormat, Root: o.Root, Lineage: rescue.Lineage, Target: v, Rescue: rescue, Paths: differing, Started: rescue.Created,
	}}
	if o.Progress != nil {
		o.Progress(Cloning)
	}
	if err := disk.WriteJSON(r.Path(journalFile), r.journal); err != nil {
		return done, err
	}
	if o.Progress != nil {
		o.Progress(Replacing)
	}
	err = r.place(from.Dir, o.Placed)
	return done, errors.Join(err, disk.Remove(r.Path(journalFile)))
}

// place replaces the paths of the journal by copies.
func (r *restoring) place(from string, placed func(done, total int64)) error {
	for i, path := range r.journal.Paths {
		if placed != nil {
			placed(int64(i), int64(len(r.journal.Paths)))
		}
		if err := placeCopy(from, r.journal.Root, path); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return disk.SyncDir(r.journal.Root)
}

// placeCopy makes a path below root equal to the one below from, or removes it if from has none.
// Until its last steps it changes nothing at the path.
func placeCopy(from, root, path string) error {
	want, live := filepath.Join(from, path), filepath.Join(root, path)
	_, err := os.Lstat(want)
	gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
	if err != nil && !gone {
		return err
	}
	if err := foldersAbove(from, root, path, gone); err != nil {
		if gone && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(path)) // a hash never returns an error
	temp := filepath.Join(filepath.Dir(live), fmt.Sprintf(".entire-restoring-%x", sum.Sum64()))
	if err := disk.RemoveAll(temp); err != nil {
		return err
	}
	_, err = os.Lstat(live)
	isThere := err == nil
	switch {
	case gone && isThere:
		err = errors.Join(disk.Step("rename", live), os.Rename(live, temp))
	case gone:
		return nil
	default:
		if err := disk.Step("copy", temp); err != nil {
			return err
		}
		err = copyTree(want, temp)
		switch {
		case err != nil:
		case isThere:
			err = disk.Exchange(temp, live)
		default:
			err = errors.Join(disk.Step("rename", live), os.Rename(temp, live))
		}
	}
	return errors.Join(err, os.RemoveAll(temp))
}

// foldersAbove makes the missing folders above a path below root as they are below from, unless the
// path is to be removed. Another kind of file in their place is an error.
func foldersAbove(from, root, path string, gone bool) error {
	at := ""
	names := splitPath(path)
	for _, name := range names[:len(names)-1] {
		at = filepath.Join(at, name)
		info, err := os.Lstat(filepath.Join(root, at))
		switch {
		case err == nil && !info.IsDir():
			return fmt.Errorf("%s is not a folder: %w", at, fs.ErrExist)
		case err == nil:
			continue
		case gone || !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := errors.Join(disk.Step("mkdir", filepath.Join(root, at)), os.Mkdir(filepath.Join(root, at), 0o700)); err != nil {
			return err
		}
		if err := copyAttributes(filepath.Join(from, at), filepath.Join(root, at)); err != nil {
			return err
		}
	}
	return nil
}
