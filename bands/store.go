package bands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Names in a store's folder: docs/formats/bands.md.
const (
	InfoFile        = "store.json"
	lockFile        = "lock"
	VersionFile     = "version"
	stampFile       = "stamp"
	TagFile         = "CACHEDIR.TAG"
	DedupeFile      = "dedupe"
	BandsFolder     = "bands"
	SnapshotsFolder = "checkpoints"
	SnapshotFile    = "snapshot.json"
	VolumeTree      = "tree" // in a snapshot's folder: the files of a volume
	StatPrefix      = "stat-"
	ChangedPrefix   = "changed-"
	latestPrefix    = "latest-"
	pairPrefix      = "pair-"
	MakingPrefix    = ".tmp-"
	RemovedPrefix   = ".deleted-"
	TempSuffix      = ".tmp"
)

// The formats of stores that this package writes. Stores of volumes have their own, so that older
// programs don't add snapshots of trees to them.
const (
	storeFormat  = 1
	volumeFormat = 2
)

// cacheTag keeps backups and copies from following the links in a store.
const cacheTag = "Signature: 8a477f597d28d172789f06886806bc55\n" +
	"# This folder holds snapshots made by entire; it is no use to a backup.\n"

// Store is a folder of bands and snapshots. It is safe for concurrent use, also by several
// processes: writers need Hold.
type Store struct {
	dir     string
	linking disk.Linking
}

// Info is the content of store.json.
type Info struct {
	Format  int          `json:"format"`
	Name    string       `json:"name,omitempty"`
	Root    string       `json:"root,omitempty"`
	RootID  string       `json:"root_id,omitempty"`
	Size    int64        `json:"size,omitempty"`
	Created time.Time    `json:"created_at,omitzero"`
	Mounted *time.Time   `json:"mounted_at,omitempty"`
	Linking disk.Linking `json:"linking"`
	// Driver makes the snapshots; "" if this package does, of trees.
	Driver string `json:"driver,omitempty"`
	// Former is the former folder at Root, still kept after a conversion.
	Former string `json:"former,omitempty"`
}

// Create creates a store in dir, with missing parent folders, or completes one that has lost its
// store.json. The error is fs.ErrExist if there is a store.
func Create(dir string) (*Store, error) {
	switch _, err := Open(dir); {
	case err == nil:
		return nil, fmt.Errorf("create store %s: %w", dir, fs.ErrExist)
	case !errors.Is(err, ErrNoStore) && !errors.Is(err, ErrDamaged):
		return nil, err
	}
	s := &Store{dir: dir}
	if err := s.create(); err != nil {
		return nil, fmt.Errorf("create store %s: %w", dir, err)
	}
	return s, nil
}

func (s *Store) create() error {
	for _, dir := range []string{s.dir, s.BandsDir(), s.Path(SnapshotsFolder)} {
		if err := disk.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	if err := disk.WriteCache(s.Path(TagFile), []byte(cacheTag), 0o600); err != nil {
		return err
	}
	linking, err := disk.LinkingAt(s.BandsDir())
	if err != nil {
		return err
	}
	s.linking = linking
	return s.writeInfo(Info{})
}

// Open opens the store in dir: ErrNoStore if there is none, ErrDamaged if its store.json can't be
// interpreted.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir}
	info, err := s.Info()
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", dir, err)
	}
	s.linking = info.Linking
	return s, nil
}

// At returns the store in dir without opening it: its snapshots can be read even if its
// store.json is lost.
func At(dir string) *Store { return &Store{dir: dir} }

// Info reads store.json.
func (s *Store) Info() (Info, error) {
	data, err := disk.ReadFile(s.Path(InfoFile))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return Info{}, ErrNoStore
	case err != nil:
		return Info{}, err
	}
	var info Info
	known := []disk.Linking{disk.Reflink, disk.Hardlink, disk.Copy}
	if err := json.Unmarshal(data, &info); err != nil || info.Format < 1 || !slices.Contains(known, info.Linking) {
		return Info{}, fmt.Errorf("%s: %w", InfoFile, ErrDamaged)
	}
	if info.Format > volumeFormat {
		return Info{}, fmt.Errorf("%s: format %d is from a newer version", InfoFile, info.Format)
	}
	return info, nil
}

// Dir returns the store's folder.
func (s *Store) Dir() string { return s.dir }

