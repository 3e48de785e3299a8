package ui_test

import (
	"io"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// Without a terminal a patch is printed as it is, so that it can be applied.
func TestShowPatch(t *testing.T) {
	t.Parallel()
	const diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+\x1b\r\n"
	for want, terminal := range map[string]ui.Terminal{diff: {}, strings.ReplaceAll(ui.Escape(diff), "\r", ""): {Out: true, Plain: true}} {
		var out strings.Builder
		err := (ui.Streams{Out: &out, Terminal: terminal}).ShowPatch(func(w io.Writer) error {
			_, err := io.WriteString(w, diff)
			return err
		})
		if err != nil || out.String() != want {
			t.Errorf("%v, %q, want %q", err, out.String(), want)
		}
	}
}

func TestShowDiff(t *testing.T) {
	t.Parallel()
	const diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n--- gone\n+new \x1b]0;\n\\ No newline"
	const painted = "\x1b[1mdiff --git a/x b/x\x1b[0m\n\x1b[1m--- a/x\x1b[0m\n\x1b[1m+++ b/x\x1b[0m\n\x1b[33m@@ -1,2 +1,2 @@\x1b[0m\n" +
		" same\n\x1b[31m--- gone\x1b[0m\n\x1b[32m+new \\u001b]0;\x1b[0m\n\\ No newline"
	for name, tt := range map[string]struct {
		terminal ui.Terminal
		want     string
	}{
		"pipe":     {ui.Terminal{}, ui.Escape(diff)},
		"plain":    {ui.Terminal{Out: true, Plain: true}, ui.Escape(diff)},
		"terminal": {ui.Terminal{Out: true}, painted},
	} {
		for _, size := range []int{1, 7, 1000} {
			var out strings.Builder
			s := ui.Streams{Out: &out, Terminal: tt.terminal}
			err := s.ShowDiff(func(w io.Writer) error {
				for rest := diff; rest != ""; rest = rest[min(size, len(rest)):] {
					if _, err := io.WriteString(w, rest[:min(size, len(rest))]); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil || out.String() != tt.want {
				t.Errorf("%s, %d: %v\n%q\nwant\n%q", name, size, err, out.String(), tt.want)
			}
		}
	}
}
