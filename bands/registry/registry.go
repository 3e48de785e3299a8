// Package registry manages the stores of a machine by their names: it makes, finds, opens and
// deletes them, with the rows of the catalog, config.toml and the .agentfs files. The stores are
// authoritative; the catalog is an index that can be rebuilt.
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
)

// The errors of the registry; they are returned wrapped.
var (
	// ErrNameTaken means that another store has the name.
	ErrNameTaken = errors.New("a store of that name already exists")
	// ErrBadName means that the name isn't allowed.
	ErrBadName = errors.New("invalid store name")
	// ErrRootTaken means that the directory is another store's tree already.
	ErrRootTaken = errors.New("the directory belongs to another store")
	// ErrInVolume means that a volume would be in another one, whose snapshots wouldn't contain it.
	ErrInVolume = errors.New("a volume can't be inside another one")
	// ErrNoContext means that neither a .agentfs nor a repository names a store.
	ErrNoContext = errors.New("no store selected")
	// ErrNoHome means that there is no place for named stores.
	ErrNoHome = errors.New("no home directory for stores")
)

// Registry lists the stores of this machine by their names. Each store's store.json is
// authoritative; the catalog is an index that may be missing, late or damaged without harm.
type Registry struct {
	// Home is ~/.agentfs, or AGENTFS_HOME. It need not exist. If it is empty, there are neither a
	// catalog nor named stores; repositories' own stores work without it.
	Home string
	// UserHome is the user's home directory, "" if there is none.
	UserHome string
	Now      func() time.Time
	// Defaults is called with the errors of config.toml if a hook continues with the defaults; nil:
	// they are returned.
	Defaults func(error)
}

// Entry is a store in the registry.
type Entry struct {
	// ID stays the same unless the store's folder is moved.
	ID   string
	Name string
	// Dir is the store's folder, Root the tree's.
	Dir, Root string
	// RootID is the disk.Identity of the tree when it became the store's; "" if it had none, or if
	// an older version made the store.
	RootID string
	// Driver makes the store's snapshots; "" for a tree.
	Driver string
	// Size is the cap in bytes, 0 for the default.
	Size int64
	// Former is the folder that a conversion replaced, as long as it exists.
	Former  string
	Created time.Time
	Mounted *time.Time // nil: inactive
	// Checkpoints counts the snapshots; only List fills it in.
	Checkpoints int
}

// Active reports whether snapshots may be taken.
func (e Entry) Active() bool { return e.Mounted != nil }

// Replaced reports whether another directory, or a link, has replaced the store's tree.
func (e Entry) Replaced() bool {
	is := disk.Identity(e.Root)
	return e.RootID != "" && is != "" && is != e.RootID
}

// loadEntry returns the store in the folder dir, or ErrNoStore if there is none.
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

// lockWait is the maximum wait for a lock of another process.
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
	lock, err := disk.AcquireLock(waiting, filepath.Join(r.Home, "lock"))
	if err != nil {
		return err
	}
	return errors.Join(work(), lock.Unlock())
}

// maxName is the maximum length of a store's name in bytes; its folder's name is a little longer.
const maxName = 100

// CheckName returns the reason, an ErrBadName, why a store can't have the name. A name is also that
// of a folder, and a line of .agentfs, in which a slash marks a path.
func CheckName(name string) error {
	bad := func(why string) error { return fmt.Errorf("%w: %q: %s", ErrBadName, name, why) }
	switch {
	case name == "":
		return bad("it is empty")
	case len(name) > maxName:
		return bad("it is longer than " + strconv.Itoa(maxName) + " bytes")
	case strings.ContainsAny(name, `/\:`):
		return bad(`it contains a slash, a backslash or a colon`)
	case name[0] == '.' || name[0] == '-':
		return bad("it starts with " + name[:1])
	case strings.TrimSpace(name) != name:
		return bad("it starts or ends with a space")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return bad("it contains control characters")
	}
	return nil
}

// nameFrom makes a store's name from that of a folder, which may have any bytes.
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

// freeName returns the first of name, name-2, name-3 and so on that isn't taken.
func freeName(name string, taken map[string]bool) string {
	try := name
	for i := 2; taken[try]; i++ {
		try = name + "-" + strconv.Itoa(i)
	}
	return try
}
