package capture

import (
	"slices"
	"strings"
)

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
