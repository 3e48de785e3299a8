package bands

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unicode"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// DefaultCap returns the default cap of a store on a file system of total bytes.
func DefaultCap(total int64) int64 { return min(20<<30, total/10) }

// CapAt returns the cap that is set, or if that is 0 the default for the file system of dir; 0 if
// its size isn't known.
func CapAt(dir string, set int64) int64 {
	if set > 0 {
		return set
	}
	space, err := disk.SpaceAt(dir)
	if err != nil {
		return 0
	}
	return DefaultCap(space.Total)
}

// DefaultFloor returns the default free space of a file system of total bytes.
func DefaultFloor(total int64) int64 { return min(5<<30, total/20) }

// openFolder is the prefix of paths of directories that this process has open, such as a snapshot
// that isn't mounted: the targets of these links have no meaning.
const openFolder = "/proc/self/fd/"

// checkRoot refuses trees that contain too much: the file system's root, the home directory and
// the directories above it.
func checkRoot(o Options) error {
	if !filepath.IsAbs(o.Root) {
		return fmt.Errorf("%s: %w: not an absolute path", o.Root, ErrRefusedRoot)
	}
	if strings.HasPrefix(o.Root, openFolder) {
		return nil
	}
	for _, root := range []string{filepath.Clean(o.Root), disk.Physical(o.Root)} {
		if root == filepath.Dir(root) {
			return fmt.Errorf("%s: %w", o.Root, ErrRefusedRoot)
		}
		for _, home := range []string{o.Home, disk.Physical(o.Home)} {
			if o.Home != "" && (home == root || strings.HasPrefix(home, root+string(filepath.Separator))) {
				return fmt.Errorf("%s: %w: the home directory is in it", o.Root, ErrRefusedRoot)
			}
		}
	}
	return nil
}

// CheckRoot returns ErrRefusedRoot, wrapped, if a directory may not be the tree of a store.
func CheckRoot(root, home string) error { return checkRoot(Options{Root: root, Home: home}) }

// Settings are Options with the defaults filled in, and the state of the file system.
type Settings struct {
	Options

	Space disk.Space // of the store
}

// CheckFloor returns ErrNoRoom, wrapped, if less is free than the floor.
func (s *Settings) CheckFloor() error { return CheckFree(s.Space.Free, s.Floor) }

// CheckFree returns ErrNoRoom, wrapped, unless free bytes are at least the floor.
func CheckFree(free, floor int64) error {
	if free >= floor {
		return nil
	}
	return fmt.Errorf("%w: %d MiB are free, and %d MiB must stay free", ErrNoRoom, max(free, 0)>>20, floor>>20) //nolint:mnd // MiB
}

// ResolveOptions fills in the defaults of o.
func (s *Store) ResolveOptions(o Options) (Settings, error) {
	if err := checkRoot(o); err != nil {
		return Settings{}, err
	}
	if o.Lineage == "" {
		o.Lineage = PlainLineage
	}
	space, err := disk.SpaceAt(s.dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			err = ErrNoStore
		}
		return Settings{}, err
	}
	if o.Cap <= 0 {
		o.Cap = DefaultCap(space.Total)
	}
	if o.Floor <= 0 {
		o.Floor = DefaultFloor(space.Total)
	}
	if o.AskFrom <= 0 {
		o.AskFrom = DefaultAskFrom
	}
	return Settings{Options: o, Space: space}, nil
}

// IgnoresCase reports whether the file system of a directory ignores the case of names. It looks
// for an entry that can be found under another case without being a separate entry. If no entry
// is suitable, the directory's own name is tried. If that has no letters either, the usual
// behavior of the operating system is assumed.
func IgnoresCase(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err == nil {
		names := map[string]bool{}
		for _, e := range entries {
			names[e.Name()] = true
		}
		for name := range names {
			other := otherCase(name)
			if other == name || names[other] {
				continue
			}
			return sameEntry(filepath.Join(dir, name), filepath.Join(dir, other))
		}
	}
	if name := filepath.Base(dir); otherCase(name) != name {
		return sameEntry(dir, filepath.Join(filepath.Dir(dir), otherCase(name)))
	}
	return runtime.GOOS == "darwin" || runtime.GOOS == "windows"
}

func sameEntry(a, b string) bool {
	x, err := os.Lstat(a)
	if err != nil {
		return false
	}
	y, err := os.Lstat(b)
	return err == nil && os.SameFile(x, y)
}

// otherCase returns the name with the case of its ASCII letters inverted.
func otherCase(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c > unicode.MaxASCII:
			return c
		case unicode.IsUpper(c):
			return unicode.ToLower(c)
		default:
			return unicode.ToUpper(c)
		}
	}, name)
}
