package workspace

import (
	"strings"
	"testing"
)

func TestAffordableFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bytes, cost int64
		sizes       []int64
		want        string
	}{
		{100, 0, []int64{50, 10, 40}, "abc"},
		{99, 0, []int64{50, 10, 40}, "bc"},
		{49, 0, []int64{50, 10, 40}, "b"},
		{9, 0, []int64{50, 10, 40}, ""},
		{0, 0, []int64{0, 1, 0}, "ac"},
		{5, 0, nil, ""},
		{130, 10, []int64{50, 10, 40}, "abc"},
		{129, 10, []int64{50, 10, 40}, "bc"},
		{25, 10, []int64{0, 0, 0}, "ab"},
	} {
		if got := strings.Join(affordable(c.bytes, c.cost, c.sizes), ""); got != c.want {
			t.Errorf("at most %d bytes and %d for each file among %v: %q, want %q", c.bytes, c.cost, c.sizes, got, c.want)
		}
	}
}

// affordable calls withinLimit for files named a, b, c.
func affordable(bytes, cost int64, sizes []int64) []string {
	files := make([]sizedFile, len(sizes))
	for i, size := range sizes {
		files[i] = sizedFile{path: string(rune('a' + i)), size: size}
	}
	return withinLimit(files, bytes, cost)
}
