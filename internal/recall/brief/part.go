package brief

import (
	"fmt"
	"slices"
)

// Section returns one section of a brief, within limit as CountTokens counts; empty if
// the context has nothing of it. The names are those of SectionNames; another one is an
// error.
func Section(m Material, name string, limit int) (string, error) {
	if !slices.Contains(SectionNames(), name) {
		return "", fmt.Errorf("section %.40q is unknown", name)
	}
	return "", nil
}

// SectionNames returns the names that Section accepts.
func SectionNames() []string {
	return []string{"requests", "state", "decisions", "todo", "files", "file contents", "commands", "compaction"}
}
