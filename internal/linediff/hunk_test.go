package linediff_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/internal/linediff"
)

func TestHunks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, now, want string }{
		"same":         {"a\nb\n", "a\nb\n", ""},
		"changed":      {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		"from nothing": {"", "a\n", "@@ -0,0 +1 @@\n+a\n"},
		"to nothing":   {"a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		"no end":       {"a\n", "a", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"},
		"two":          {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "0\n1\n2\n3\n4\n5\n6\n7\n8\n", "@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n@@ -6,4 +7,3 @@\n 6\n 7\n 8\n-9\n"},
		"joined":       {"1\n2\n3\n4\n5\n6\n7\n", "0\n1\n2\n3\n4\n5\n6\n", "@@ -1,7 +1,7 @@\n+0\n 1\n 2\n 3\n 4\n 5\n 6\n-7\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			for h := range linediff.Hunks(test.before, test.now, linediff.Compare(test.before, test.now, linediff.Quick)) {
				b.WriteString(h.String())
			}
			if diff := cmp.Diff(test.want, b.String()); diff != "" {
				t.Errorf("hunks (-want +got):\n%s", diff)
			}
		})
	}
}

// A comparison finds the minimum number of changed lines.
func TestPropCompareIsMinimal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		gen := rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n", "e\n", "f\n"}), 0, 40)
		a, b := gen.Draw(t, "a"), gen.Draw(t, "b")
		added, removed := linediff.Totals(linediff.Compare(strings.Join(a, ""), strings.Join(b, ""), linediff.Quick))
		common := commonLines(a, b)
		if added != len(b)-common || removed != len(a)-common {
			t.Fatalf("+%d -%d, though %d lines are common", added, removed, common)
		}
	})
}

// commonLines returns the length of the longest common subsequence.
func commonLines(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		diagonal := 0
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

func BenchmarkCompare(b *testing.B) {
	var old, moved, edited strings.Builder
	for n := range 1_000 {
		line := strings.Repeat("word ", n%7) + string(rune('a'+n%26)) + strings.Repeat("x", n%97) + "\n"
		old.WriteString(line)
		if n%40 == 0 {
			edited.WriteString("edited\n")
		} else {
			edited.WriteString(line)
		}
	}
	lines := strings.SplitAfter(old.String(), "\n")
	for n := range lines {
		moved.WriteString(lines[(n*7919)%len(lines)])
	}
	for name, now := range map[string]string{"edited": edited.String(), "moved": moved.String(), "replaced": strings.Repeat("other\n", 1_000)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				linediff.Compare(old.String(), now, linediff.Quick)
			}
		})
	}
}
