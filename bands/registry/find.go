package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/catalog"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// ContextFile is a file that names the store of its directory and all below it.
const ContextFile = ".agentfs"

// base returns the folder of named stores. Bad values of other keys are not an error; for a hook,
// no bad value is.
func (r *Registry) base() (string, error) {
	cfg, bad := readConfig(r.Home, r.UserHome)
	bad = slices.DeleteFunc(bad, func(err error) bool {
		e, ok := errors.AsType[*ConfigError](err)
		return ok && e.Key != "" && e.Key != "stores" && e.Key != "stores.base_path"
	})
	err := errors.Join(bad...)
	if err != nil && r.Defaults != nil {
		r.Defaults(err)
		err = nil
	}
	return cfg.BasePath, err
}

// Find returns the store called name, or the one in the folder name if that has a slash (absolute,
// or with ~/). It returns ErrNoStore if there is none.
func (r *Registry) Find(ctx context.Context, name string) (Entry, error) {
	if strings.ContainsAny(name, `/`+string(filepath.Separator)) {
		path := expandHome(name, r.UserHome)
		if !filepath.IsAbs(path) {
			return Entry{}, fmt.Errorf("%w: %s: the path must be absolute", bands.ErrNoStore, path)
		}
		e, err := loadEntry(filepath.Clean(path))
		if err != nil {
			return Entry{}, fmt.Errorf("store %s: %w", path, err)
		}
		return e, nil
	}
	if err := CheckName(name); err != nil {
		return Entry{}, fmt.Errorf("%w: %w", bands.ErrNoStore, err)
	}
	base, err := r.base()
	if err != nil {
		return Entry{}, err
	}
	// Most stores are found by their folder's name; the rest is for stores in repositories.
	if e, err := loadEntry(filepath.Join(base, name)); base != "" && err == nil && e.Name == name {
		return e, nil
	}
	if e, ok := r.Rows().find(ctx, name); ok {
		return e, nil
	}
	dirs, err := r.list().dirs(base)
	if err != nil {
		return Entry{}, err
	}
	list, bad := loadEntries(dirs)
	for _, e := range list {
		if e.Name == name {
			return e, nil
		}
	}
	return Entry{}, errors.Join(fmt.Errorf("%w: %s", bands.ErrNoStore, name), bad)
}

