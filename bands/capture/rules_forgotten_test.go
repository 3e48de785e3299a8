package capture_test

import (
	"testing"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
)

// TestForgottenFilesHaveTheirOwnReason checks that a forgotten file is left out as forgotten,
// even if a pattern excludes it, and that no other path is.
func TestForgottenFilesHaveTheirOwnReason(t *testing.T) {
	t.Parallel()
	r := capture.NewRules(bands.Options{Root: t.TempDir(), Exclude: []string{"*.log"}, Forgotten: []string{"conf/a*.txt", "x.log"}}, t.TempDir())
	for _, c := range []struct {
		dir, name string
		isDir     bool
		want      band.UnknownReason
	}{
		{"conf", "a*.txt", false, band.Forgotten},
		{"conf", "a*.txt", true, 0},
		{"conf", "abc.txt", false, 0},
		{"", "a*.txt", false, 0},
		{"", "x.log", false, band.Forgotten},
		{"", "y.log", false, band.Excluded},
	} {
		if got := r.Reason(c.dir, c.name, c.isDir); got != c.want {
			t.Errorf("%s/%s (directory: %v): reason %d, want %d", c.dir, c.name, c.isDir, got, c.want)
		}
	}
}
