// Package capture reads the files that a session changed, counts their changed lines,
// and stores their redacted contents as git objects.
package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands/rules"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/plain"
)

// Limits bound what is captured.
type Limits struct {
	// File and Total are bytes: a larger file, and what no longer fits, is kept
	// as path and hash.
	File, Total int64
	// Exclude are patterns of paths: `dir/**`, `*.log`.
	Exclude []string
	// Forgotten are paths whose contents are not kept, as the user had them forgotten.
	Forgotten []string
	// Contents says that contents are kept at all. Without, files are only
	// hashed, and git isn't asked what it ignores.
	Contents bool
	// Work bounds the bytes read while somebody waits, 0 for no bound. What is
	// beyond is left as it was in Known, and Unfinished.
	Work int64
}

// Captured is a file as it was captured, kept between hooks so that a file is
// read again only when it changed.
type Captured struct {
	recall.File

	Blob string `json:"blob,omitempty"`
	// Stat tells whether the file may have changed: size, mtime, ctime, inode. It
	// is empty where that can't be told.
	Stat string `json:"stat"`
	// Outline is in File.
}

// Capture reads files of a worktree, and writes their redacted contents as
// objects.
type Capture struct {
	Repo   *git.Repo
	Redact plain.Redactor
	Limits Limits
	// Base is the commit at the session's start, against which changes and
	// lines are counted; empty where there was none.
	Base string
	// Unignored are paths of which it is known that git doesn't ignore them: where
	// all new files are among them git isn't asked.
	Unignored map[string]bool
	// Head is HEAD's tree, whose files it doesn't ignore either; empty for none.
	Head git.OID
}

// Taken is the result of a capture.
type Taken struct {
	Files      map[string]Captured
	Unfinished bool
	Warnings   []string
}

// Files captures the files at paths (from the root), taking from known what has
// not changed: that costs a look at each, no reading. The first paths have the
// first right to what room there is. Unfinished says that Work or ctx was not
// enough, warnings are for people. Nothing outside the worktree is read, nor
// what a link leads to. An error means that contents could not be stored; all
// else is there.
func (c Capture) Files(ctx context.Context, paths []string, known map[string]Captured) (Taken, error) {
	taken := Taken{Files: make(map[string]Captured, len(paths))}
	root, err := dirfd.OpenRoot(c.Repo.Root)
	if err != nil {
		return taken, fmt.Errorf("capture files: %w", err)
	}
	w := &capturing{
		Capture: c, root: root, exclude: rules.NewExclusion(c.Limits.Exclude), taken: &taken,
		room: c.Limits.Total, work: c.Limits.Work,
		began: time.Now(), //nolint:forbidigo // the age of a file has no other clock
	}
	err = w.run(ctx, paths, known)
	if err = errors.Join(err, root.Close(), c.Repo.SyncObjects()); err != nil {
		return taken, fmt.Errorf("capture files: %w", err)
	}
	return taken, nil
}

// capturing is one run of Files.
type capturing struct {
	Capture
	root    *dirfd.Dir
	exclude rules.Exclusion
	began   time.Time
	taken   *Taken
	// room is left in the checkpoint, work of what may be read.
	room, work int64
	base       baseTree
}

func (w *capturing) run(ctx context.Context, paths []string, known map[string]Captured) error {
	todo := w.look(paths, known)
	err := w.place(ctx, todo)
	switch {
	case ctx.Err() != nil:
		w.leave(todo)
		return nil //nolint:nilerr // that the time is over is in Unfinished
	case err != nil:
		return err
	}
	var failed []error
	for i, s := range todo {
		if ctx.Err() != nil {
			w.leave(todo[i:])
			break
		}
		if err := w.read(ctx, s); err != nil {
			failed = append(failed, err)
		}
	}
	w.warn(paths)
	return errors.Join(failed...)
}

// look sees what is at the paths, takes what is known, and answers the rest.
func (w *capturing) look(paths []string, known map[string]Captured) []*observation {
	var todo []*observation
	seen := make(map[string]bool, len(paths))
	for _, path := range paths {
		if seen[path] {
			continue
		}
		seen[path] = true
		if !git.ValidPath(path) {
			w.taken.Warnings = append(w.taken.Warnings, fmt.Sprintf("%.100q can't be a file of the worktree", path))
			continue
		}
		s := w.see(path)
		s.known, s.had = known[path]
		if s.kind != missing {
			s.omitted = w.byName(path)
		}
		if w.reuses(s) {
			w.take(s, s.known)
		} else {
			todo = append(todo, s)
		}
	}
	return todo
}

// reuses says whether what is known of the file still holds.
func (w *capturing) reuses(s *observation) bool {
	k := &s.known
	if !s.had || k.Path != s.path {
		return false
	}
	byName := s.omitted != ""
	if byName || k.Omitted == recall.Excluded || k.Omitted == recall.Forgotten || k.Omitted == recall.Secret {
		return byName && k.Omitted == s.omitted
	}
	if k.Stat == "" || k.Stat != s.mark {
		return false
	}
	if !w.Limits.Contents {
		return true
	}
	return w.holds(k)
}

// holds says whether a file that hasn't changed is what the limits want it to be.
func (w *capturing) holds(k *Captured) bool {
	switch k.Omitted {
	case "":
		return k.Size <= w.Limits.File && k.Size <= w.room && w.Repo.Keep(git.OID(k.Blob))
	case recall.TooLarge:
		return k.Size > w.Limits.File
	case recall.Binary, recall.Link, recall.Gone, recall.Ignored, recall.BuildMade:
		return true
	default: // NoRoom is told when it is known what the others take
		return false
	}
}

// take is what becomes of a file.
func (w *capturing) take(s *observation, f Captured) {
	f.Path = s.path
	if !w.Limits.Contents {
		if f.Blob = ""; f.Omitted == "" {
			f.Omitted = recall.NotWanted
		}
	}
	if f.Blob != "" {
		w.room -= f.Size
	}
	f.File.Blob = f.Blob
	w.taken.Files[s.path] = f
}

// leave keeps of files what was known before, else that they are there.
func (w *capturing) leave(todo []*observation) {
	w.taken.Unfinished = true
	for _, s := range todo {
		f := s.known
		if !s.had && s.placed {
			f.File = recall.File{Change: w.change(s), Omitted: cmp.Or(s.omitted, recall.Unread), Size: s.stat.Size, LastModified: time.Unix(0, s.stat.Mtime).UTC()}
		}
		if s.had || s.placed {
			w.take(s, f)
		}
	}
}

// warn tells what is kept without its content because of its size.
func (w *capturing) warn(paths []string) {
	const most = 10
	var large, crowded []string
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		f := w.taken.Files[path]
		if f.Omitted == recall.TooLarge {
			large = append(large, fmt.Sprintf("%s: only its hash is kept, as its %s are more than max_file_size, %s",
				path, recall.FormatSize(f.Size), recall.FormatSize(w.Limits.File)))
		}
		if f.Omitted == recall.NoRoom {
			crowded = append(crowded, path)
		}
	}
	if len(large) > most {
		large = append(large[:most], fmt.Sprintf("%d more files are larger than max_file_size", len(large)-most))
	}
	w.taken.Warnings = append(w.taken.Warnings, large...)
	if len(crowded) > 0 {
		w.taken.Warnings = append(w.taken.Warnings, fmt.Sprintf(
			"only the hashes of %d files are kept, as all contents are more than max_checkpoint_size, %s", len(crowded), recall.FormatSize(w.Limits.Total)))
	}
}
