package ui_test

import (
	"bytes"
	"regexp"
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

func TestStagesAreCountedWithTheTimeLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := ui.Streams{Err: &out, Terminal: ui.Terminal{Err: true}}
		err := s.Stages("Restoring", func(reach func(stage string, done, total int64)) error {
			for i := range int64(100) {
				reach("saving", i*20, 0)
				time.Sleep(20 * time.Millisecond)
			}
			for i := range int64(100) {
				reach("", i*123, 12300)
				time.Sleep(100 * time.Millisecond)
			}
			return nil
		})
		text := out.String()
		for _, want := range []string{`Restoring, saving 1,\d{3}\r`, `Restoring [1-9]\d\d of 12,300\r`, `Restoring 6,\d{3} of 12,300, 5s left\r`, `, 1s left\r`} {
			if err != nil || !regexp.MustCompile(want).MatchString(text) {
				t.Errorf("%v: %s isn't in %q", err, want, text)
			}
		}
	})
}
