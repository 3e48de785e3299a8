package rules_test

import (
	"testing"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/rules"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// TestForgottenFilesHaveTheirOwnReason checks that a forgotten file is left out as forgotten,
// even if a pattern excludes it, and that no other path is.
func TestForgottenFilesHaveTheirOwnReason(t *testing.T) {
	t.Parallel()
	r := rules.New(bands.Options{Root: t.TempDir(), Exclude: []string{"*.log"}, Forgotten: []string{"conf/a*.txt", "x.log"}}, t.TempDir())
	for _, c := range []struct {
		dir, name string
		isDir     bool
		want      tree.Reason
	}{
		{"conf", "a*.txt", false, tree.Forgotten},
		{"conf", "a*.txt", true, 0},
		{"conf", "abc.txt", false, 0},
		{"", "a*.txt", false, 0},
		{"", "x.log", false, tree.Forgotten},
		{"", "y.log", false, tree.Excluded},
	} {
		if got := r.Reason(c.dir, c.name, c.isDir); got != c.want {
			t.Errorf("%s/%s (directory: %v): reason %d, want %d", c.dir, c.name, c.isDir, got, c.want)
		}
	}
}
