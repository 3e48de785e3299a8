package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
)

// maxContent is the size above which a file's content is not stored on a
// shadow branch. The file still counts as touched, by its name.
const maxContent = 64 << 20

const (
	// maxBytes bounds the bytes stored by one call: hashing by git and storing by this program
	// reach some 50 MB/s, and a hook has 5 s. Smaller files come first; of the rest only the
	// names are recorded.
	maxBytes = 128 << 20
	// fileCost is added to the size of each file: 8,000 small files take a second.
	fileCost = 8 << 10
)

// StoreContents writes the blobs of files of the worktree, through git's own filters,
// and returns the tree entries by path. A path that doesn't exist has an entry that
// removes it; a file that can't be stored, or was forgotten, has none.
func (w *Workspace) StoreContents(ctx context.Context, paths []string) (map[string]git.TreeEdit, error) {
	edits := make(map[string]git.TreeEdit, len(paths))
	var regular []sizedFile
	if err := w.CheckTombstones(); err != nil {
		return nil, err
	}
	forgotten := w.TombstonedFiles()
	for _, p := range paths {
		if forgotten(p) {
			continue
		}
		e, size, kind, err := w.entry(ctx, p)
		switch {
		case err != nil:
			return nil, err
		case kind == whole:
			edits[p] = e
		case kind == unhashed:
			edits[p] = e
			regular = append(regular, sizedFile{p, size})
		}
	}
	stored := withinLimit(regular, maxBytes, fileCost)
	if len(stored) < len(regular) {
		w.Log.InfoContext(ctx, "too many files to store", "files", len(regular), "stored", len(stored))
		keep := make(map[string]bool, len(stored))
		for _, p := range stored {
			keep[p] = true
		}
		for _, f := range regular {
			if !keep[f.path] {
				delete(edits, f.path)
			}
		}
	}
	if len(stored) == 0 {
		return edits, nil
	}
	oids, err := git.HashFiles(ctx, w.Repo, git.HashAndStore, stored)
	if err != nil {
		return edits, fmt.Errorf("store contents: %w", err)
	}
	for _, p := range stored {
		e := edits[p]
		e.OID = oids[p]
		if edits[p] = e; e.OID == "" { // it can't be read
			delete(edits, p)
		}
	}
	return edits, nil
}

// sizedFile is a regular file.
type sizedFile struct {
	path string
	size int64
}

// withinLimit returns the paths of the files to store if their sizes, plus cost for each, may
// add up to bytes: all if they fit, else the first of the smallest.
func withinLimit(files []sizedFile, bytes, cost int64) []string {
	var sum int64
	for _, f := range files {
		sum += f.size + cost
	}
	if sum > bytes {
		files = slices.SortedStableFunc(slices.Values(files), func(a, b sizedFile) int { return cmp.Compare(a.size, b.size) })
	}
	var paths []string
	for _, f := range files {
		if bytes -= f.size + cost; bytes < 0 {
			break
		}
		paths = append(paths, f.path)
	}
	return paths
}

// entryKind is the state of a path's entry.
type entryKind int

const (
	absent   entryKind = iota // the path can't be stored
	whole                     // complete
	unhashed                  // lacks the hash of its content
)

// entry returns the tree entry for one path, and the size of a regular file.
func (w *Workspace) entry(ctx context.Context, p string) (git.TreeEdit, int64, entryKind, error) {
	full := filepath.Join(w.Repo.Root, filepath.FromSlash(p))
	info, err := os.Lstat(full)
	switch {
	case errors.Is(err, fs.ErrNotExist) || IsNotDir(err):
		return git.TreeEdit{Path: p}, 0, whole, nil
	case err != nil:
		w.Log.WarnContext(ctx, "file not stored", "path", w.Redact.Path(p), "error", err.Error())
		return git.TreeEdit{}, 0, absent, nil
	case info.Mode().IsRegular() && info.Size() <= maxContent:
		return git.TreeEdit{Path: p, Mode: GitMode(info)}, info.Size(), unhashed, nil
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(full)
		if err != nil {
			return git.TreeEdit{}, 0, whole, fmt.Errorf("read link: %w", err)
		}
		oid, err := w.Repo.WriteBlob([]byte(target))
		return git.TreeEdit{Path: p, Mode: git.ModeLink, OID: oid}, 0, whole, err
	case info.IsDir():
		if head, ok := w.submodule(ctx, full); ok {
			return git.TreeEdit{Path: p, Mode: git.ModeModule, OID: head}, 0, whole, nil
		}
		return git.TreeEdit{Path: p}, 0, whole, nil // a folder where a file was
	default:
		return git.TreeEdit{}, 0, absent, nil
	}
}

// IsNotDir reports whether a path could not be read because a parent of it is a file.
func IsNotDir(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path) && path.Err.Error() == "not a directory"
}

// GitMode returns the mode of a regular file in git's trees.
func GitMode(info fs.FileInfo) git.Mode {
	if info.Mode()&0o100 != 0 {
		return git.ModeExec
	}
	return git.ModeFile
}

// submodule returns the commit that is checked out in a directory with a repository of
// its own; false for any other directory.
func (w *Workspace) submodule(ctx context.Context, dir string) (git.OID, bool) {
	sub, err := git.Discover(git.Locate{Dir: dir, Getenv: w.Env.Getenv, Here: true})
	if err != nil || sub.Root != dir {
		return "", false
	}
	defer sub.Close() //nolint:errcheck // read only
	c, err := sub.Commit(ctx, "HEAD")
	return c.OID, err == nil
}

// EditsOf lists the entries in the order of paths.
func EditsOf(entries map[string]git.TreeEdit, paths []string) []git.TreeEdit {
	var edits []git.TreeEdit
	for _, p := range paths {
		if e, ok := entries[p]; ok {
			edits = append(edits, e)
		}
	}
	return edits
}

// IsBlob reports whether a mode is that of a file or a symbolic link.
func IsBlob(mode git.Mode) bool { return mode != git.ModeModule && mode != git.ModeTree && mode != 0 }

// IsOpaque reports whether a file has no lines to compare: git treats it as binary, or
// it is a pointer of Git LFS.
func IsOpaque(content []byte) bool {
	const looked = 8000 // as git does
	return bytes.IndexByte(content[:min(len(content), looked)], 0) >= 0 ||
		bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/"))
}
