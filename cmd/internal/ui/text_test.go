package ui_test

import (
	"bytes"
	"testing"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

func TestFitsWithoutTerminal(t *testing.T) {
	t.Parallel()
	if s := (ui.Streams{Out: &bytes.Buffer{}, Terminal: ui.Terminal{Out: true}}); !s.Fits(string(make([]byte, 1<<20))) {
		t.Error("a buffer is no screen")
	}
}
