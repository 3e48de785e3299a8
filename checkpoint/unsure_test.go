package checkpoint

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnsureOf(t *testing.T) {
	all := []UnsureLines{
		{Path: "a.txt", Blob: "c90f02c4a3390f102aba9dff82bdeabe6a2e669c", Lines: LineRanges{{1, 4}, {9, 9}}},
		{Path: " two  words ", Blob: "c90f02c4a3390f102aba9dff82bdeabe6a2e669c", Lines: LineRanges{{1, 1}}},
		{Path: "a\nb\"\\\xff.txt", Blob: "c90f02c4a3390f102aba9dff82bdeabe6a2e669c", Lines: LineRanges{{2, 3}}},
	}
	lines := []string{"Entire-Checkpoint: 0123456789ab"}
	for _, u := range all {
		lines = append(lines, u.String())
	}
	note := strings.Join(lines, "\n") + "\n" + "Entire-Unsure: c90f02c4 0 a.txt\nEntire-Unsure: c90f02c4 1\nEntire-Unsure:  1 a\nEntire-Unsure: c90f02c4 1 \"\\q\"\nEntire-Unsure: c90f02c4 1 "
	if diff := cmp.Diff(all, UnsureOf(note)); diff != "" {
		t.Errorf("UnsureOf (-want +got)\n%s", diff)
	}
	if ids := IDs(note); len(ids) != 1 {
		t.Errorf("the note has the ids %v, want one", ids)
	}
}