// FindFor returns the store for the working directory cwd: the one that the nearest .agentfs at or
// above cwd names, else the one in the folder own (a repository's, see RepositoryDir; "" for none),
// else one whose volume would be mounted at or above cwd, else ErrNoContext. It returns volume.ErrNotOpen
// if that volume's store can't be read either, and ErrNoStore if the .agentfs names none, or, as a ContextError, one
// that a .agentfs there may not name.
func (r *Registry) FindFor(ctx context.Context, cwd, own string) (Entry, error) {
	for dir := filepath.Clean(cwd); ; dir = filepath.Dir(dir) {
		name, found, err := readContext(dir)
		if err != nil {
			return Entry{}, err
		}
		if found {
			return r.findNamed(ctx, dir, name)
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	e, err := Own(own)
	if errors.Is(err, ErrNoContext) {
		if hidden, found := r.hidden(ctx, filepath.Clean(cwd)); found {
			return hidden, nil
		}
		if path, found := r.inClosedPool(ctx, filepath.Clean(cwd)); found {
			return Entry{}, fmt.Errorf("%s: %w", path, volume.ErrNotOpen)
		}
	}
	return e, err
}

// hidden returns the store whose volume isn't mounted at or above a directory: its .agentfs is in the
// volume.
func (r *Registry) hidden(_ context.Context, cwd string) (Entry, bool) {
	e, found, err := (maker{Registry: r}).find(func(base string, e Entry) bool {
		return volume.Contained(e.Driver) && isNamed(base, e) && pathWithin(disk.Physical(cwd), disk.Physical(e.Root))
	})
	return e, found && err == nil
}

// inClosedPool returns the root of a store of the pool at or above a directory, if the pool isn't
// mounted: its stores are known only from the catalog then.
func (r *Registry) inClosedPool(ctx context.Context, cwd string) (root string, found bool) {
	base, err := r.base()
	if err != nil || base == "" || !volume.PoolClosed(base) {
		return "", false
	}
	_ = r.Rows().with(ctx, func(c *catalog.Catalog) error {
		rows, err := c.Stores(ctx)
		for _, row := range rows {
			if filepath.Dir(row.Dir) == volume.StoreDir(base, volume.PoolDriver, "") && pathWithin(disk.Physical(cwd), disk.Physical(row.Root)) {
				root, found = row.Root, true
			}
		}
		return err
	})
	return root, found
}

// Own returns the store in the folder own of a repository, or ErrNoContext if there is none.
func Own(own string) (Entry, error) {
	if own == "" {
		return Entry{}, ErrNoContext
	}
	e, err := loadEntry(own)
	if errors.Is(err, bands.ErrNoStore) {
		return Entry{}, ErrNoContext
	}
	return e, err
}

// ContextError is a .agentfs that names a store that it may not name. Any user who can write to a
// folder can put one there, and a repository can contain both a .agentfs and a store whose record
// claims another folder.
type ContextError struct {
	File string
	Name string // the named store
	Why  string
}

func (e *ContextError) Error() string {
	return fmt.Sprintf("%s: refused the store %q: %s", e.File, e.Name, e.Why)
}

// Unwrap returns bands.ErrNoStore.
func (e *ContextError) Unwrap() error { return bands.ErrNoStore }

// findNamed returns the store that the .agentfs in dir names. The store must be registered. If the
// name is a path, the store's tree must contain dir. The .agentfs and the store must belong to the
// user.
func (r *Registry) findNamed(ctx context.Context, dir, name string) (Entry, error) {
	file := filepath.Join(dir, ContextFile)
	refused := func(format string, args ...any) (Entry, error) {
		return Entry{}, &ContextError{File: file, Name: name, Why: fmt.Sprintf(format, args...)}
	}
	if !disk.Owned(file) {
		return refused("%s belongs to another user", file)
	}
	path := expandHome(name, r.UserHome)
	isPath := strings.Contains(path, "/")
	if isPath && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if isPath && !r.registers(path) && !isMissing(filepath.Join(path, bands.InfoFile)) {
		return refused("it was not created on this machine")
	}
	e, err := r.Find(ctx, path)
	if err != nil {
		return Entry{}, fmt.Errorf("named in %s: %w", file, err)
	}
	for _, own := range []string{e.Dir, filepath.Join(e.Dir, bands.InfoFile)} {
		if !disk.Owned(own) {
			return refused("%s belongs to another user", own)
		}
	}
	switch {
	case !r.registers(e.Dir):
		return refused("it was not created on this machine")
	case isPath && (e.Root == "" || !pathWithin(disk.Physical(dir), disk.Physical(e.Root))):
		return refused("its tree is %s", e.Root)
	}
	return e, nil
}

// readContext returns the line in dir's .agentfs. Other files than regular ones are ignored: in the
// home directory .agentfs is the registry's folder.
func readContext(dir string) (name string, found bool, err error) {
	path := filepath.Join(dir, ContextFile)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", false, nil // an unreadable one names nothing
	}
	f, err := os.Open(path)
	if err != nil {
		return "", false, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, 8<<10))
	if err != nil {
		return "", false, fmt.Errorf("read %s: %w", path, err)
	}
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	return strings.TrimSpace(string(line)), true, nil
}

// writeContext writes dir's .agentfs.
func writeContext(dir, name string) error {
	path := filepath.Join(dir, ContextFile)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s exists and is not a regular file", path)
	}
	return disk.WriteDurable(path, []byte(name+"\n"), 0o644)
}

// Use makes the store called name, or at the path name, the store of the directory dir: it writes
// the store's name into dir's .agentfs. The store must be registered.
func (r *Registry) Use(ctx context.Context, dir, name string) (Entry, error) {
	e, err := r.Find(ctx, name)
	if err != nil {
		return Entry{}, err
	}
	if !r.registers(e.Dir) {
		return Entry{}, &ContextError{File: filepath.Join(dir, ContextFile), Name: name, Why: "it was not created on this machine"}
	}
	if strings.Contains(name, "/") {
		name = e.Dir // only a directory of the store's own tree may use a path
		if same, err := r.Find(ctx, e.Name); err == nil && same.ID == e.ID {
			name = e.Name
		}
	}
	return e, writeContext(dir, name)
}

// List returns all stores, by name, with their counts. A store that can't be read is in the joined
// error.
func (r *Registry) List(ctx context.Context) ([]Entry, error) {
	base, err := r.base()
	if err != nil {
		return nil, err
	}
	dirs, err := r.list().dirs(base)
	if err != nil {
		return nil, err
	}
	list, bad := loadEntries(append(dirs, r.Rows().dirs(ctx)...))
	for i := range list {
		s, err := bands.Open(list[i].Dir)
		if err != nil {
			bad = errors.Join(bad, err)
			continue
		}
		versions, err := s.Versions()
		if err != nil {
			bad = errors.Join(bad, fmt.Errorf("store %s: %w", list[i].Name, err))
		}
		list[i].Checkpoints = len(versions)
	}
	return list, bad
}
