package journal

import (
	"github.com/seed-3aff656d/entire/internal/git"
)

// Changes is what a commit changes, by path.
type Changes map[string]git.Change

func ByPath(changes []git.Change) Changes {
	m := make(Changes, len(changes))
	for _, c := range changes {
		m[c.Path] = c
	}
	return m
}