// BandsDir returns the folder of the bands.
func (s *Store) BandsDir() string { return s.Path(BandsFolder) }

// SnapshotDir returns the folder of a version.
func (s *Store) SnapshotDir(v Version) string {
	return filepath.Join(s.dir, SnapshotsFolder, v.String())
}

// VolumeDir returns the folder with the files of a version of a volume.
func (s *Store) VolumeDir(v Version) string { return filepath.Join(s.SnapshotDir(v), VolumeTree) }

// Path returns the path of a name in the store's folder.
func (s *Store) Path(name string) string { return filepath.Join(s.dir, name) }

// Linking returns how bands are linked into snapshots' folders.
func (s *Store) Linking() disk.Linking { return s.linking }

// Loader returns a reader of a snapshot's records. The caller closes the band.Reader.
func (s *Store) Loader(v Snapshot) (*band.DirectoryLoader, *band.Reader) {
	r := band.NewReader(s.SnapshotDir(v.Version), s.BandsDir())
	return band.NewDirectoryLoader(r), r
}

func (s *Store) writeInfo(info Info) error {
	info.Format, info.Linking = storeFormat, s.linking
	if info.Driver != "" {
		info.Format = volumeFormat
	}
	return disk.WriteJSON(s.Path(InfoFile), info)
}

// HasBand reports whether the band exists in its whole length, in the snapshot's folder or the
// store's.
func (s *Store) HasBand(snap Snapshot, b BandLength) bool {
	for _, dir := range []string{s.SnapshotDir(snap.Version), s.BandsDir()} {
		if f, err := band.StatFile(dir, b.Number); err == nil && f.Length >= b.Length {
			return true
		}
	}
	return false
}

// StoreID returns a store's id, which is the same for all paths to its folder.
func StoreID(dir string) string {
	if target, err := filepath.EvalSymlinks(dir); err == nil {
		dir = target
	}
	return disk.Digest([]byte(filepath.Clean(dir)))[:16]
}

// PlainLineage is the lineage of a store with a single tree: the first six digits of the SHA-256
// of empty input.
const PlainLineage = "e3b0c4"

// DefaultAskFrom is the number of files from which asking the file system costs less than a walk.
const DefaultAskFrom = 10_000

// Options determine the captured tree and how it is captured.
type Options struct {
	// Root is the tree's absolute path, Lineage its six hex digits.
	Root, Lineage string
	// Cap is the maximum size of the store in bytes, Floor the minimum free space of its file
	// system; 0 is the default, see DefaultCap and DefaultFloor.
	Cap, Floor int64
	// Exclude are patterns of paths that are left out. A pattern without a slash matches names at
	// any depth, any other matches paths from the root. One that ends in a slash matches only
	// directories; ** matches any number of directories.
	Exclude []string
	// Only are the paths from the root that are captured, with the directories above them; all
	// others are left out. If it is empty the whole tree is captured.
	Only Paths
	// Forgotten are paths from the root of forgotten files. They are left out with a reason of
	// their own.
	Forgotten []string
	// Refuse is the reason why no snapshot may be taken; nil permits snapshots.
	Refuse error
	// Hidden are paths from the root that are neither captured nor unknown. The store itself is
	// always hidden.
	Hidden []string
	// Worktrees are the absolute paths of linked worktrees, which aren't entered.
	Worktrees []string
	// Ignored returns those of the directories, paths from the root, that git ignores. It is
	// called if the tree exceeds the cap; nil means that git ignores none.
	Ignored func(ctx context.Context, dirs []string) ([]string, error)
	// AskFrom is the minimum number of files and directories for which the file system is asked
	// what has changed, if it records that; 0: DefaultAskFrom. Asking has a cost of its own.
	AskFrom int64
	// Now returns the time; Home is the user's home directory ("" if there is none).
	Now  func() time.Time
	Home string
	// Workers is the number of directories read at once; 0: the number of processors, at least 2.
	Workers int
}

// Progress is the progress of a snapshot, a restore or an export.
type Progress struct {
	// Stage is "capture" while a tree is read, "restore" while one is written, or a value that
	// the caller adds.
	Stage string
	// Done and Total count entries; Total is 0 if it isn't known.
	Done, Total int64
	// Bytes is the length of the files read or written so far, Size that of all files; Size is an
	// estimate, and 0 if it isn't known.
	Bytes, Size int64
}
