package contextstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// CaptureLimits are the limits of a capture.
type CaptureLimits struct {
	// File and Total are in bytes. Of a file larger than File, or beyond Total, only path
	// and hash are kept.
	File, Total int64
	// Exclude are patterns of paths: `dir/**`, `*.log`.
	Exclude []string
	// Forgotten are paths whose contents are not kept at the user's request.
	Forgotten []string
	// Contents enables storing contents. If false, files are only hashed, and git is not
	// asked for ignored paths.
	Contents bool
	// Work is the limit of the bytes read, 0 for none. Files beyond it keep their known
	// state, and the result is Unfinished.
	Work int64
}

// Captured is a captured file, kept between hooks so that a file is read again only when it
// changed.
type Captured struct {
	recall.File

	Blob string `json:"blob,omitempty"`
	// Stat is the file's size, mtime, ctime and inode; a difference means that the file may
	// have changed. It is empty if the file changed too recently for equal values to prove
	// anything.
	Stat string `json:"stat"`
	// Own is the git object id of the file's own bytes, Head the tree that Tracked refers
	// to.
	Own  string `json:"own,omitempty"`
	Head string `json:"head,omitempty"`
}

// Capture reads files of a worktree, and writes their redacted contents as
// objects.
type Capture struct {
	Repo   *git.Repo
	Redact plain.Redactor
	Limits CaptureLimits
	// Base is the commit at the session's start, the base for changes and line counts;
	// empty if there was none.
	Base string
	// Unignored holds paths known not to be ignored, so that git is not asked about them.
	Unignored map[string]bool
	// Head is HEAD's tree, whose files are not ignored either; empty for none.
	Head git.OID
	// Progress, if not nil, is called with the number of files read so far and in total.
	Progress func(done, total int)
}

// Taken is the result of a capture.
type Taken struct {
	Files      map[string]Captured
	Unfinished bool
	Warnings   []string
}

// Files captures the files at paths, relative to the root. Files in known that have not
// changed are not read again. Earlier paths have precedence for the limits. Unfinished
// means that Work was used up or ctx ended before all were read. Warnings are for the user.
// Symbolic links are not followed, and nothing outside the worktree is read. An error means
// that contents could not be stored; the rest of the result is valid.
func (c Capture) Files(ctx context.Context, paths []string, known map[string]Captured) (Taken, error) {
	taken := Taken{Files: make(map[string]Captured, len(paths))}
	root, err := dirfd.OpenRoot(c.Repo.Root)
	if err != nil {
		return taken, fmt.Errorf("capture files: %w", err)
	}
	w := &capturing{
		Capture: c, exclude: capture.NewExclusion(c.Limits.Exclude), taken: &taken,
		room: c.Limits.Total, work: c.Limits.Work,
		tree: worktree{root: root, began: time.Now()}, //nolint:forbidigo // the age of a file has no other clock
		base: baseTree{repo: c.Repo, commit: c.Base},
		head: headTree{repo: c.Repo, oid: c.Head},
	}
	todo := w.look(paths, known)
	var failed []error
	switch err := w.place(ctx, todo); {
	case ctx.Err() != nil: // reported as Unfinished
		w.leave(todo)
	case err != nil:
		failed = append(failed, err)
	default:
		failed = w.readAll(ctx, paths, todo)
	}
	if err = errors.Join(append(failed, root.Close(), c.Repo.SyncObjects())...); err != nil {
		return taken, fmt.Errorf("capture files: %w", err)
	}
	return taken, nil
}

// capturing is one run of Files.
type capturing struct {
	Capture
	exclude capture.Exclusion
	taken   *Taken
	// room is the space left in the checkpoint, work the bytes that may still be read.
	room, work int64

	tree worktree
	base baseTree
	head headTree
}

// readAll reads the files in todo, and compares all taken files with HEAD's tree.
func (w *capturing) readAll(ctx context.Context, paths []string, todo []*observation) (failed []error) {
	for i, s := range todo {
		if ctx.Err() != nil {
			w.leave(todo[i:])
			break
		}
		if w.Progress != nil {
			w.Progress(i, len(todo))
		}
		if err := w.read(ctx, s); err != nil {
			failed = append(failed, err)
		}
	}
	for path, f := range w.taken.Files {
		// A file that was compared with the same tree is not looked up again.
		if ctx.Err() == nil && (f.Head != string(w.Head) || f.Head == "") {
			f.Head, f.Tracked = string(w.Head), w.head.compare(ctx, path, f)
			w.taken.Files[path] = f
		}
	}
	// Warn about files whose content is not kept because of its size.
	const most = 10
	var large, crowded []string
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		f := w.taken.Files[path]
		if f.Omitted == recall.TooLarge {
			large = append(large, fmt.Sprintf("%s: only its hash is kept: its %s exceed max_file_size, %s",
				path, recall.FormatSize(f.Size), recall.FormatSize(w.Limits.File)))
		}
		if f.Omitted == recall.NoRoom {
			crowded = append(crowded, path)
		}
	}
	if len(large) > most {
		large = append(large[:most], fmt.Sprintf("%d more files exceed max_file_size", len(large)-most))
	}
	w.taken.Warnings = append(w.taken.Warnings, large...)
	if len(crowded) > 0 {
		w.taken.Warnings = append(w.taken.Warnings, fmt.Sprintf(
			"only the hashes of %d files are kept: their contents exceed max_checkpoint_size, %s", len(crowded), recall.FormatSize(w.Limits.Total)))
	}
	return failed
}

// look observes the paths, takes the files whose known state is still valid, and returns
// the rest.
func (w *capturing) look(paths []string, known map[string]Captured) []*observation {
	var todo []*observation
	seen := make(map[string]bool, len(paths))
	for _, path := range paths {
		if seen[path] {
			continue
		}
		seen[path] = true
		if !git.ValidPath(path) {
			w.taken.Warnings = append(w.taken.Warnings, fmt.Sprintf("%.100q can't be a file in the worktree", path))
			continue
		}
		s := w.tree.see(path)
		s.known, s.had = known[path]
		switch { // not kept because of the path
		case s.kind == missing:
		case slices.Contains(w.Limits.Forgotten, path):
			s.omitted = recall.Forgotten
		case isSecretFile(path):
			s.omitted = recall.Secret
		case w.exclude.File(path):
			s.omitted = recall.Excluded
		}
		if w.reuses(s) {
			w.take(s, s.known)
		} else {
			todo = append(todo, s)
		}
	}
	return todo
}

// reuses reports whether the known state of the file is still valid.
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
	switch k.Omitted { // whether the limits would give the same result
	case "":
		return k.Size <= w.Limits.File && k.Size <= w.room && w.Repo.Loose.Keep(git.OID(k.Blob))
	case recall.TooLarge:
		return k.Size > w.Limits.File
	case recall.Binary, recall.Link, recall.Gone, recall.Ignored, recall.BuildMade:
		return true
	default: // NoRoom depends on the size of the others
		return false
	}
}

// take adds a file to the result.
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

// leave takes the known state of the files, or records only their existence if there is
// none.
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
