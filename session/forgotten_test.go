package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

func TestForgottenSessionKeepsCursor(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	at := transcript.Cursor{Offset: 10, Lines: 2, Inode: 3, Tail: "0123456789abcdef"}
	save(t, s, &session.State{ID: "a"})
	if err := s.Forget("a", at); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load("a"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("load: %v", err)
	}
	save(t, s, &session.State{ID: "a"})
	for range 2 { // the note applies to each new state, and to each that is created again
		got, err := s.Forgotten("a")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(at, got); diff != "" {
			t.Error(diff)
		}
		if err := s.Remove("a"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestForgetWithoutTranscriptLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, &session.State{ID: "a"})
	if err := s.Forget("a", transcript.Cursor{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(s.SideDir()); !errors.Is(err, os.ErrNotExist) {
		t.Error("a side file was made")
	}
}

func TestDamagedNoteOfAForgottenSession(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	write(t, filepath.Join(s.SideDir(), "a.forgotten"), `{"offset": 3, "li`)
	at, err := s.Forgotten("a")
	if err != nil || at != (transcript.Cursor{}) {
		t.Errorf("%v, %v", at, err)
	}
	for _, id := range hostile() {
		if _, err := s.Forgotten(id); !errors.Is(err, session.ErrInvalid) {
			t.Errorf("%q: %v", id, err)
		}
		if err := s.Forget(id, at); !errors.Is(err, session.ErrInvalid) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
