package linediff

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rebuilt returns b, rebuilt from a line diff.
func rebuilt(t *testing.T, a, b string, ops []Op) string {
	t.Helper()
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	var out strings.Builder
	take := func(from *[]string, n int) string {
		if n > len(*from) {
			t.Fatalf("%v of %q and %q", ops, a, b)
		}
		text := strings.Join((*from)[:n], "")
		*from = (*from)[n:]
		return text
	}
	for _, op := range ops {
		switch op.Kind {
		case '-':
			take(&x, op.Lines)
		case '+':
			out.WriteString(take(&y, op.Lines))
		default:
			kept := take(&x, op.Lines)
			if other := take(&y, op.Lines); kept != other {
				t.Fatalf("%q is not %q: %v of %q and %q", kept, other, ops, a, b)
			}
			out.WriteString(kept)
		}
	}
	return out.String()
}

func TestLineDiffRebuildsTheText(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range random.IntN(9) {
			b.WriteString([]string{"a", "bb", "\n", "\n", "c\n", "a\n"}[random.IntN(6)])
		}
		return b.String()
	}
	for range 20_000 {
		a, b := text(), text()
		if got := rebuilt(t, a, b, Compare(a, b, Quick)); got != b {
			t.Fatalf("%q and %q: %q", a, b, got)
		}
	}
}

func TestLineDiffOfManyLines(t *testing.T) {
	t.Parallel()
	same := strings.Repeat("same\n", maxLines)
	want := []Op{{' ', maxLines}, {'-', 1}, {'+', 1}, {' ', maxLines}}
	if diff := cmp.Diff(want, Compare(same+"old\n"+same, same+"new\n"+same, Quick)); diff != "" {
		t.Error(diff)
	}
	want = []Op{{'-', maxLines}, {'+', maxLines}}
	got := Compare(strings.Repeat("old\n", maxLines), strings.Repeat("new\n", maxLines), Quick)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
