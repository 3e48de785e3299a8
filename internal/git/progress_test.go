package git_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
)

// TestProgressReader checks that the progress in git's stderr is reported and the rest is kept,
// however the text is split.
func TestProgressReader(t *testing.T) {
	t.Parallel()
	const stderr = "remote: Enumerating objects: 12, done.        \n" +
		"remote: Counting objects:  50% (6/12)        \rremote: Counting objects: 100% (12/12), done.        \n" +
		"Delta compression using up to 2 threads\n" +
		"Receiving objects:  45% (9/20), 1.50 MiB | 3.10 MiB/s\r" +
		"Receiving objects:  46% (10/20), 512.00 KiB\rReceiving objects: 100% (20/20), 12 bytes | 6 bytes/s, done.\n" +
		"remote: Total 12 (delta 0), reused 0 (delta 0), pack-reused 0        \n" +
		"Updating files: 100% (30/30), done.\n" +
		"error: Receiving objects: 100% of nothing\nwarning: 4 things: 5\nfatal: no end"
	want := []git.Progress{
		{Stage: "Enumerating objects", Done: 12},
		{Stage: "Counting objects", Done: 6, Total: 12},
		{Stage: "Counting objects", Done: 12, Total: 12},
		{Stage: "Receiving objects", Done: 9, Total: 20, Bytes: 3 << 19},
		{Stage: "Receiving objects", Done: 10, Total: 20, Bytes: 1 << 19},
		{Stage: "Receiving objects", Done: 20, Total: 20, Bytes: 12},
		{Stage: "Updating files", Done: 30, Total: 30},
	}
	const kept = "error: Receiving objects: 100% of nothing\nwarning: 4 things: 5\nfatal: no end"
	for _, size := range []int{1, 7, len(stderr)} {
		got, rest := git.ReadProgress(stderr, size)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("in pieces of %d: %s", size, diff)
		}
		if rest != kept {
			t.Errorf("in pieces of %d: kept %q", size, rest)
		}
	}
}
