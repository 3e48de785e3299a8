package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// The names in a store's folder during a restore. Neither has a prefix that Sweep removes: the
// folder may have the only copy of the user's files.
const (
	journalFile   = "restoring.json"
	restoreFolder = "restoring"
	frozenFile    = "freezing" // the volume is frozen, or was when a process was killed
	journalFormat = 1
	pathsFormat   = 2 // of a restore of paths
)

// journal is the record that a restore writes before its first step.
type journal struct {
	Format  int           `json:"format"`
	Root    string        `json:"root"`
	Lineage string        `json:"lineage"`
	Target  bands.Version `json:"target"`
	// Former is the ID of the replaced volume. Where that volume is shows how far the restore got.
	Former  string         `json:"former"`
	Rescue  bands.Snapshot `json:"rescue"` // the snapshot that the former volume becomes
	Keep    []string       `json:"keep,omitempty"`
	Paths   bands.Paths    `json:"paths,omitempty"` // the restored paths; none: the whole volume
	Started time.Time      `json:"started_at"`
}

// RestoreOptions determine what a restore does.
type RestoreOptions struct {
	bands.Options

	// Message is the message of the snapshot that the present volume becomes.
	Message   string
	Causality bands.Causality
	// Keep are names in the volume's root that stay as they are now. They are copied, as reflinks
	// if the file system has them.
	Keep []string
	// Progress is called before each stage. RestorePaths calls Placed with the number of restored
	// paths and the number of those that differ. Both may be nil.
	Progress func(Stage)
	Placed   func(done, total int64)
}

// Stage is a part of a restore.
type Stage int

// The stages of a restore, in their order.
const (
	Cloning Stage = iota
	Replacing
)

// Restored is the result of a restore.
type Restored struct {
	Target bands.Snapshot
	// Rescue is the snapshot that the former volume became.
	Rescue bands.Snapshot
}

// Restore replaces the volume at Root by a copy of the snapshot v. The former volume itself becomes
// a snapshot, so that nothing is lost: neither earlier writes nor later ones of processes to files
// that they have open. It may be killed at any moment: Recover completes or cancels it. After an
// error before the replacement everything is as it was.
func Restore(h *bands.Held, d Driver, v bands.Version, o RestoreOptions) (done Restored, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("restore %s to %s: %w", o.Root, v, err)
		}
	}()
	set, err := h.ResolveOptions(o.Options)
	if err != nil {
		return Restored{}, err
	}
	target, err := h.Snapshot(v)
	if err != nil {
		return Restored{}, err
	}
	if target.Volume != d.Name() {
		return Restored{}, fmt.Errorf("%s: %w of the driver %s", v, ErrNotVolume, d.Name())
	}
	from := h.VolumeDir(v)
	if _, err := os.Lstat(from); err != nil {
		return Restored{}, fmt.Errorf("its files are missing: %w", errors.Join(bands.ErrDamaged, err))
	}
	if err := d.Check(set.Root); err != nil {
		return Restored{}, err
	}
	former, err := d.ID(set.Root)
	if err != nil {
		return Restored{}, err
	}
	parent, _, err := h.Lineage(set.Lineage).Latest()
	if err != nil {
		return Restored{}, err
	}
	next, err := h.Next(set.Lineage, 0)
	if err != nil {
		return Restored{}, err
	}
	now := set.Now().UTC()
	o.Causality.Restores = v
	r := restoring{Held: h, driver: d, journal: journal{
		Format: journalFormat, Root: set.Root, Lineage: set.Lineage, Target: v, Former: former, Keep: o.Keep, Started: now,
		Rescue: bands.Snapshot{
			Version: next.Version, Message: o.Message, Cause: bands.Rescue, Created: now, Parent: parent.Version,
			Root: set.Root, Lineage: set.Lineage, Volume: d.Name(), Causality: o.Causality,
		},
	}}
	err = disk.WriteJSON(r.Path(journalFile), r.journal)
	if err == nil {
		err = disk.Step("mkdir", r.folder())
	}
	if err == nil {
		err = os.Mkdir(r.folder(), 0o700)
	}
	if err == nil {
		if o.Progress != nil {
			o.Progress(Cloning)
		}
		err = r.clone(from)
	}
	if err != nil {
		return Restored{}, errors.Join(err, r.cancel())
	}
	if o.Progress != nil {
		o.Progress(Replacing)
	}
	if err := d.Exchange(set.Root, r.tree()); err != nil {
		if replaced, known := r.replaced(); known == nil && !replaced {
			return Restored{}, errors.Join(err, r.cancel())
		}
		return Restored{}, err // the next command finishes it
	}
	return Restored{Target: target, Rescue: r.journal.Rescue}, r.complete()
}

// restoring is one restore, from its journal to its end.
type restoring struct {
	*bands.Held

	driver  Driver
	journal journal
}

// folder has the clone, then the former volume; tree is the path of either.
func (r *restoring) folder() string { return r.Path(restoreFolder) }
func (r *restoring) tree() string   { return filepath.Join(r.folder(), bands.VolumeTree) }

