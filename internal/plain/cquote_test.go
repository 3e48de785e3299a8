package plain_test

import (
	"testing"

	"github.com/seed-3aff656d/entire/internal/plain"
)

func TestPath(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"a b/ü.txt":    "a b/ü.txt",
		"":             "",
		`say "hi"`:     `"say \"hi\""`,
		`back\slash`:   `"back\\slash"`,
		"two\nlines":   `"two\012lines"`,
		"del\x7f":      `"del\177"`,
		"latin-1 \xfc": `"latin-1 \374"`,
		"ü and \r":     `"\303\274 and \015"`,
	} {
		if got := plain.GitPath(path); got != want {
			t.Errorf("%q: got %s, want %s", path, got, want)
		}
	}
}
