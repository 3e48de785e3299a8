package contextstore_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
)

// A file is compared with HEAD again when HEAD moves, without being read again.
func TestTracked(t *testing.T) {
	t.Parallel()
	b := newCaptureBench(t)
	b.write("old.txt", "old\n")
	b.write("gone.txt", "gone\n")
	b.write("crlf.txt", "a\r\n")
	b.Git(b.root, "add", "-A")
	b.Git(b.root, "commit", "-qm", "second")
	b.write("old.txt", "new\n")
	b.write("added.txt", "added\n")
	b.Git(b.root, "rm", "-q", "gone.txt")
	b.makeOld("old.txt", "added.txt", "crlf.txt")
	names := []string{"old.txt", "gone.txt", "added.txt", "crlf.txt"}
	c := b.capture()
	c.Head = git.OID(b.Git(b.root, "rev-parse", "HEAD^{tree}"))
	taken := b.files(c, nil, names...)
	tracked := func(files map[string]contextstore.Captured) map[string]recall.Tracked {
		got := map[string]recall.Tracked{}
		for name := range maps.Keys(files) {
			got[name] = files[name].Tracked
		}
		return got
	}
	want := map[string]recall.Tracked{"old.txt": recall.Uncommitted, "gone.txt": recall.Uncommitted, "added.txt": recall.Uncommitted, "crlf.txt": ""}
	if diff := cmp.Diff(want, tracked(taken.Files)); diff != "" {
		t.Error(diff)
	}
	b.Git(b.root, "add", "old.txt", "added.txt")
	b.Git(b.root, "commit", "-qm", "third")
	c.Head = git.OID(b.Git(b.root, "rev-parse", "HEAD^{tree}"))
	want = map[string]recall.Tracked{"old.txt": recall.Committed, "gone.txt": recall.Committed, "added.txt": recall.Committed, "crlf.txt": ""}
	if diff := cmp.Diff(want, tracked(b.files(c, taken.Files, names...).Files)); diff != "" {
		t.Error(diff)
	}
}
