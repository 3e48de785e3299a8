package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// Scope limits a restore. The zero Scope restores the whole tree exactly.
type Scope struct {
	// Root is the tree's absolute path; "": the target's.
	Root string
	// Paths are files and directories, relative to the root, with everything below them; empty
	// for the whole tree.
	Paths []string
	// Nested restores nested repositories and submodules too. Those that are named in Paths, or
	// contain a path named there, are always restored.
	Nested bool
	// Delete reports whether a path that the target lacks may be removed; nil: always. It is
	// called for files, symlinks and empty directories: other directories are removed with their
	// last entry.
	Delete func(path string, e band.Entry) bool
	// Keep reports whether a path stays unchanged, with everything below it; nil: none does. It
	// is called for paths that differ, with the present entry and that of the target, each nil if
	// there is none.
	Keep func(path string, now, want *band.Entry) bool
	// Force restores databases that a process has open.
	Force bool
	// PresentTime gives written files the present time instead of their former one, so that build
	// tools detect the change. A file that differs only in its time stays.
	PresentTime bool
}

// PathsError means that named paths are neither in the snapshot nor in the tree.
type PathsError struct {
	Paths  []string
	Target bands.Version
}

// Error lists the paths.
func (e *PathsError) Error() string {
	return "no file matches " + strings.Join(e.Paths, ", ") + " in " + e.Target.String() + " or now"
}

// CheckPaths returns a PathsError if the scope has paths that neither the snapshot nor the tree
// has. A restore itself ignores them: not all paths are given by a user.
func CheckPaths(s *bands.Store, target bands.Snapshot, in Scope) error {
	if in.Root == "" {
		in.Root = target.Root
	}
	c, err := in.Compile(nil)
	if err != nil || len(c.Named) == 0 {
		return err
	}
	root, ok := target.Tree.Ref()
	if !ok {
		return fmt.Errorf("snapshot %s: %w", target.Version, bands.ErrDamaged)
	}
	records, reader := s.Loader(target)
	defer func() { _ = reader.Close() }()
	var missing []string
	for name := range c.Named {
		if _, err := band.LookupPath(records, root, name); name == "" || !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if !isBelow(c.Root, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return &PathsError{Paths: missing, Target: target.Version}
}

// isBelow reports whether the path may exist, without following symbolic links.
func isBelow(root, path string) bool {
	dir, err := bands.OpenBelow(root, band.ParentPath(path))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, syscall.ELOOP)
	}
	defer func() { _ = dir.Close() }()
	var st dirfd.Stat
	return !errors.Is(dir.Stat(band.BasePath(path), &st), fs.ErrNotExist)
}

// Relation is the relation of a path to a scope.
type Relation int

// The relations.
const (
	Outside Relation = iota
	Above            // a directory that contains paths of the scope
	Inside
)

// agentDir contains the agent's settings and is restored only when named.
const agentDir = ".claude"

// Selection is a Scope compiled for fast tests.
type Selection struct {
	Scope
	Named, Over map[string]bool // the paths, and the directories above them
	Hidden      map[string]bool
	At          time.Time  // the present time; zero in a preview
	folds       *bool      // whether the file system ignores case; nil: not known yet
	Undo        *undoScope // nil: the plan isn't limited by an undo
	// Only are the paths of a partial target, and the directories above them; nil if the target
	// is of the whole tree. The states of other paths are unknown.
	Only map[string]bool
}

// Compile checks the paths. The paths hidden are never touched, nor are the tree's own .git and
// .entire.
func (s Scope) Compile(hidden []string) (*Selection, error) {
	c := &Selection{Scope: s, Named: map[string]bool{}, Over: map[string]bool{}, Hidden: map[string]bool{".git": true, ".entire": true}}
	for _, h := range hidden {
		c.Hidden[path.Clean(h)] = true
	}
	for _, p := range s.Paths {
		clean := path.Clean(p)
		if p == "" || path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") || strings.IndexByte(p, 0) >= 0 {
			return nil, fmt.Errorf("%q is not a path in the tree", p)
		}
		if clean == "." {
			clean = ""
		}
		c.Named[clean] = true
		for clean != "" {
			clean = band.ParentPath(clean)
			c.Over[clean] = true
		}
	}
	return c, nil
}

// Relate returns the relation of a path.
func (s *Selection) Relate(p string) Relation {
	if len(s.Named) == 0 {
		return Inside
	}
	for up := p; ; up = band.ParentPath(up) {
		if s.Named[up] {
			return Inside
		}
		if up == "" {
			break
		}
	}
	if s.Over[p] {
		return Above
	}
	return Outside
}

// Limit limits the selection to the paths of a partial target.
func (s *Selection) Limit(only bands.Paths) {
	if len(only) > 0 {
		s.Only = map[string]bool{}
	}
	for _, p := range only {
		for ; p != ""; p = band.ParentPath(p) {
			s.Only[p] = true
		}
	}
}

// names reports whether a path of the scope is at or below p. In an undo, the paths that the
// restore changed count as named.
func (s *Selection) names(p string) bool {
	return s.Named[p] || s.Over[p] || s.Undo != nil && s.Undo.Changed.reaches(p)
}

// Hides reports whether the path is never touched. If the file system ignores case this includes
// .GIT, for example.
func (s *Selection) Hides(p string) bool {
	if s.Hidden[p] {
		return true
	}
	if len(p) > len(".entire") || !s.Hidden[strings.ToLower(p)] {
		return false
	}
	if s.folds == nil {
		folds := bands.IgnoresCase(s.Root)
		s.folds = &folds
	}
	return *s.folds
}

func (s *Selection) keeps(p string, now, want *band.Entry) bool {
	return s.Keep != nil && s.Keep(p, now, want)
}

func (s *Selection) deletes(p string, e *band.Entry) bool { return s.Delete == nil || s.Delete(p, *e) }
