package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/btrfs"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Init makes the store called name for the directory root, which it creates if it doesn't exist,
// and names the store in root's .agentfs. Size 0 is the one of config.toml, if it has one. The
// store is active and has no snapshot.
func (r *Registry) Init(ctx context.Context, name, root string, size int64) (Entry, error) {
	if err := CheckName(name); err != nil {
		return Entry{}, err
	}
	root, err := r.checkRoot(root)
	if err != nil {
		return Entry{}, err
	}
	var made Entry
	err = r.alone(ctx, func() error {
		made, err = maker{Registry: r}.initAlone(ctx, name, root, size)
		return err
	})
	return made, err
}

// InitVolume is Init for a root that becomes a volume of the driver: a folder that doesn't exist,
// an empty one, or an existing volume. size is that of the volume, 0 for the default; not every
// driver needs it. If the driver doesn't work there, the error is a volume.MissingError, and
// nothing was made.
func (r *Registry) InitVolume(ctx context.Context, name, root, driver string, size int64) (Entry, error) {
	if err := CheckName(name); err != nil {
		return Entry{}, err
	}
	root, err := r.checkRoot(root)
	if err != nil {
		return Entry{}, err
	}
	var made Entry
	err = r.alone(ctx, func() (err error) {
		cfg, err := r.placeConfig()
		if err != nil {
			return err
		}
		if size == 0 && volume.Contained(driver) {
			size = cfg.DefaultSize
		}
		if err := sweepProbes(ctx, cfg.BasePath); err != nil {
			return err
		}
		d, ok := volume.Named(driver, volume.Place{Store: volume.StoreDir(cfg.BasePath, driver, name), Size: size})
		if !ok {
			return &volume.MissingError{Driver: driver, Err: errors.ErrUnsupported}
		}
		if err := d.Missing(root, cfg.BasePath); err != nil {
			return &volume.MissingError{Driver: d.Name(), Err: err}
		}
		if volume.UsesPool(driver) {
			if err := errors.Join(makeFolder(cfg.BasePath), volume.MakePool(ctx, cfg.BasePath, size)); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, volume.ClosePool(cfg.BasePath)) }() // only if it has no stores
		}
		made, err = maker{Registry: r, driver: d}.initAlone(ctx, name, root, size)
		return err
	})
	return made, err
}

// Manage makes the existing directory dir the tree of a new store, in place. An empty name means
// dir's own, with -2, -3 and so on if that is taken. If dir's .agentfs names a store whose tree
// is missing, dir has been moved and becomes that store's tree. It also becomes the tree of a store
// whose tree was at dir before another directory replaced it.
func (r *Registry) Manage(ctx context.Context, dir, name string, size int64) (Entry, error) {
	root, err := r.checkRoot(dir)
	if err != nil {
		return Entry{}, err
	}
	if info, err := os.Stat(root); err != nil {
		return Entry{}, err
	} else if !info.IsDir() {
		return Entry{}, fmt.Errorf("%s is not a directory", root)
	}
	if name != "" {
		if err := CheckName(name); err != nil {
			return Entry{}, err
		}
	}
	var made Entry
	err = r.alone(ctx, func() error {
		made, err = maker{Registry: r}.manageAlone(ctx, root, name, size)
		return err
	})
	return made, err
}

// maker makes stores and assigns trees to them; the registry's lock is held.
type maker struct {
	*Registry

	driver volume.Driver // of volumes; nil for trees
}

func (m maker) manageAlone(ctx context.Context, root, name string, size int64) (Entry, error) {
	if e, ok := m.named(ctx, root); ok && (name == "" || name == e.Name) && isMissing(e.Root) {
		if is := disk.Identity(root); name == "" && e.RootID != "" && is != "" && is != e.RootID {
			return Entry{}, &movedError{root, e.Name, e.Root}
		}
		return m.change(ctx, e.Dir, func(info *bands.Info) { info.Root, info.RootID = root, disk.Identity(root) })
	}
	// Another directory may have replaced the tree of a store.
	replaced := func(_ string, e Entry) bool { return e.Root == root && e.Replaced() }
	if e, ok, err := m.find(replaced); err != nil || ok && (name == "" || name == e.Name) {
		if err != nil {
			return Entry{}, err
		}
		if e, err = m.change(ctx, e.Dir, func(info *bands.Info) { info.RootID = disk.Identity(root) }); err != nil {
			return Entry{}, err
		}
		return e, writeContext(root, e.Name)
	}
	if name != "" {
		return m.initAlone(ctx, name, root, size)
	}
	base, err := m.base()
	if err != nil {
		return Entry{}, err
	}
	taken, err := m.taken(base, "")
	if err != nil {
		return Entry{}, err
	}
	return m.initAlone(ctx, freeName(nameFrom(filepath.Base(root)), taken), root, size)
}

// movedError is a directory whose .agentfs names a store with a missing tree, and which isn't that
// tree: the .agentfs may have been copied with other files.
type movedError struct{ root, name, was string }

