package bands

import "strings"

// Exclusion knows which paths patterns leave out, as Options.Exclude does.
type Exclusion struct{ rules *rules }

// NewExclusion takes the patterns apart.
func NewExclusion(patterns []string) Exclusion {
	r := &rules{literal: map[string]bool{}}
	r.addPatterns(patterns)
	return Exclusion{rules: r}
}

// File says whether the file at path, from the root, is left out, or a directory
// that it is in.
func (e Exclusion) File(path string) bool {
	for i, c := range path {
		if c == '/' && e.leaves(path[:i], true) {
			return true
		}
	}
	return e.leaves(path, false)
}

func (e Exclusion) leaves(path string, isDir bool) bool {
	dir, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, name = path[:i], path[i+1:]
	}
	return e.rules.reason(dir, name, isDir) != 0
}
