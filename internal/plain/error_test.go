package plain_test

import (
	"errors"
	"testing"

	"github.com/seed-3aff656d/entire/internal/plain"
)

func TestError(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"read /a/b: permission denied":                            "read /a/b: permission denied",
		"write /a/b: write /a/b: no space left on device":         "write /a/b: no space left on device",
		"read /a/b: open /a/b: permission denied":                 "read /a/b: permission denied",
		"edit: read /a/b c: open /a/b c: permission denied":       "edit: read /a/b c: permission denied",
		"open store /a/b: read /a/b/store.json: not a file":       "open store /a/b: read /a/b/store.json: not a file",
		"take snapshot of /a/b: open /a/b: denied\nhint: a: a: b": "take snapshot of /a/b: denied\nhint: a: b",
		"session a: read a: gone":                                 "session a: read a: gone",
		"":                                                        "",
	}
	for text, want := range tests {
		if got := plain.Error(errors.New(text)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := plain.Error(nil); got != "" {
		t.Errorf("%q for nil", got)
	}
}
