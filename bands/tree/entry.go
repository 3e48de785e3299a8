// Package tree describes a captured working tree: directories whose entries refer to records in
// bands. Directories form a Merkle tree: an unchanged directory is the same record in every
// snapshot. The format is in docs/formats/bands.md.
package tree

import (
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands/band"
)

// Kind is the kind of an entry.
type Kind byte

// The kinds of entries.
const (
	File    Kind = 1
	Dir     Kind = 2
	Symlink Kind = 3
	// Unknown entries exist, but aren't held: see Entry.Reason. A restore neither deletes nor
	// overwrites them.
	Unknown Kind = 4
)

// Reason is the reason why an entry is Unknown.
type Reason byte

// The reasons why an entry is not held.
const (
	Socket     Reason = 1
	Device     Reason = 2
	FIFO       Reason = 3
	Unreadable Reason = 4
	// Moving is a file that changed during each attempt to read it.
	Moving Reason = 5
	// OtherFileSystem is a mount point.
	OtherFileSystem Reason = 6
	// Excluded was left out by the user's settings.
	Excluded Reason = 7
	// Budget was left out because the tree doesn't fit the store's cap.
	Budget Reason = 8
	// Worktree is a linked worktree of the same repository.
	Worktree Reason = 9
	// Busy is a database that could not be captured at one point in time.
	Busy Reason = 10
	// Forgotten is a file that was removed from the snapshot, or left out, because the user
	// forgot it.
	Forgotten Reason = 11
)

// Unheld reports whether a path with the reason has content that the snapshot should hold and
// doesn't, so that it is unknown whether the path changed.
func (r Reason) Unheld() bool {
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
	Kind   Kind
	Reason Reason // of an Unknown entry
	Attr   Attr   // not of a Dir, whose record has its own
	// Size is the length of a file in bytes, holes included.
	Size int64
	// Link is a number, not 0, that all names of one file share (hard links).
	Link uint64
	// Target is the target of a symlink, verbatim.
	Target string
	// Content is a file's Data or List record, or a directory's record. An empty file has none.
	Content band.Ref
	// Parts reports whether Content is a List record.
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

// Directory is the content of a Directory record.
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

// Stored describes a directory in the store.
type Stored struct {
	Ref    band.Ref
	Totals Totals
	Bands  []uint32
}
