package bands_test

import (
	"testing"

	"github.com/seed-3aff656d/entire/bands/capture"
)

func TestExclusion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern, path string
		out           bool
	}{
		{"node_modules/**", "node_modules/a/b.js", true},
		{"node_modules/**", "web/node_modules/a.js", false},
		{"node_modules", "web/node_modules/a.js", true},
		{"tmp/", "tmp", false},
		{"tmp/", "a/tmp/x", true},
		{"*.log", "a/b.log", true},
		{"*.log", "a.log/b", true},
		{"/a/b", "a/b/c", true},
		{"/a/b", "x/a/b", false},
		{"[", "a", false},
		{"", "a", false},
	} {
		if got := capture.NewExclusion([]string{tc.pattern}).File(tc.path); got != tc.out {
			t.Errorf("%q leaves out %q: %v", tc.pattern, tc.path, got)
		}
	}
	if capture.NewExclusion(nil).File("a") {
		t.Error("nothing leaves out something")
	}
}
