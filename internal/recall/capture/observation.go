package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
	"github.com/seed-3aff656d/entire/internal/git/gitwork"
	"github.com/seed-3aff656d/entire/internal/recall"
)

// observation is what is known of a path before it is read.
type observation struct {
	path   string
	stat   dirfd.Stat
	kind   fileKind
	mark   string // Captured.Stat, if it is the same after reading
	nested string // the root of the repository below this one that it is in

	known   Captured
	had     bool // known is valid
	omitted recall.Omitted
	// base is the entry of the path in the base, if inBase.
	base   git.TreeEntry
	inBase bool
	placed bool // base, nested and omitted are set
}

type fileKind int

const (
	missing fileKind = iota
	regular
	link
	odd // of another type, or not readable
)

// goneMark is the mark of a missing file.
const goneMark = "gone"

// see observes a path. It follows no symbolic links: a path through one is missing.
func (w *capturing) see(path string) *observation {
	s := &observation{path: path, mark: goneMark}
	err := w.in(path, func(dir *dirfd.Dir, name, nested string) error {
		s.nested = nested
		return dir.Stat(name, &s.stat)
	})
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP):
		return s
	case err != nil:
		s.kind, s.mark = odd, ""
		return s
	}
	switch {
	case s.stat.IsDir():
		return s // in place of the file
	case s.stat.IsRegular():
		s.kind = regular
	case s.stat.IsSymlink():
		s.kind = link
	default:
		s.kind = odd
	}
	s.mark = w.markOf(&s.stat)
	return s
}

// in calls do with the directory of a path.
func (w *capturing) in(path string, do func(dir *dirfd.Dir, name, nested string) error) error {
	dir, nested, rest := w.root, "", path
	for {
		name, below, found := strings.Cut(rest, "/")
		if !found {
			return errors.Join(do(dir, name, nested), w.done(dir))
		}
		next, err := dir.Open(name)
		if err = errors.Join(err, w.done(dir)); err != nil {
			return err
		}
		var repository dirfd.Stat
		if dir, rest = next, below; dir.Stat(".git", &repository) == nil {
			nested = strings.TrimSuffix(path, "/"+rest)
		}
	}
}

// done closes a directory, except the root.
func (w *capturing) done(dir *dirfd.Dir) error {
	if dir == w.root {
		return nil
	}
	return dir.Close()
}

// markOf returns the mark of a file: none if it changed so recently that another change
// may leave the same mark.
func (w *capturing) markOf(s *dirfd.Stat) string {
	tick := 100 * time.Millisecond
	if s.Coarse() {
		tick = 2 * time.Second
	}
	if max(s.Mtime, s.Ctime) > w.began.Add(-tick).UnixNano() {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d.%d.%d", s.Size, s.Mtime, s.Ctime, s.Ino, s.Mode)
}

// baseTree is the tree of the commit at the session's start.
type baseTree struct {
	oid  git.OID
	read bool
	// unknown is set if there is a base that can't be read.
	unknown bool
}

// place finds the files in the base, and which of the new ones git ignores or a build
// made.
func (w *capturing) place(ctx context.Context, todo []*observation) error {
	var fresh []string
	nested := map[string][]string{}
	for _, s := range todo {
		if err := w.placeOne(ctx, s); err != nil {
			return err
		}
		if !w.isFresh(s) {
			continue
		}
		if s.nested != "" {
			nested[s.nested] = append(nested[s.nested], s.path)
			continue
		}
		built, err := w.isBuilt(ctx, s.path)
		switch {
		case err != nil:
			return err
		case built:
			s.omitted = recall.BuildMade
		case !w.Unignored[s.path] && !w.tracked(ctx, s.path):
			fresh = append(fresh, s.path)
		}
	}
	ignored := w.ignored(ctx, fresh)
	w.ignoredBelow(ctx, nested, ignored)
	for _, s := range todo {
		s.placed = s.kind != missing
		if ignored[s.path] {
			s.omitted = recall.Ignored
		}
	}
	return nil
}

// isFresh reports whether a file whose content may be kept is not in the base.
func (w *capturing) isFresh(s *observation) bool {
	return w.Limits.Contents && s.kind == regular && s.omitted == "" && !s.inBase && (s.nested != "" || !w.base.unknown)
}

// tracked reports whether HEAD has the file, so that git does not ignore it.
func (w *capturing) tracked(ctx context.Context, path string) bool {
	if w.Head == "" {
		return false
	}
	_, found, err := gittree.Lookup(ctx, w.Repo, w.Head, path)
	return err == nil && found
}

// ignored returns which of the paths git ignores: all, if git fails.
func (w *capturing) ignored(ctx context.Context, paths []string) map[string]bool {
	list, err := gitwork.Ignored(ctx, w.Repo, paths)
	if err != nil {
		w.taken.Warnings = append(w.taken.Warnings, "git doesn't tell what it ignores: no contents of new files are kept")
		list = paths
	}
	ignored := make(map[string]bool, len(list))
	for _, path := range list {
		ignored[path] = true
	}
	return ignored
}

// ignoredBelow adds the paths that nested repositories ignore, by the root of each: all,
// if git fails.
func (w *capturing) ignoredBelow(ctx context.Context, nested map[string][]string, ignored map[string]bool) {
	for root, paths := range nested {
		list, err := w.askBelow(ctx, root, paths)
		if err != nil {
			w.taken.Warnings = append(w.taken.Warnings, fmt.Sprintf("git doesn't tell what it ignores in %.100q: no contents of its files are kept", root))
			list = paths
		}
		for _, path := range list {
			ignored[path] = true
		}
	}
}

func (w *capturing) askBelow(ctx context.Context, root string, paths []string) (list []string, err error) {
	repo, err := w.Repo.Below(root)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	asked := make([]string, len(paths))
	for i, path := range paths {
		asked[i] = strings.TrimPrefix(path, root+"/")
	}
	names, err := gitwork.Ignored(ctx, repo, asked)
	for _, name := range names {
		list = append(list, root+"/"+name)
	}
	return list, err
}

// placeOne looks up the path in the base.
func (w *capturing) placeOne(ctx context.Context, s *observation) error {
	if !w.base.read {
		w.base.read = true
		if w.Base != "" {
			c, err := w.Repo.Commit(ctx, w.Base)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			w.base.oid, w.base.unknown = c.Tree, err != nil
		}
	}
	if w.base.oid == "" {
		return nil
	}
	e, found, err := gittree.Lookup(ctx, w.Repo, w.base.oid, s.path)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // damaged
		w.base.unknown = true
		return nil //nolint:nilerr // unknown is what callers need
	}
	s.base, s.inBase = e, found && e.Mode != git.ModeTree
	return nil
}

// isBuilt reports whether a path that is not in the base is below a folder of builds or
// package managers that is not in the base either.
func (w *capturing) isBuilt(ctx context.Context, path string) (bool, error) {
	for i, c := range path {
		if c != '/' || !isBuildFolder(path[strings.LastIndexByte(path[:i], '/')+1:i]) {
			continue
		}
		if w.base.oid == "" {
			return true, nil
		}
		_, found, err := gittree.Lookup(ctx, w.Repo, w.base.oid, path[:i])
		if err != nil || !found {
			return err == nil, err
		}
	}
	return false, nil
}