func (e *movedError) Error() string {
	return fmt.Sprintf("%s names the store %s, whose folder %s is missing, but this is not that folder renamed",
		filepath.Join(e.root, ContextFile), e.name, e.was)
}

// Hint describes how to assign the directory to the store nevertheless.
func (e *movedError) Hint() string {
	return fmt.Sprintf("to make it that store's folder, add --name %s; for a new store, delete the file", e.name)
}

// find returns the first store for which is returns true; base is the folder of named stores.
func (m maker) find(is func(base string, e Entry) bool) (Entry, bool, error) {
	base, err := m.base()
	if err != nil {
		return Entry{}, false, err
	}
	dirs, err := m.list().dirs(base)
	if err != nil {
		return Entry{}, false, err
	}
	list, _ := loadEntries(dirs) // an unreadable one belongs to another user
	for _, e := range list {
		if is(base, e) {
			return e, true, nil
		}
	}
	return Entry{}, false, nil
}

// checkOutside returns an error if a volume at root, or the folder dir of its store, is in another volume.
func (m maker) checkOutside(root, dir string) error {
	if m.driver == nil {
		return nil
	}
	outer, is, err := m.find(func(_ string, e Entry) bool {
		return e.Driver != "" && (pathWithin(root, e.Root) || pathWithin(disk.Physical(dir), e.Root))
	})
	if is {
		err = fmt.Errorf("%w: %s belongs to store '%s'", ErrInVolume, outer.Root, outer.Name)
	}
	return err
}

// named returns the store that root's own .agentfs names.
func (r *Registry) named(ctx context.Context, root string) (Entry, bool) {
	name, found, err := readContext(root)
	if err != nil || !found {
		return Entry{}, false
	}
	e, err := r.findNamed(ctx, root, name)
	return e, err == nil
}

func (m maker) initAlone(ctx context.Context, name, root string, size int64) (Entry, error) {
	cfg, err := m.placeConfig()
	if err == nil && cfg.BasePath == "" {
		err = ErrNoHome
	}
	if err != nil {
		return Entry{}, err
	}
	if size == 0 && m.driver == nil {
		size = cfg.DefaultSize
	}
	taken, err := m.taken(cfg.BasePath, "")
	if err != nil {
		return Entry{}, err
	}
	dir := filepath.Join(cfg.BasePath, name)
	if m.driver != nil {
		dir = volume.StoreDir(cfg.BasePath, m.driver.Name(), name)
	}
	if e, ok := unfinished(dir, root); ok {
		return m.finish(ctx, e)
	}
	if taken[name] {
		return Entry{}, fmt.Errorf("%w: %s", ErrNameTaken, name)
	}
	if e, ok := m.named(ctx, root); ok && e.Root == root {
		return Entry{}, fmt.Errorf("%w: %s is the tree of %s", ErrRootTaken, root, e.Name)
	}
	if err := m.checkOutside(root, dir); err != nil {
		return Entry{}, err
	}
	unmake, err := makeTree(root)
	if err != nil {
		return Entry{}, err
	}
	now := m.Now().UTC().Truncate(time.Second)
	info := bands.Info{Name: name, Root: root, Size: size, Created: now, Mounted: &now}
	if m.driver != nil {
		info.Driver = m.driver.Name()
	} else {
		info.RootID = disk.Identity(root)
	}
	e, err := m.make(ctx, dir, info)
	made := e.Dir != ""
	if err == nil && m.driver != nil {
		e, err = m.makeVolume(ctx, e)
	}
	if err == nil {
		err = writeContext(root, name)
	}
	if err == nil {
		return e, nil
	}
	if made { // undo it even after Ctrl-C
		ctx = context.WithoutCancel(ctx)
		if m.driver != nil {
			err = errors.Join(err, m.driver.Close(root, true))
		}
		err = errors.Join(err, removeStore(ctx, dir), m.list().remove(dir))
		m.Rows().drop(ctx, bands.StoreID(dir))
	}
	return Entry{}, errors.Join(err, unmake())
}

// finish completes a store whose init was killed.
func (m maker) finish(ctx context.Context, e Entry) (_ Entry, err error) {
	// It was killed while the folder was replaced, or couldn't undo that.
	if _, err := makeTree(e.Root); err != nil {
		return Entry{}, err
	}
	if m.driver != nil && m.driver.Name() == e.Driver {
		e, err = m.makeVolume(ctx, e)
	} else if e.Driver == "" && e.Replaced() {
		e, err = m.change(ctx, e.Dir, func(info *bands.Info) { info.RootID = disk.Identity(e.Root) })
	}
	if err != nil {
		return Entry{}, err
	}
	return e, writeContext(e.Root, e.Name)
}

