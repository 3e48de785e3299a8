package rules

import (
	"slices"
	"strings"
)

// longestPath is more bytes than a file's path can have.
const longestPath = 4096

// Exclusion matches the paths that patterns leave out, as Options.Exclude does.
type Exclusion struct{ rules *Rules }

// NewExclusion takes the patterns apart.
func NewExclusion(patterns []string) Exclusion {
	r := &Rules{literal: map[string]bool{}}
	r.addPatterns(patterns)
	return Exclusion{rules: r}
}

// File reports whether the file at path, from the root, is left out, or a directory
// that it is in. So is what is too long to be a path.
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
		// What is in a directory that the pattern is about is left out, too.
		in := pattern{segments: append(slices.Clip(p.segments), segment{text: "*"}, segment{text: "**", any: true})}
		if !p.dirs && p.matches(segments) || in.matches(segments) {
			return true
		}
	}
	return false
}
