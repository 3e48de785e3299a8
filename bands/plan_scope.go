package bands

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

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
	// Delete says whether a path that the target lacks may be removed; nil: yes.
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
	Target Version
}

// Error names the paths.
func (e *PathsError) Error() string {
	return "no file matches " + strings.Join(e.Paths, ", ") + " in " + e.Target.String() + " or now"
}

// CheckPaths returns a PathsError if the scope has paths that neither the snapshot
// nor the tree has. A restore itself ignores them: not all paths are named by a
// person.
func (s *Store) CheckPaths(target Snapshot, in Scope) error {
	if in.Root == "" {
		in.Root = target.Root
	}
	c, err := in.compile(nil)
	if err != nil || len(c.named) == 0 {
		return err
	}
	root, ok := target.Tree.Ref()
	if !ok {
		return fmt.Errorf("snapshot %s: %w", target.Version, ErrDamaged)
	}
	records, reader := s.Loader(target)
	defer func() { _ = reader.Close() }()
	var missing []string
	for name := range c.named {
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
	dir, err := openBelow(root, parentOf(path))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, syscall.ELOOP)
	}
	defer func() { _ = dir.Close() }()
	var st dirfd.Stat
	return !errors.Is(dir.Stat(baseOf(path), &st), fs.ErrNotExist)
}

// relation is how a path stands to a scope.
type relation int

const (
	outside relation = iota
	above            // a directory that holds something of the scope
	inside
)

// agentDir holds the agent's settings and is restored only when named.
const agentDir = ".claude"

// scope is a Scope in a form that answers fast.
type scope struct {
	Scope
	named, over map[string]bool // the paths, and the directories above them
	hidden      map[string]bool
	at          time.Time // the present time; zero in a preview
	folds       *bool     // whether the file system ignores case; nil: not known yet
	undo        *undoing  // nil: whatever the target has comes back
}

// compile checks the paths. hidden are never touched, nor are the tree's own
// .git and .entire.
func (s Scope) compile(hidden []string) (*scope, error) {
	c := &scope{Scope: s, named: map[string]bool{}, over: map[string]bool{}, hidden: map[string]bool{".git": true, ".entire": true}}
	for _, h := range hidden {
		c.hidden[path.Clean(h)] = true
	}
	for _, p := range s.Paths {
		clean := path.Clean(p)
		if p == "" || path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../") || strings.IndexByte(p, 0) >= 0 {
			return nil, fmt.Errorf("%q is not a path inside the tree", p)
		}
		if clean == "." {
			clean = ""
		}
		c.named[clean] = true
		for clean != "" {
			clean = parentOf(clean)
			c.over[clean] = true
		}
	}
	return c, nil
}

// parentOf is the directory of a path from the root; "" is the root.
func parentOf(p string) string {
	return p[:max(strings.LastIndexByte(p, '/'), 0)]
}

func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

func (s *scope) relate(p string) relation {
	if len(s.named) == 0 {
		return inside
	}
	for up := p; ; up = parentOf(up) {
		if s.named[up] {
			return inside
		}
		if up == "" {
			break
		}
	}
	if s.over[p] {
		return above
	}
	return outside
}

// names reports whether a path of the scope is at or below p. What a restore
// changed counts as named when it is taken back.
func (s *scope) names(p string) bool {
	return s.named[p] || s.over[p] || s.undo != nil && s.undo.changed.reaches(p)
}

// hides reports whether the path is never touched. Where the file system
// doesn't distinguish .git from .GIT, neither is.
func (s *scope) hides(p string) bool {
	if s.hidden[p] {
		return true
	}
	if len(p) > len(".entire") || !s.hidden[strings.ToLower(p)] {
		return false
	}
	if s.folds == nil {
		folds := ignoresCase(s.Root)
		s.folds = &folds
	}
	return *s.folds
}

func (s *scope) keeps(p string, now, want *tree.Entry) bool {
	return s.Keep != nil && s.Keep(p, now, want)
}

func (s *scope) deletes(p string, e *tree.Entry) bool { return s.Delete == nil || s.Delete(p, *e) }

// relIn is the path of target below root, slashes between; false if it isn't there.
func relIn(root, target string) (string, bool) {
	rel, err := filepath.Rel(root, target)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}
