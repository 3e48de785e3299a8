package session_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/session"
)

func appendTo(t testing.TB, f session.Side, valid int64, text string) int64 {
	t.Helper()
	next, err := f.Append(valid, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func checkSide(t testing.TB, f session.Side, valid int64, want string) {
	t.Helper()
	got, err := f.Read(valid)
	if err != nil || string(got) != want {
		t.Errorf("holds %q, %v; want %q", got, err, want)
	}
}

func TestSideOverwritesUnsavedData(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f := s.Side("a", "prompts")
	checkSide(t, f, 0, "")
	valid := appendTo(t, f, 0, "one\n")
	// The process dies before the state is saved: the data that it appended is garbage.
	appendTo(t, f, valid, "garbage that is longer than what follows\n")
	checkSide(t, f, valid, "one\n")
	valid = appendTo(t, f, valid, "two\n")
	checkSide(t, f, valid, "one\ntwo\n")
	valid = appendTo(t, f, valid, "three\n")
	checkSide(t, f, valid, "one\ntwo\nthree\n")
	if next := appendTo(t, f, valid, ""); next != valid {
		t.Errorf("nothing moved the length from %d to %d", valid, next)
	}
}

func TestSideLost(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f := s.Side("a", "prompts")
	valid := appendTo(t, f, 0, "one\ntwo\n")
	if err := f.Check(valid); err != nil {
		t.Error(err)
	}
	path := filepath.Join(s.Dir(), "side", "a.prompts")
	if err := os.Truncate(path, 5); err != nil {
		t.Fatal(err)
	}
	if err := f.Check(valid); !errors.Is(err, session.ErrCorrupt) {
		t.Errorf("check of a short file: %v", err)
	}
	if _, err := f.Read(valid); !errors.Is(err, session.ErrCorrupt) {
		t.Errorf("read of a short file: %v", err)
	}
	if next, err := f.Append(valid, []byte("three\n")); !errors.Is(err, session.ErrCorrupt) || next != valid {
		t.Errorf("append to a short file: %d, %v", next, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Check(0), s.Side("a", "other").Check(0)); err != nil {
		t.Error(err)
	}
	if err := f.Check(valid); !errors.Is(err, session.ErrCorrupt) {
		t.Errorf("check of no file: %v", err)
	}
	if _, err := f.Read(valid); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("read of no file: %v", err)
	}
	if _, err := f.Append(valid, []byte("three\n")); !errors.Is(err, session.ErrCorrupt) {
		t.Errorf("append to no file: %v", err)
	}
	checkSide(t, f, appendTo(t, f, 0, "again\n"), "again\n")
}

func TestSideReplace(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f := s.Side("a", "untracked")
	if data, err := f.ReadAll(); err != nil || data != nil {
		t.Errorf("no file: %q, %v", data, err)
	}
	for _, text := range []string{"?a\x00?b\x00", "", "?c\n\x00"} {
		if err := f.Replace([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if data, err := f.ReadAll(); err != nil || string(data) != text {
			t.Errorf("holds %q, %v", data, err)
		}
	}
}

// TestSideProperty appends with crashes between a write and the save of the state: the valid
// data is always the data that was appended and saved.
func TestSideProperty(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		f := session.Open(filepath.Join(root, strconv.Itoa(n))).Side("s", "kind")
		var want string
		var valid int64
		for range rapid.IntRange(1, 20).Draw(rt, "appends") {
			text := rapid.StringN(0, 40, -1).Draw(rt, "text")
			next, err := f.Append(valid, []byte(text))
			if err != nil {
				rt.Fatal(err)
			}
			if rapid.Bool().Draw(rt, "crash") {
				continue
			}
			valid, want = next, want+text
			if got, err := f.Read(valid); err != nil || string(got) != want {
				rt.Fatalf("holds %q, %v; want %q", got, err, want)
			}
		}
	})
}

func TestScanYieldsCompleteRecords(t *testing.T) {
	t.Parallel()
	side := newStore(t).Side("a", "usage")
	const size, records = 24, 10_000
	data := make([]byte, size*records)
	for i := range data {
		data[i] = byte(i / size)
	}
	if _, err := side.Append(0, data); err != nil {
		t.Fatal(err)
	}
	var got []byte
	err := side.Scan(size*(records-1), size, func(part []byte) {
		if len(part)%size != 0 {
			t.Errorf("a piece of %d bytes", len(part))
		}
		got = append(got, part...)
	})
	if err != nil || !bytes.Equal(got, data[:size*(records-1)]) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := side.Scan(size*(records+1), size, func([]byte) {}); !errors.Is(err, session.ErrCorrupt) {
		t.Errorf("more than there is: %v", err)
	}
	if err := side.Scan(0, size, func([]byte) { t.Error("nothing is something") }); err != nil {
		t.Error(err)
	}
}

// TestRenewedSideFileKeepsSavedOne: until the state is saved, the state on disk and
// its side file don't change, however often the side file is started anew.
func TestRenewedSideFileKeepsSavedOne(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{session.PromptsKind, session.UsageKind, session.StepsKind, session.UntrackedKind} {
		s := newStore(t)
		save(t, s, &session.State{ID: "a"})
		saved := "first\n"
		for _, next := range []string{"second\n", "third, longer\n", "4\n"} {
			state, err := s.Load("a")
			if err != nil {
				t.Fatal(err)
			}
			if saved == "first\n" {
				appendTo(t, s.SideOf(state, kind), 0, saved)
			}
			on, err := s.Load("a") // the state after a crash
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				state.Renew(kind)
				appendTo(t, s.SideOf(state, kind), 0, next)
				checkSide(t, s.SideOf(on, kind), int64(len(saved)), saved)
			}
			checkSide(t, s.SideOf(state, kind), int64(len(next)), next)
			save(t, s, state)
			saved = next
		}
		if err := s.Remove("a"); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(s.SideDir()); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v, %v", kind, left, err)
		}
	}
}

// Of several writers of a key exactly one is told that it is new, also after a line that was cut.
func TestSideOnce(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	f := s.Side("a", session.AtUseKind)
	if err := f.Replace([]byte("cut")); err != nil {
		t.Fatal(err)
	}
	const writers = 8
	for _, key := range []string{"0011", "2233"} {
		var wait sync.WaitGroup
		var first atomic.Int32
		for i := range writers {
			wait.Go(func() {
				isNew, err := f.Once(key, strconv.Itoa(i))
				if err != nil {
					t.Error(err)
				}
				if isNew {
					first.Add(1)
				}
			})
		}
		wait.Wait()
		if first.Load() != 1 {
			t.Errorf("key %s is new to %d writers", key, first.Load())
		}
	}
	if isNew, err := f.Once("0011", "later"); isNew || err != nil {
		t.Errorf("known: %v, %v", isNew, err)
	}
}
