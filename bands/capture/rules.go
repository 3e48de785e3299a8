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

// longestPath is above the maximum length of a path in bytes.
const longestPath = 4096

// Exclusion matches the paths that patterns leave out, as Options.Exclude does.
type Exclusion struct{ rules *Rules }

// NewExclusion compiles the patterns.
func NewExclusion(patterns []string) Exclusion {
	r := &Rules{literal: map[string]bool{}}
	r.addPatterns(patterns)
	return Exclusion{rules: r}
}

// File reports whether the file at path, from the root, or a directory above it is left out.
// Names that are too long for a path are left out, too.
func (e Exclusion) File(path string) bool {
	if len(path) > longestPath {
		return true
	}
	for i, c := range path {
		if c == '/' && e.rules.literal[path[:i]] {
			return true
		}
	}
	if e.rules.literal[path] {
		return true
	}
	segments := strings.Split(path, "/")
	for i := range e.rules.exclude {
		p := &e.rules.exclude[i]
		// Entries of a directory that the pattern matches are left out, too.
		in := pattern{segments: append(slices.Clip(p.segments), patternSegment{text: "*"}, patternSegment{text: "**", any: true})}
		if !p.dirs && p.matches(segments) || in.matches(segments) {
			return true
		}
	}
	return false
}

// pattern is a compiled pattern of Options.Exclude.
type pattern struct {
	segments []patternSegment
	dirs     bool // matches directories only
}

// patternSegment is a part of a pattern between slashes.
type patternSegment struct {
	text string
	any  bool // "**": any number of directories, including none
	// least is the length of the shortest name that the segment can match. Shorter names aren't
	// compared, so that the time for a path is bounded by its own length, whatever the length of
	// the pattern.
	least int
}

// literalPath returns the path if the pattern matches a single one, else false.
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

// newPattern parses a pattern; it returns false if the pattern can't match.
func newPattern(text string) (pattern, bool) {
	p := pattern{dirs: strings.HasSuffix(text, "/")}
	text = strings.TrimSuffix(text, "/")
	rooted := strings.Contains(text, "/")
	text = strings.TrimPrefix(text, "/")
	if text == "" {
		return pattern{}, false
	}
	parts := strings.Split(text, "/")
	if !rooted {
		parts = slices.Insert(parts, 0, "**")
	}
	// A "**" at the end matches everything in a directory, but not a file in its place. The
	// directory is left out as a whole.
	end := len(parts)
	for end > 0 && parts[end-1] == "**" {
		end--
	}
	switch {
	case end == len(parts):
	case end == 0 || p.dirs:
		parts = append(parts[:end], "**", "*")
	default:
		parts, p.dirs = parts[:end], true
	}
	for _, part := range parts {
		s, ok := newSegment(part)
		if !ok {
			return pattern{}, false
		}
		p.segments = append(p.segments, s)
	}
	return p, true
}

func newSegment(text string) (patternSegment, bool) {
	if _, err := path.Match(text, ""); err != nil {
		return patternSegment{}, false
	}
	s := patternSegment{text: text, any: text == "**"}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '*':
			continue
		case '\\':
			i++
		case '[':
			for i++; i < len(text) && text[i] != ']'; i++ { // to the end of the class
				if text[i] == '\\' {
					i++
				}
			}
		}
		s.least++
	}
	return s, true
}

func (s *patternSegment) matches(name string) bool {
	if len(name) < s.least {
		return false
	}
	ok, err := path.Match(s.text, name)
	return ok && err == nil
}

// matches reports whether the pattern matches the path. Only the last "**" is extended to more
// directories: the segments before it could not match any earlier. So the time is at most the
// product of the two lengths.
func (p *pattern) matches(path []string) bool {
	at, next := 0, 0       // in p.segments, in path
	stars, resume := -1, 0 // after the last "**", and where its match ends
	for next < len(path) {
		switch {
		case at < len(p.segments) && p.segments[at].any:
			at++
			stars, resume = at, next
		case at < len(p.segments) && p.segments[at].matches(path[next]):
			at++
			next++
		case stars < 0:
			return false
		default:
			resume++
			at, next = stars, resume
		}
	}
	for at < len(p.segments) && p.segments[at].any {
		at++
	}
	return at == len(p.segments)
}
