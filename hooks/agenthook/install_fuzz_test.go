package agenthook_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzInstallUninstall(f *testing.F) {
	for _, text := range texts() {
		f.Add(text)
	}
	f.Add(existing)
	f.Add(fresh)
	f.Add(`{"hooks":{"Stop":[{"hooks":[]},7,[],{"hooks":[{"command":"entire hooks claude-code stop"}/*x*/,//y` + "\n]}]}}")
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			return
		}
		s := place(t, text)
		_, _, err := s.Install()
		installed := read(t, s.Path)
		if err != nil {
			if installed != text {
				t.Fatalf("failed (%v) and changed the file", err)
			}
			return
		}
		if n, missing, err := s.Check(); err != nil || n != 13 {
			t.Fatalf("%d, missing %v, %v in\n%s", n, missing, err, installed)
		}
		if _, changed, err := s.Install(); changed || err != nil {
			t.Fatalf("not idempotent: %v", err)
		}
		adopted := strings.Contains(text, "claude-code")
		uninstall(t, s)
		if got := read(t, s.Path); got != text && !adopted {
			t.Fatalf("got %q, want %q", got, text)
		}
		// By entries, as the user has written too: everything else is unchanged.
		install(t, s)
		write(t, s.Path, installed+"\n")
		uninstall(t, s)
		if !adopted && strings.TrimSpace(strings.TrimPrefix(text, "\uFEFF")) != "" {
			if diff := cmp.Diff(value(t, text), value(t, read(t, s.Path))); diff != "" {
				t.Fatal(diff)
			}
		}
		// Without a record: the file is valid and has no entry of ours.
		write(t, s.Path, installed)
		forget(t, s)
		uninstall(t, s)
		stripped := read(t, s.Path)
		value(t, stripped)
		if !adopted && strings.Contains(stripped, "claude-code") {
			t.Fatalf("left: %q", stripped)
		}
	})
}
