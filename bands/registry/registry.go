// Package registry has the stores of a machine by their names: it makes, finds, opens
// and deletes them, with the rows of the catalog, config.toml and the .agentfs
// files. What is in a store is true; the catalog is an index that can be rebuilt.
package registry

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/filelock"
)

// The errors of the registry; they come wrapped.
var (
	// ErrNameTaken means that another store has the name.
	ErrNameTaken = errors.New("a store of that name exists")
	// ErrBadName means that no store may have the name.
	ErrBadName = errors.New("not a name for a store")
	// ErrRootTaken means that the directory is another store's tree already.
	ErrRootTaken = errors.New("the directory belongs to another store")
	// ErrInVolume means that a volume would be in another one, whose snapshots don't have it.
	ErrInVolume = errors.New("a volume can't be in another one")
	// ErrNoContext means that neither a .agentfs nor a repository names a store.
	ErrNoContext = errors.New("no store selected")
	// ErrNoHome means that there is no place for named stores.
	ErrNoHome = errors.New("there is no home directory for stores")
)

// Registry lists the stores of this machine by their names. The truth is
// in each store's store.json; the catalog is an index that may be missing, late
// or damaged without harm.
type Registry struct {
	// Home is ~/.agentfs, or AGENTFS_HOME. It need not exist. Without it
	// there are neither a catalog nor named stores, and repositories' own stores work
	// as ever.
	Home string
	// UserHome is the user's home directory, "" if there is none.
	UserHome string
	Now      func() time.Time
	// Defaults is called with what is wrong with config.toml where a hook goes on
	// with the defaults; nil: it is an error.
	Defaults func(error)
}

// Entry is a store in the registry.
type Entry struct {
	// ID is the same as long as the store's folder isn't moved.
	ID   string
	Name string
	// Dir is the store's folder, Root the tree's.
	Dir, Root string
	// RootID is the disk.Identity that the tree had when it became the store's;
	// "" where there is none, or an older version made the store.
	RootID string
	// Driver makes the store's snapshots; "" for one of a tree.
	Driver string
	// Size is the cap in bytes, 0 for the default.
	Size int64
	// Former is the folder that a conversion replaced, as long as it is kept.
	Former  string
	Created time.Time
	Mounted *time.Time // nil: inactive
	// Checkpoints counts the snapshots; only List fills it in.
	Checkpoints int
}

// Active reports whether snapshots may be taken.
func (e Entry) Active() bool { return e.Mounted != nil }

// Replaced reports whether another directory, or a link, is where the store's
// tree was.
func (e Entry) Replaced() bool {
	is := disk.Identity(e.Root)
	return e.RootID != "" && is != "" && is != e.RootID
}

// loadEntry is the store in the folder dir: ErrNoStore if there is none.
func loadEntry(dir string) (Entry, error) {
	s, err := bands.Open(dir)
	if err != nil {
		return Entry{}, err
	}
	return entry(s)
}

func entry(s *bands.Store) (Entry, error) {
	info, err := s.Info()
	if err != nil {
		return Entry{}, fmt.Errorf("store %s: %w", s.Dir(), err)
	}
	return Entry{
		ID: bands.StoreID(s.Dir()), Name: info.Name, Dir: s.Dir(), Root: info.Root, RootID: info.RootID, Size: info.Size,
		Driver: info.Driver, Former: info.Former, Created: info.Created, Mounted: info.Mounted,
	}, nil
}

// lockWait is how long another process's work on the registry is waited for.
const lockWait = 10 * time.Second

// alone runs work while no other process makes, names or deletes stores.
func (r *Registry) alone(ctx context.Context, work func() error) error {
	if r.Home == "" {
		return work() // nothing is shared; each store has its own lock
	}
	if err := makeFolder(r.Home); err != nil {
		return fmt.Errorf("make %s: %w", r.Home, err)
	}
	waiting, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	lock, err := filelock.Acquire(waiting, filepath.Join(r.Home, "lock"))
	if err != nil {
		return err
	}
	return errors.Join(work(), lock.Unlock())
}

// maxName is the longest name of a store in bytes; its folder has a few more.
const maxName = 100

// CheckName describes why name can't be a store's: ErrBadName. A name is also that
// of a folder, and a line of .agentfs where a path is recognized by its slash.
func CheckName(name string) error {
	bad := func(why string) error { return fmt.Errorf("%w: %q: %s", ErrBadName, name, why) }
	switch {
	case name == "":
		return bad("it is empty")
	case len(name) > maxName:
		return bad("it is longer than " + strconv.Itoa(maxName) + " bytes")
	case strings.ContainsAny(name, `/\:`):
		return bad(`it has a slash, a backslash or a colon`)
	case name[0] == '.' || name[0] == '-':
		return bad("it begins with " + name[:1])
	case strings.TrimSpace(name) != name:
		return bad("it begins or ends with a space")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return bad("it has control characters")
	}
	return nil
}

// nameFrom makes a name of a folder's, which may have any bytes.
func nameFrom(folder string) string {
	name := strings.Map(func(c rune) rune {
		if c == utf8.RuneError || unicode.IsControl(c) || strings.ContainsRune(`/\:`, c) {
			return '-'
		}
		return c
	}, folder)
	name = strings.TrimLeft(strings.TrimSpace(name), ".- ")
	for len(name) > maxName-10 { // room for a number
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	if name = strings.TrimSpace(name); name == "" {
		return "store"
	}
	return name
}

// freeName is name, or name-2, -3 and so on, whichever is the first that isn't taken.
func freeName(name string, taken map[string]bool) string {
	try := name
	for i := 2; taken[try]; i++ {
		try = name + "-" + strconv.Itoa(i)
	}
	return try
}
