package plan

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
	"github.com/seed-3aff656d/entire/bands/contents"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// Scope is what a restore is about. The zero Scope is the whole tree, as the
// target has it.
type Scope struct {
	// Root is the tree's absolute path; "": the target's.
	Root string
	// Paths are files and directories, relative to the root, with all below
	// them; none: the whole tree.
	Paths []string
	// Nested restores nested repositories and submodules too. One that is named
	// in Paths, or holds a path named there, is restored without it.
	Nested bool
	// Delete reports whether a path that the target lacks may be removed; nil: yes.
	// It is asked for files, symlinks and empty directories: a directory goes
	// with the last thing in it.
	Delete func(path string, e tree.Entry) bool
	// Keep reports which paths stay as they are, with all below them, whatever the
	// target has; nil: none. It is asked for paths that differ, with what is there
	// now and what the target has, each nil if there is nothing.
	Keep func(path string, now, want *tree.Entry) bool
	// Force restores databases that a process has open.
	Force bool
	// PresentTime gives a file that is written the present time instead
	// of its former one, so that build tools see that it changed. A file that
	// differs in its time alone stays.
	PresentTime bool
}

// PathsError means that paths which were named are neither in the snapshot nor in
// the tree.
type PathsError struct {
	Paths  []string
	Target bands.Version
}

// Error names the paths.
func (e *PathsError) Error() string {
	return "no file matches " + strings.Join(e.Paths, ", ") + " in " + e.Target.String() + " or now"
}

// CheckPaths returns a PathsError if the scope has paths that neither the snapshot
// nor the tree has. A restore itself ignores them: not all paths are named by a
// person.
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
		if _, err := tree.Lookup(records, root, name); name == "" || !errors.Is(err, fs.ErrNotExist) {
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

// isBelow reports whether something is at the path, which may not lead through
// a symbolic link.
func isBelow(root, path string) bool {
	dir, err := contents.OpenBelow(root, tree.ParentPath(path))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, syscall.ELOOP)
	}
	defer func() { _ = dir.Close() }()
	var st dirfd.Stat
	return !errors.Is(dir.Stat(tree.BasePath(path), &st), fs.ErrNotExist)
}

// Relation is that of a path to a scope.
type Relation int

// The relations.
const (
	Outside Relation = iota
	Above            // a directory that holds something of the scope
	Inside
)

// AgentDir holds the agent's settings and is restored only when named.
const AgentDir = ".claude"

// Selection is a Scope in a form that is fast to test.
type Selection struct {
	Scope
	Named, Over map[string]bool // the paths, and the directories above them
	Hidden      map[string]bool
	At          time.Time // the present time; zero in a preview
	folds       *bool     // whether the file system ignores case; nil: not known yet
	Undo        *Undoing  // nil: whatever the target has comes back
	// Only are the paths of a partial target, and the directories above them; nil: it
	// is of the whole tree. Nothing is known of other paths.
	Only map[string]bool
}

// Compile checks the paths. hidden are never touched, nor are the tree's own
// .git and .entire.
func (s Scope) Compile(hidden []string) (*Selection, error) {
	c := &Selection{Scope: s, Named: map[string]bool{}, Over: map[string]bool{}, Hidden: map[string]bool{".git": true, ".entire": true}}
	for _, h := range hidden {
		c.Hidden[path.Clean(h)] = true
	}
	for _, p := range s.Paths {
		clean := path.Clean(p)
		if p == "" || path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") || strings.IndexByte(p, 0) >= 0 {
			return nil, fmt.Errorf("%q is not a path inside the tree", p)
		}
		if clean == "." {
			clean = ""
		}
		c.Named[clean] = true
		for clean != "" {
			clean = tree.ParentPath(clean)
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
	for up := p; ; up = tree.ParentPath(up) {
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
		for ; p != ""; p = tree.ParentPath(p) {
			s.Only[p] = true
		}
	}
}

// names reports whether a path of the scope is at or below p. What a restore
// changed counts as named when it is taken back.
func (s *Selection) names(p string) bool {
	return s.Named[p] || s.Over[p] || s.Undo != nil && s.Undo.Changed.reaches(p)
}

// Hides reports whether the path is never touched. Where the file system
// doesn't distinguish .git from .GIT, neither is.
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

func (s *Selection) keeps(p string, now, want *tree.Entry) bool {
	return s.Keep != nil && s.Keep(p, now, want)
}

func (s *Selection) deletes(p string, e *tree.Entry) bool { return s.Delete == nil || s.Delete(p, *e) }
