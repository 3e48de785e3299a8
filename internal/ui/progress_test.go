package ui_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-3aff656d/entire/internal/ui"
)

func TestProgressOfALongStepIsNamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := ui.Streams{Err: &out, Terminal: ui.Terminal{Err: true}}
		err := s.Progress("Working", func() error {
			time.Sleep(1500 * time.Millisecond)
			return nil
		})
		if text := out.String(); err != nil || !strings.Contains(text, "Working") || !strings.HasSuffix(text, "\r\x1b[K") {
			t.Errorf("%v %q", err, text)
		}
	})
}
