package capture

import (
	"crypto/sha256"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Rules determine which paths of a tree are not captured. Paths are relative to the
// root; the root is "".
type Rules struct {
	exclude []pattern
	literal map[string]bool // excluded whole paths
	// only are the captured paths and the directories above them; nil: all are captured.
	only map[string]bool
	// forgotten are paths that are excluded because they were forgotten.
	forgotten map[string]bool
	// Names by their directory.
	hidden    map[string][]string
	worktrees map[string][]string
	Print     band.Hash
}

// NewRules compiles the options; store is the store's directory.
func NewRules(o bands.Options, store string) *Rules {
	r := &Rules{literal: map[string]bool{}, hidden: map[string][]string{}, worktrees: map[string][]string{}}
	for _, p := range o.Hidden {
		hang(r.hidden, path.Clean(filepath.ToSlash(p)))
	}
	if p, ok := below(o.Root, store); ok {
		hang(r.hidden, p)
	}
	for _, w := range o.Worktrees {
		if p, ok := below(o.Root, w); ok {
			hang(r.worktrees, p)
		}
	}
	r.addPatterns(o.Exclude)
	text := fmt.Sprintf("%q %q %q", o.Exclude, r.hidden, r.worktrees) // maps print sorted
	if len(o.Forgotten) > 0 {
		r.forgotten = make(map[string]bool, len(o.Forgotten))
		text += fmt.Sprintf(" %q", o.Forgotten)
	}
	for _, p := range o.Forgotten {
		r.forgotten[p] = true
	}
	if len(o.Only) > 0 {
		r.only = map[string]bool{}
		text += fmt.Sprintf(" %q", o.Only)
	}
	for _, p := range o.Only {
		for ; p != ""; p = band.ParentPath(p) {
			r.only[p] = true
		}
	}
	r.Print = sha256.Sum256([]byte(text))
	return r
}

func (r *Rules) addPatterns(patterns []string) {
	for _, text := range patterns {
		if p, ok := literalPath(text); ok {
			r.literal[p] = true
		} else if p, ok := newPattern(text); ok {
			r.exclude = append(r.exclude, p)
		}
	}
}

// hang adds a path to the names of its directory.
func hang(in map[string][]string, p string) {
	dir, name := path.Split(p)
	dir = strings.TrimSuffix(dir, "/")
	if name != "" && name != "." && !slices.Contains(in[dir], name) {
		in[dir] = append(in[dir], name)
	}
}

// below returns the path of p from root; false if it isn't below.
func below(root, p string) (string, bool) {
	rel, err := filepath.Rel(disk.Physical(root), disk.Physical(p))
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// Hides reports whether the name in the directory is neither captured nor unknown.
func (r *Rules) Hides(dir, name string) bool {
	return slices.Contains(r.hidden[dir], name) || bands.IsTemp(name)
}

// Reason returns the reason for leaving out the name in the directory, or 0.
func (r *Rules) Reason(dir, name string, isDir bool) band.UnknownReason {
	if isDir && slices.Contains(r.worktrees[dir], name) {
		return band.Worktree
	}
	if len(r.exclude)+len(r.literal)+len(r.forgotten)+len(r.only) == 0 {
		return 0
	}
	whole := band.JoinPath(dir, name)
	if r.only != nil && !r.only[whole] {
		return band.Excluded
	}
	if r.forgotten[whole] && !isDir {
		return band.Forgotten
	}
	if r.literal[whole] {
		return band.Excluded
	}
	segments := strings.Split(whole, "/")
	for i := range r.exclude {
		p := &r.exclude[i]
		if (isDir || !p.dirs) && p.matches(segments) {
			return band.Excluded
		}
	}
	return 0
}
