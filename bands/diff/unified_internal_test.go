package diff

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rebuilt applies a line diff.
func rebuilt(t *testing.T, a, b string, ops []lineOp) string {
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
		switch op.kind {
		case '-':
			take(&x, op.lines)
		case '+':
			out.WriteString(take(&y, op.lines))
		default:
			kept := take(&x, op.lines)
			if other := take(&y, op.lines); kept != other {
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
		if got := rebuilt(t, a, b, lineDiff(a, b)); got != b {
			t.Fatalf("%q and %q: %q", a, b, got)
		}
	}
}

func TestLineDiffOfManyLines(t *testing.T) {
	t.Parallel()
	same := strings.Repeat("same\n", manyLines)
	want := []lineOp{{' ', manyLines}, {'-', 1}, {'+', 1}, {' ', manyLines}}
	if diff := cmp.Diff(want, lineDiff(same+"old\n"+same, same+"new\n"+same), cmp.AllowUnexported(lineOp{})); diff != "" {
		t.Error(diff)
	}
	want = []lineOp{{'-', manyLines}, {'+', manyLines}}
	got := lineDiff(strings.Repeat("old\n", manyLines), strings.Repeat("new\n", manyLines))
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(lineOp{})); diff != "" {
		t.Error(diff)
	}
}
