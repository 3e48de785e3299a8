// Package rules decides which paths of a tree are captured: the patterns of the
// options, hidden paths, the store itself and linked worktrees.
package rules

import (
	"crypto/sha256"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Rules say which paths of a tree are not captured. Paths are relative to the
// root; the root is "".
type Rules struct {
	exclude []pattern
	literal map[string]bool // whole paths that are excluded
	// forgotten are whole paths that are excluded because they were forgotten.
	forgotten map[string]bool
	// Names by the directory they are in.
	hidden    map[string][]string
	worktrees map[string][]string
	Print     band.Hash
}

// pattern is one of Options.Exclude, taken apart.
type pattern struct {
	segments []string
	dirs     bool // matches directories only
}

// New takes the options apart; store is the store's directory.
func New(o bands.Options, store string) *Rules {
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

// hang puts a path under the directory that it is in.
func hang(in map[string][]string, p string) {
	dir, name := path.Split(p)
	dir = strings.TrimSuffix(dir, "/")
	if name != "" && name != "." && !slices.Contains(in[dir], name) {
		in[dir] = append(in[dir], name)
	}
}

// below is the path of p from root, if it is inside.
func below(root, p string) (string, bool) {
	rel, err := filepath.Rel(disk.Physical(root), disk.Physical(p))
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// literalPath is the one path that a pattern is about, if there is only one.
func literalPath(text string) (string, bool) {
	rest, ok := strings.CutPrefix(text, "/")
	var p strings.Builder
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '*', '?', '[':
			return "", false
		case '\\':
			if i++; i == len(rest) {
				return "", false
			}
		}
		p.WriteByte(rest[i])
	}
	return p.String(), ok && rest != "" && !strings.HasSuffix(rest, "/")
}

// newPattern parses a pattern; it reports false if nothing can match it.
func newPattern(text string) (pattern, bool) {
	p := pattern{dirs: strings.HasSuffix(text, "/")}
	text = strings.TrimSuffix(text, "/")
	rooted := strings.Contains(text, "/")
	text = strings.TrimPrefix(text, "/")
	if text == "" {
		return pattern{}, false
	}
	if !rooted {
		p.segments = append(p.segments, "**")
	}
	p.segments = append(p.segments, strings.Split(text, "/")...)
	return p, true
}

// matches reports whether the pattern is about the path. Only the last "**" is ever
// given more directories: what matched before it would match in no better place. So
// the time is at most the product of the two lengths.
func (p pattern) matches(segments []string) bool {
	at, next := 0, 0       // in p.segments, in segments
	stars, resume := -1, 0 // behind the last "**", and where it ended
	for next < len(segments) {
		switch {
		case at < len(p.segments) && p.segments[at] == "**":
			at++
			stars, resume = at, next
		case at < len(p.segments) && matchesName(p.segments[at], segments[next]):
			at++
			next++
		case stars < 0:
			return false
		default:
			resume++
			at, next = stars, resume
		}
	}
	for at < len(p.segments) && p.segments[at] == "**" {
		at++
	}
	return at == len(p.segments)
}

func matchesName(want, name string) bool {
	ok, err := path.Match(want, name)
	return ok && err == nil
}

// holds reports whether the pattern is about a directory that the path is in.
func (p pattern) holds(segments []string) bool {
	if p.matches(nil) {
		return len(segments) > 1 // about all directories but the root
	}
	below := pattern{segments: append(slices.Clip(p.segments), "*", "**")}
	return below.matches(segments)
}

// Hides reports whether the name in the directory is neither captured nor unknown.
func (r *Rules) Hides(dir, name string) bool {
	return slices.Contains(r.hidden[dir], name) || bands.IsTemp(name)
}

// Reason is why the name in the directory is left out, 0 if it isn't.
func (r *Rules) Reason(dir, name string, isDir bool) tree.Reason {
	if isDir && slices.Contains(r.worktrees[dir], name) {
		return tree.Worktree
	}
	if len(r.exclude)+len(r.literal)+len(r.forgotten) == 0 {
		return 0
	}
	whole := tree.JoinPath(dir, name)
	if r.forgotten[whole] && !isDir {
		return tree.Forgotten
	}
	if r.literal[whole] {
		return tree.Excluded
	}
	segments := strings.Split(whole, "/")
	for _, p := range r.exclude {
		if (isDir || !p.dirs) && p.matches(segments) {
			return tree.Excluded
		}
	}
	return 0
}
