//go:build linux || darwin

package bands_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/diff"
)

// Files that change or are removed after the tree was read are reported as unread, and the diff
// leaves them out.
func TestDiffOfConcurrentlyChangedFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{"gone", "changed", "replaced", "still"} {
		r.write(name, "one\n")
	}
	v := r.take()
	for _, name := range []string{"gone", "changed", "replaced", "still", "new"} {
		r.write(name, "two, longer\n")
	}
	old, now := r.sides(v)
	r.remove("gone")
	r.write("changed", "three\n")
	r.remove("replaced")
	r.write("replaced/file", "x")
	list, err := diff.Stat(t.Context(), old, now, diff.Options{})
	r.must(err)
	unread := map[string]bool{}
	for _, d := range list {
		unread[d.Path] = d.Unread
	}
	want := map[string]bool{"gone": true, "changed": true, "replaced": true, "still": false, "new": false}
	if diff := cmp.Diff(want, unread); diff != "" {
		t.Error(diff)
	}
	var out bytes.Buffer
	paths, err := diff.Unified(t.Context(), &out, old, now, diff.Options{})
	r.must(err)
	if diff := cmp.Diff([]string{"changed", "gone", "replaced"}, paths); diff != "" {
		t.Error(diff)
	}
	for _, path := range paths {
		if bytes.Contains(out.Bytes(), []byte(path)) {
			t.Errorf("%s is in the diff: %s", path, out.Bytes())
		}
	}
}
