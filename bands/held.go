package bands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/btrfs"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Held is a store that this process has locked.
type Held struct {
	*Store

	lock *disk.Lock
}

// Hold takes the store's lock. It waits until ctx ends; the error is then disk.ErrLocked. If
// the store was removed meanwhile the error is ErrNoStore, and the store is not created again.
func (s *Store) Hold(ctx context.Context) (*Held, error) {
	if _, err := os.Stat(s.Path(InfoFile)); err != nil {
		return nil, fmt.Errorf("lock store %s: %w", s.dir, ErrNoStore)
	}
	lock, err := disk.AcquireLock(ctx, s.Path(lockFile))
	if err != nil {
		return nil, fmt.Errorf("lock store: %w", err)
	}
	if _, err := os.Stat(s.Path(InfoFile)); err != nil {
		return nil, errors.Join(fmt.Errorf("lock store %s: %w", s.dir, ErrNoStore), lock.Unlock())
	}
	return &Held{Store: s, lock: lock}, nil
}

// Release releases the lock.
func (h *Held) Release() error { return h.lock.Unlock() }

// SetInfo writes store.json. Linking is kept; Driver determines the format.
func (h *Held) SetInfo(info Info) error {
	if err := h.writeInfo(info); err != nil {
		return fmt.Errorf("describe store: %w", err)
	}
	return nil
}

// Sweep removes the leftovers of killed processes.
func (h *Held) Sweep() error {
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		return fmt.Errorf("sweep store: %w", err)
	}
	var failed []error
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, MakingPrefix) || strings.HasPrefix(name, RemovedPrefix) ||
			strings.HasSuffix(name, TempSuffix) || strings.Contains(name, TempPrefix) {
			failed = append(failed, RemoveAll(h.Path(name)))
		}
	}
	return errors.Join(failed...)
}

// DropCaches removes the files that only speed up snapshots. The next snapshot reads everything,
// and stores again what is missing or damaged in the store.
func (h *Held) DropCaches() error {
	if err := band.ResetDedupe(h.Path(DedupeFile)); err != nil {
		return err
	}
	return h.dropStatCaches()
}

// dropStatCaches makes the next snapshot of each lineage read everything.
func (h *Held) dropStatCaches() error {
	entries, err := os.ReadDir(h.dir)
	if err != nil {
		return fmt.Errorf("drop caches: %w", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), StatPrefix) {
			continue
		}
		if err := disk.Remove(h.Path(e.Name())); err != nil {
			return fmt.Errorf("drop caches: %w", err)
		}
	}
	return nil
}

// RemoveAll removes a path and everything below it, in a step at which a test can stop. The
// folder of a snapshot may contain a subvolume.
func RemoveAll(path string) error {
	tree := filepath.Join(path, VolumeTree)
	// path may be a link to a snapshot that Link was creating; it must not be followed.
	if info, err := os.Lstat(path); err == nil && info.IsDir() && btrfs.IsSubvolume(tree) {
		if err := btrfs.Remove(tree); err != nil {
			return err
		}
	}
	return disk.RemoveAll(path)
}

// Hardlink adds a name to a band. The number of links to a file is limited: at the limit, a copy
// replaces the band and gets the new name.
func (h *Held) Hardlink(from, to string) error {
	if err := disk.Step("link", to); err != nil {
		return err
	}
	err := os.Link(from, to)
	if !errors.Is(err, syscall.EMLINK) {
		return err
	}
	fresh := from + TempSuffix
	if err := disk.Remove(fresh); err != nil {
		return err
	}
	if err := disk.CopyFile(from, fresh); err != nil {
		return err
	}
	if err := disk.SyncFiles([]string{fresh}, nil); err != nil {
		return err
	}
	if err := disk.Rename(fresh, from); err != nil {
		return err
	}
	if err := disk.Step("link", to); err != nil {
		return err
	}
	return os.Link(from, to)
}

// TempPrefix begins the names of files that a restore is writing; 16 hex digits follow.
const TempPrefix = ".entire-tmp-"

// IsTemp reports whether the name is one of these.
func IsTemp(name string) bool {
	digits, ok := strings.CutPrefix(name, TempPrefix)
	return ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == ""
}
