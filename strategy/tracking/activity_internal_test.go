package tracking

import (
	"strings"
	"testing"
)

// TestAttackPatternsInCommands matches words of commands, which may be megabytes long, with
// paths: patterns name the paths that they match, long ones name none.
func TestAttackPatternsInCommands(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("a/", 200) + "x.txt"
	for word, want := range map[string]bool{
		"*.txt": true, "x.*": true, "x.txt": true, "*.go": false,
		strings.Repeat("*", maxPatternWord) + "q": false, strings.Repeat("*a", 1<<20) + "*": false, "[" + strings.Repeat("x", 8<<20) + "].txt": false,
	} {
		if got := wordNames(word, deep); got != want {
			t.Errorf("%.20s (%d bytes) names the path: %v, want %v", word, len(word), got, want)
		}
	}
}