// clone makes the volume that replaces the former one.
func (r *restoring) clone(from string) (err error) {
	if err := r.driver.Clone(from, r.tree()); err != nil || len(r.journal.Keep) == 0 {
		return err
	}
	into, done, err := r.driver.Edit(r.tree())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	for _, name := range r.journal.Keep {
		to := filepath.Join(into, name)
		if err := disk.Step("copy", to); err != nil {
			return err
		}
		if err := errors.Join(os.RemoveAll(to), copyTree(filepath.Join(r.journal.Root, name), to)); err != nil {
			return fmt.Errorf("keep %s: %w", name, err)
		}
	}
	return nil
}

// replaced reports whether the former volume has been replaced.
func (r *restoring) replaced() (bool, error) {
	id, err := r.driver.ID(r.tree())
	switch {
	case err == nil:
		return id == r.journal.Former, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil // the clone wasn't made yet
	}
	return false, err
}

// cancel undoes a restore that has not replaced the volume.
func (r *restoring) cancel() error {
	if _, err := os.Lstat(r.tree()); err == nil {
		if err := r.driver.Remove(r.tree()); err != nil {
			return err
		}
	}
	// A driver that had to close the volume to replace it opens it again.
	if err := r.driver.Open(r.journal.Root); err != nil {
		return err
	}
	return errors.Join(bands.RemoveAll(r.folder()), disk.Remove(r.Path(journalFile)))
}

// complete makes the former volume a snapshot.
func (r *restoring) complete() error {
	if !r.Has(r.journal.Rescue.Version) {
		if err := r.driver.Open(r.journal.Root); err != nil {
			return err
		}
		if err := r.driver.Seal(r.tree()); err != nil {
			return err
		}
		next := bands.Reservation{Version: r.journal.Rescue.Version, Lineage: r.journal.Lineage, Band: r.Reserved().Band}
		if err := publish(r.Held, r.journal.Rescue, next, r.folder()); err != nil {
			return err
		}
	}
	_ = r.Link(r.journal.Lineage, r.journal.Rescue.Version) // as in publish
	return disk.Remove(r.Path(journalFile))
}

// Recovered is the result of Recover.
type Recovered struct {
	Target bands.Version
	// Rescue is the snapshot that the former volume became; the zero one if the restore was
	// canceled.
	Rescue bands.Snapshot
	// Paths is the number of restored paths, if it was a restore of paths.
	Paths int
}

// String describes what was done.
func (r Recovered) String() string {
	if r.Paths > 0 {
		return fmt.Sprintf("completed the interrupted restore of %d paths to %s: the previous state is %s", r.Paths, r.Target, r.Rescue.Version)
	}
	if r.Rescue.Version == 0 {
		return fmt.Sprintf("canceled the interrupted restore to %s: nothing has changed", r.Target)
	}
	return fmt.Sprintf("completed the interrupted restore to %s: the previous state is %s", r.Target, r.Rescue.Version)
}

// Interrupted reports whether a restore, or a snapshot that stops all writes, has begun and not
// ended. While another process has the store's lock, the operation may still be running.
func Interrupted(s *bands.Store) bool {
	for _, name := range []string{journalFile, frozenFile} {
		if _, err := os.Lstat(s.Path(name)); err == nil {
			return true
		}
	}
	return false
}

// Recover ends the restore of a killed process: it completes it if the volume was replaced, else it
// cancels it. It returns false if there was none.
func Recover(h *bands.Held, d Driver) (Recovered, bool, error) {
	r := restoring{Held: h, driver: d}
	found, err := disk.ReadJSON(h.Path(journalFile), &r.journal)
	switch {
	case err != nil:
		return Recovered{}, false, fmt.Errorf("finish an interrupted restore: %s: %w", journalFile, err)
	case !found:
		return Recovered{}, false, nil
	case r.journal.Format != journalFormat && r.journal.Format != pathsFormat:
		return Recovered{}, false, fmt.Errorf("finish an interrupted restore: %s: format %d is from another version", journalFile, r.journal.Format)
	}
	done := Recovered{Target: r.journal.Target}
	if r.journal.Format == pathsFormat {
		done.Rescue, done.Paths = r.journal.Rescue, len(r.journal.Paths)
		target, err := r.Snapshot(r.journal.Target)
		var from View
		if err == nil {
			from, err = Open(r.Store, target)
		}
		if err == nil {
			err = errors.Join(r.place(from.Dir, nil), from.Close())
		}
		if errors.Is(err, bands.ErrNoSnapshot) || errors.Is(err, bands.ErrDamaged) {
			done.Paths, err = 0, nil // its snapshot is unusable: the rest isn't restored
		}
		if err != nil {
			return done, false, fmt.Errorf("finish the interrupted restore to %s: %w", done.Target, err)
		}
		return done, true, disk.Remove(r.Path(journalFile))
	}
	replaced := r.Has(r.journal.Rescue.Version)
	if !replaced {
		if replaced, err = r.replaced(); err != nil {
			return done, false, fmt.Errorf("finish the interrupted restore to %s: %w", done.Target, err)
		}
	}
	if replaced {
		done.Rescue, err = r.journal.Rescue, r.complete()
	} else {
		err = r.cancel()
	}
	if err != nil {
		return done, false, fmt.Errorf("finish the interrupted restore to %s: %w", done.Target, err)
	}
	return done, true, nil
}

// ExistingNames returns those of the names that the volume at root has.
func ExistingNames(root string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, err := os.Lstat(filepath.Join(root, name))
		return err != nil
	})
}