// makeVolume makes the folder of a new store a volume, and records the folder's identity if the
// volume is a folder of its own.
func (m maker) makeVolume(ctx context.Context, e Entry) (Entry, error) {
	if err := m.driver.Create(e.Root); err != nil {
		return Entry{}, err
	}
	if volume.Contained(e.Driver) {
		return e, nil
	}
	return m.change(ctx, e.Dir, func(info *bands.Info) { info.RootID = disk.Identity(e.Root) })
}

// unfinished returns the store in dir if an init for root was killed before its last step: it has
// no snapshots, and root has no .agentfs.
func unfinished(dir, root string) (Entry, bool) {
	s, err := bands.Open(dir)
	if err != nil {
		return Entry{}, false
	}
	e, err := entry(s)
	versions, bad := s.Versions()
	return e, errors.Join(err, bad) == nil && e.Root == root && len(versions) == 0 && isMissing(filepath.Join(root, ContextFile))
}

// makeTree creates the project's directory, with mode 0755 as it is the user's. unmake removes the
// folders that it created.
func makeTree(root string) (unmake func() error, err error) {
	var made []string // the lowest first
	for dir := root; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return nil, fmt.Errorf("%s is not a directory", dir)
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		made = append(made, dir)
	}
	unmake = func() error {
		for _, dir := range made {
			if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err // the user has put files there
			}
		}
		return nil
	}
	if len(made) == 0 {
		return unmake, nil
	}
	if err := disk.Step("mkdir", root); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, errors.Join(err, unmake())
	}
	return unmake, nil
}

// checkRoot returns root, absolute and without symbolic links, if it may be a tree.
func (r *Registry) checkRoot(root string) (string, error) {
	root = expandHome(root, r.UserHome)
	if !filepath.IsAbs(root) {
		return "", fmt.Errorf("%s: the path must be absolute", root)
	}
	root = disk.Physical(filepath.Clean(root))
	if err := bands.CheckRoot(root, r.UserHome); err != nil {
		return "", err
	}
	if r.Home == "" {
		return root, nil
	}
	home := disk.Physical(r.Home)
	if root == home || pathWithin(root, filepath.Join(home, "stores")) {
		return "", fmt.Errorf("%w: %s belongs to the registry", bands.ErrRefusedRoot, root)
	}
	return root, nil
}

// pathWithin reports whether path is dir or below it; both are clean.
func pathWithin(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func isMissing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// make makes a store in the folder dir, completely or not at all, and records it. The caller holds
// the registry's lock. It returns fs.ErrExist if dir has entries.
func (m maker) make(ctx context.Context, dir string, info bands.Info) (Entry, error) {
	above := filepath.Dir(dir)
	if err := makeFolder(above); err != nil {
		return Entry{}, err
	}
	sweepMade(above)
	if err := disk.Step("mkdir", dir); err != nil {
		return Entry{}, err
	}
	temp, err := os.MkdirTemp(above, newStorePrefix+"*")
	if err != nil {
		return Entry{}, err
	}
	store := filepath.Join(temp, "store")
	if err = complete(ctx, store, info); err == nil {
		err = disk.Rename(store, dir)
	}
	if err = errors.Join(err, os.RemoveAll(temp)); err != nil {
		return Entry{}, fmt.Errorf("make store %s: %w", dir, err)
	}
	e, err := loadEntry(dir)
	if err != nil {
		return Entry{}, err
	}
	m.Rows().note(ctx, e)
	return e, m.list().add(e.Dir)
}

const (
	newStorePrefix = ".new-"
	oldStorePrefix = ".deleted-"
)

// sweepMade removes stores from the folder that killed processes had not finished making or
// deleting. The caller holds the registry's lock, so no process uses them.
func sweepMade(folder string) {
	for _, prefix := range []string{newStorePrefix, oldStorePrefix} {
		for _, dir := range disk.Glob(folder, prefix+"*") {
			if disk.Step("remove", dir) == nil {
				_ = removeFolder(dir) // the next call tries again
			}
		}
	}
}

// sweepProbes removes leftovers of drivers' probes of killed processes: in the folder of stores, or
// in its parent, if it didn't exist. The caller holds the registry's lock.
func sweepProbes(ctx context.Context, base string) error {
	return errors.Join(volume.SweepProbes(ctx, base), volume.SweepProbes(ctx, filepath.Dir(base)))
}

// removeFolder removes the folder of a store, with the volumes of its snapshots.
func removeFolder(dir string) error {
	store := bands.At(filepath.Join(dir, "store"))
	if live := store.Path(volume.PoolVolume); btrfs.IsSubvolume(live) {
		if err := btrfs.Remove(live); err != nil {
			return err
		}
	}
	for _, above := range []string{store.Dir(), store.Path(bands.SnapshotsFolder)} {
		entries, _ := os.ReadDir(above) // an incomplete store has none
		for _, e := range entries {
			if at := filepath.Join(above, e.Name()); e.IsDir() && !isMissing(filepath.Join(at, bands.VolumeTree)) {
				if err := bands.RemoveAll(at); err != nil {
					return err
				}
			}
		}
	}
	return os.RemoveAll(dir)
}
