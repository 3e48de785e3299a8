package workspace

import (
	"strings"
	"testing"
)

func TestAffordableFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		most  int
		bytes int64
		sizes []int64
		want  string
	}{
		{10, 100, []int64{50, 10, 40}, "abc"},
		{2, 100, []int64{50, 10, 40}, "ab"},
		{10, 99, []int64{50, 10, 40}, "bc"},
		{1, 99, []int64{50, 10, 40}, "b"},
		{10, 9, []int64{50, 10, 40}, ""},
		{10, 0, []int64{0, 1, 0}, "ac"},
		{10, 5, nil, ""},
	} {
		if got := strings.Join(affordable(c.most, c.bytes, c.sizes), ""); got != c.want {
			t.Errorf("at most %d files of %d bytes among %v: %q, want %q", c.most, c.bytes, c.sizes, got, c.want)
		}
	}
}

// affordable is withinLimits of files named a, b, c.
func affordable(most int, bytes int64, sizes []int64) []string {
	files := make([]sizedFile, len(sizes))
	for i, size := range sizes {
		files[i] = sizedFile{path: string(rune('a' + i)), size: size}
	}
	return withinLimits(files, most, bytes)
}
