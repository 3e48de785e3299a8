package recall

import (
	"context"

	"github.com/seed-3aff656d/entire/internal/git"
)

// Limits bound what is captured.
type Limits struct {
	// File and Total are bytes: a larger file, and what no longer fits, is kept
	// as path and hash.
	File, Total int64
	// Exclude are patterns of paths: `dir/**`, `*.log`.
	Exclude []string
	// Contents says that contents are kept at all.
	Contents bool
	// Work bounds the bytes read while somebody waits, 0 for no bound. What is
	// beyond is left as it was in Known, and Unfinished.
	Work int64
}

// Captured is a file as it was captured, kept between hooks so that a file is
// read again only when it changed.
type Captured struct {
	File

	Blob string `json:"blob,omitempty"`
	// Stat tells whether the file may have changed: size, mtime, ctime, inode.
	Stat string `json:"stat"`
	// Outline is in File.
}

// Capture reads files of a worktree, and writes their redacted contents as
// objects.
type Capture struct {
	Repo   *git.Repo
	Redact Texts
	Limits Limits
	// Base is the commit at the session's start, against which changes and
	// lines are counted; empty where there was none.
	Base string
}

// Files captures the files at paths (from the root), taking from known what has
// not changed. unfinished says that Work was not enough; warnings are for
// people.
func (c Capture) Files(ctx context.Context, paths []string, known map[string]Captured) (_ Taken, err error) {
	panic("unfinished")
}

// Taken is the result of a capture.
type Taken struct {
	Files      map[string]Captured
	Unfinished bool
	Warnings   []string
}
