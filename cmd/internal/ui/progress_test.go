package ui_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
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

func TestProgressFitsOneRow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := ui.Streams{Err: &out, Terminal: ui.Terminal{Err: true}}
		err := s.Progress(strings.Repeat("long ", 40), func() error {
			time.Sleep(1500 * time.Millisecond)
			return nil
		})
		if !strings.Contains(out.String(), "long") {
			t.Errorf("nothing is shown: %q", out.String())
		}
		for frame := range strings.SplitSeq(out.String(), "\r\x1b[K") {
			if width := ui.Width(frame); err != nil || width > 80 {
				t.Errorf("%v: %d columns: %q", err, width, frame)
			}
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

func TestSizesAreShownBesideNumbers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		s := ui.Streams{Err: &out, Terminal: ui.Terminal{Err: true}}
		err := s.Sized("Restoring", func(reach func(string, ui.Amount)) error {
			for i := range int64(100) {
				reach("saving", ui.Amount{Done: i, Bytes: i << 20})
				time.Sleep(20 * time.Millisecond)
			}
			for i := range int64(101) { // all entries are begun at once, their bytes take longer
				reach("", ui.Amount{Done: 12, Total: 12, Bytes: i << 20, Size: 100 << 20})
				time.Sleep(100 * time.Millisecond)
			}
			for i := range int64(21) {
				reach("bytes", ui.Amount{Bytes: i << 20, Size: 20<<20 - 1})
				time.Sleep(100 * time.Millisecond)
			}
			return nil
		})
		text := out.String()
		for _, want := range []string{
			`Restoring, saving 6\d, 6\dM\r`, `Restoring 12 of 12, 5\dM of 100M, 5s left\r`, `9\dM of 100M\r`,
			`Restoring, bytes 1\dM of 20M, 1s left\r`,
		} {
			if err != nil || !regexp.MustCompile(want).MatchString(text) {
				t.Errorf("%v: %s isn't in %q", err, want, text)
			}
		}
	})
}
