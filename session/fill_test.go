package session_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session"
)

func TestFill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := session.Open(dir)
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	f := session.Fill{SessionID: "a", Tokens: 20_000, Window: 200_000, Percent: 10, At: at}
	set := func(f session.Fill, want bool) {
		t.Helper()
		if wrote, err := s.SetFill(f); wrote != want || err != nil {
			t.Errorf("wrote %v, %v; want %v", wrote, err, want)
		}
	}
	set(f, false) // the session isn't recorded
	if err := s.Save(&session.State{ID: "a"}); err != nil {
		t.Fatal(err)
	}
	set(f, true)
	later := f
	later.At = at.Add(time.Minute)
	set(later, false) // nothing new
	got, ok := s.Fill("a")
	if diff := cmp.Diff(f, got); diff != "" || !ok {
		t.Error(ok, diff)
	}
	later.Tokens++
	set(later, true)
	path := filepath.Join(s.SideDir(), "a.context")
	for _, text := range []string{"", "{", `{"session_id":"b","percent":3}`, "[]"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := s.Fill("a"); ok {
			t.Errorf("%q is %+v", text, got)
		}
	}
	set(later, true)
	if _, err := s.SetFill(session.Fill{SessionID: "../a"}); err == nil {
		t.Error("an id that is a path was taken")
	}
}
