package band

import (
	"slices"
	"strings"
	"time"
)

// EntryKind is the kind of an entry.
type EntryKind byte

// The kinds of entries.
const (
	File    EntryKind = 1
	Dir     EntryKind = 2
	Symlink EntryKind = 3
	// Unknown entries exist, but aren't held: see Entry.Reason. A restore neither deletes nor
	// overwrites them.
	Unknown EntryKind = 4
)

// UnknownReason is the reason why an entry is Unknown.
type UnknownReason byte

// The reasons why an entry is not held.
const (
	Socket     UnknownReason = 1
	Device     UnknownReason = 2
	FIFO       UnknownReason = 3
	Unreadable UnknownReason = 4
	// Moving is a file that changed during each attempt to read it.
	Moving UnknownReason = 5
	// OtherFileSystem is a mount point.
	OtherFileSystem UnknownReason = 6
	// Excluded was left out by the user's settings.
	Excluded UnknownReason = 7
	// Budget was left out because the tree doesn't fit the store's cap.
	Budget UnknownReason = 8
	// Worktree is a linked worktree of the same repository.
	Worktree UnknownReason = 9
	// Busy is a database that could not be captured at one point in time.
	Busy UnknownReason = 10
	// Forgotten is a file that was removed from the snapshot, or left out, because the user
	// forgot it.
	Forgotten UnknownReason = 11
)

// Unheld reports whether a path with the reason has content that the snapshot should hold and
// doesn't, so that it is unknown whether the path changed.
func (r UnknownReason) Unheld() bool {
	switch r {
	case Socket, Device, FIFO, OtherFileSystem, Excluded, Worktree:
		return false
	case Unreadable, Moving, Budget, Busy, Forgotten:
	default: // of future versions
	}
	return true
}

// Entry is an entry of a directory.
type Entry struct {
	// Name is any bytes except '/' and NUL; never empty, "." or "..".
	Name   string
	Kind   EntryKind
	Reason UnknownReason // of an Unknown entry
	Attr   Attr          // not of a Dir, whose record has its own
	// Size is the length of a file in bytes, holes included.
	Size int64
	// Link is a number, not 0, that all names of one file share (hard links).
	Link uint64
	// Target is the target of a symlink, verbatim.
	Target string
	// Content is a file's DataRecord or ListRecord, or a directory's record. An empty file has
	// none.
	Content Ref
	// Parts reports whether Content is a ListRecord.
	Parts bool
}

// Attr holds the attributes of an entry, apart from its content.
type Attr struct {
	// Mode is the permission bits, with setuid, setgid and sticky: 07777.
	Mode     uint32
	UID, GID uint32
	Mtime    time.Time // to the nanosecond
	Xattrs   []Xattr   // by name
}

// Equal reports whether a and b have the same mode, owner, time and extended attributes.
func (a *Attr) Equal(b *Attr) bool {
	return a.Mode == b.Mode && a.UID == b.UID && a.GID == b.GID && a.Mtime.Equal(b.Mtime) &&
		slices.EqualFunc(a.Xattrs, b.Xattrs, Xattr.equal)
}

// Xattr is an extended attribute.
type Xattr struct {
	Name  string
	Value []byte
}

// Directory is the content of a DirectoryRecord.
type Directory struct {
	Attr    Attr
	Entries []Entry // by name, bytewise, each once
	Totals  Totals  // of everything below
	// Bands are the bands that this directory and everything below it refer to, ascending,
	// without the band of its own record.
	Bands []uint32
	// Pages contain the entries of a large directory, by name. Its header has no Entries, and its
	// Totals and Bands are those of the pages.
	Pages []Page
}

// Totals counts the entries below a directory.
type Totals struct {
	Files   int64 `json:"files"` // files and symlinks
	Dirs    int64 `json:"dirs"`
	Unknown int64 `json:"unknown"`
	Bytes   int64 `json:"bytes"` // lengths of files
}

// StoredDirectory describes a directory in the store.
type StoredDirectory struct {
	Ref    Ref
	Totals Totals
	Bands  []uint32
}

// ShownPath returns the path, or "." for the root.
func ShownPath(path string) string {
	if path == "" {
		return "."
	}
	return path
}

// BasePath returns the last name of a path.
func BasePath(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// ParentPath returns the directory of a path from the root; "" is the root.
func ParentPath(p string) string {
	return p[:max(strings.LastIndexByte(p, '/'), 0)]
}

// JoinPath returns the path of a name in a directory; "" is the root.
func JoinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// validName reports whether a directory can contain the name.
func validName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}

// Find returns the index of the name among the entries, or where it would be inserted.
func (d *Directory) Find(name string) (int, bool) {
	return find(d.Entries, name)
}

// OwnBands returns the bands that the entries refer to, ascending. It doesn't include those
// referred to by subdirectories and lists of parts.
func (d *Directory) OwnBands() []uint32 {
	var bands []uint32
	for i := range d.Entries {
		c := &d.Entries[i].Content
		if !c.IsZero() && (len(bands) == 0 || bands[len(bands)-1] != c.Band) {
			bands = append(bands, c.Band)
		}
	}
	return sorted(bands)
}

// UnionBands returns the union of lists of bands, ascending.
func UnionBands(bands ...[]uint32) []uint32 { return sorted(slices.Concat(bands...)) }

func sorted(bands []uint32) []uint32 {
	slices.Sort(bands)
	return slices.Compact(bands)
}

// Add adds o to the totals.
func (t *Totals) Add(o Totals) {
	t.Files += o.Files
	t.Dirs += o.Dirs
	t.Unknown += o.Unknown
	t.Bytes += o.Bytes
}
