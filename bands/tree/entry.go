// Package tree describes a captured working tree: directories whose entries
// name records in bands. Directories form a Merkle tree: an unchanged one is the
// same record in every snapshot. The format is in docs/formats/bands.md.
package tree

import (
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands/band"
)

// Kind is what an entry is.
type Kind byte

// The kinds of entries.
const (
	File    Kind = 1
	Dir     Kind = 2
	Symlink Kind = 3
	// Unknown is there, but not held: see Entry.Reason. A restore neither
	// deletes nor overwrites it.
	Unknown Kind = 4
)

// Reason is why an entry is Unknown.
type Reason byte

// The reasons for which an entry is not held.
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
	// Forgotten is a file that the user had forgotten: it was taken out of the snapshot
	// later, or left out.
	Forgotten Reason = 11
)

// Unheld reports whether a path that is unknown for the reason has a content that
// a snapshot should hold and doesn't, so that it is unknown whether it changed.
func (r Reason) Unheld() bool {
	switch r {
	case Socket, Device, FIFO, OtherFileSystem, Excluded, Worktree:
		return false
	case Unreadable, Moving, Budget, Busy, Forgotten:
	default: // of versions to come
	}
	return true
}

// Entry is one name of a directory.
type Entry struct {
	// Name is any bytes but '/' and NUL; never empty, "." or "..".
	Name   string
	Kind   Kind
	Reason Reason // of an Unknown entry
	Attr   Attr   // of files, symlinks and unknown ones; a Dir has its own in its record
	// Size is the length of a file in bytes, holes included.
	Size int64
	// Link is the same number, not 0, for the names of one file (hard links).
	Link uint64
	// Target is where a symlink points, verbatim.
	Target string
	// Content is a file's Data or List record, or a directory's record. A file
	// of length 0 has none.
	Content band.Ref
	// Parts reports that Content is a List record.
	Parts bool
}

// Attr is what a file has besides its content.
type Attr struct {
	// Mode is the permission bits, with setuid, setgid and sticky: 07777.
	Mode     uint32
	UID, GID uint32
	Mtime    time.Time // to the nanosecond
	Xattrs   []Xattr   // by name
}

// Equal reports whether both have the same mode, owner, time and extended attributes.
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
	Totals  Totals  // of all below
	// Bands are the bands that this directory and all below refer to,
	// ascending, without the one its own record is in.
	Bands []uint32
	// Pages are where the entries of a large directory are, by name. Its header
	// has no Entries, and Totals and Bands are those of the pages.
	Pages []Page
}

// Totals counts what is below a directory.
type Totals struct {
	Files   int64 `json:"files"` // files and symlinks
	Dirs    int64 `json:"dirs"`
	Unknown int64 `json:"unknown"`
	Bytes   int64 `json:"bytes"` // lengths of files
}

// Stored is a directory as the store has it.
type Stored struct {
	Ref    band.Ref
	Totals Totals
	Bands  []uint32
}
