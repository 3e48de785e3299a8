package brief

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestHunks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, now, want string }{
		"same":         {"a\nb\n", "a\nb\n", ""},
		"changed":      {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		"from nothing": {"", "a\n", "@@ -0,0 +1,1 @@\n+a\n"},
		"to nothing":   {"a\n", "", "@@ -1,1 +0,0 @@\n-a\n"},
		"no end":       {"a\n", "a", "@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file\n"},
		"two":          {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "0\n1\n2\n3\n4\n5\n6\n7\n8\n", "@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -6,4 +7,3 @@\n 6\n 7\n 8\n-9\n"},
		"many removed": {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "9\n", "@@ -1,9 +1,1 @@\n-1\n-2\n-3\n-4\n-5\n-6\n\\ 2 more removed lines\n 9\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			for _, h := range hunks(test.before, test.now) {
				b.WriteString(h.String())
			}
			if diff := cmp.Diff(test.want, b.String()); diff != "" {
				t.Errorf("hunks (-want +got):\n%s", diff)
			}
		})
	}
}

// The edits make one text of the other, and what is between them is the same.
func TestPropCompareLines(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		gen := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n"}), 0, 60)
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		var got []string
		at, bt := 0, 0
		for _, e := range compareLines(a, b) {
			if e.i < at || e.j < bt || e.i-at != e.j-bt || e.k == e.i && e.l == e.j {
				t.Fatalf("edit %+v after %d, %d", e, at, bt)
			}
			got = append(append(got, a[at:e.i]...), b[e.j:e.l]...)
			at, bt = e.k, e.l
		}
		got = append(got, a[at:]...)
		if strings.Join(got, "") != strings.Join(b, "") {
			t.Fatalf("%q", got)
		}
	})
}

// Texts without a line in common are one change, quickly.
func TestHunksAreBounded(t *testing.T) {
	t.Parallel()
	list := hunks(strings.Repeat("a\n", 40_000), strings.Repeat("b\n", 40_000))
	if len(list) != 1 || list[0].from[1] != 40_000 || list[0].to[1] != 40_000 {
		t.Errorf("%d hunks", len(list))
	}
}
