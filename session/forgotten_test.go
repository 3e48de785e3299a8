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

func TestForgottenSessionBeginsWhereItWas(t *testing.T) {
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
	for _, want := range []transcript.Cursor{at, {}} { // it is told once
		got, err := s.TakeForgotten("a")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestForgettingWithoutATranscriptLeavesNothing(t *testing.T) {
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
	at, err := s.TakeForgotten("a")
	if err != nil || at != (transcript.Cursor{}) {
		t.Errorf("%v, %v", at, err)
	}
	for _, id := range hostile() {
		if _, err := s.TakeForgotten(id); !errors.Is(err, session.ErrInvalid) {
			t.Errorf("%q: %v", id, err)
		}
		if err := s.Forget(id, at); !errors.Is(err, session.ErrInvalid) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
