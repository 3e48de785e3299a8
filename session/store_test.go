package session_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-3aff656d/entire/session"
)

func newStore(t testing.TB) *session.Store {
	t.Helper()
	return session.Open(t.TempDir())
}

func save(t testing.TB, s *session.Store, states ...*session.State) {
	t.Helper()
	for _, state := range states {
		if err := s.Save(state); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func ids(states []*session.State) []string {
	var list []string
	for _, s := range states {
		list = append(list, s.ID)
	}
	slices.Sort(list)
	return list
}

// hostile returns session ids that would name a file elsewhere, or no file.
func hostile() []string {
	return []string{
		"", ".", "..", ".hidden", ".dormant", "../x", "../../etc/passwd", "a/b", "/etc/passwd", `a\b`, `..\x`, "a/../b",
		"a\x00b", "a\nb", "a\rb", "a\x1b[2Jb", "a\x7fb", "a\u0085b", "bad\xffbytes", "\ufffd", strings.Repeat("x", 201),
	}
}

func TestCheckID(t *testing.T) {
	t.Parallel()
	for _, id := range hostile() {
		if err := session.CheckID(id); !errors.Is(err, session.ErrInvalid) {
			t.Errorf("%q: %v", id, err)
		} else if len(err.Error()) > 250 || strings.ContainsAny(err.Error(), "\n\x00\x1b") {
			t.Errorf("%q goes into an error as it is: %q", id, err)
		}
	}
	for _, id := range []string{
		"0a1b2c3d-0000-4000-8000-0123456789ab", "a", "a.b", "a..b", "-rf", "with space", "größe", "a*?[b]", "x.json",
		"2026-02-14-0a1b2c3d", strings.Repeat("x", 200),
	} {
		if err := session.CheckID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestStoreRefusesHostileIDs(t *testing.T) {
	t.Parallel()
	common := t.TempDir()
	outside := filepath.Join(common, "x.json")
	write(t, outside, `{"session_id": "../x"}`)
	s := session.Open(common)
	for _, id := range hostile() {
		_, loaded := s.Load(id)
		_, aside := s.SetAside(id)
		for what, err := range map[string]error{
			"load": loaded, "set aside": aside, "save": s.Save(&session.State{ID: id}), "remove": s.Remove(id),
		} {
			if !errors.Is(err, session.ErrInvalid) {
				t.Errorf("%s %q: %v", what, id, err)
			}
		}
	}
	if _, err := os.Stat(s.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
	if data, err := os.ReadFile(outside); err != nil || string(data) != `{"session_id": "../x"}` {
		t.Errorf("the file outside: %q, %v", data, err)
	}
}

func TestStoreRoundTrip(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	if _, err := s.Load("a"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("before: %v", err)
	}
	want := decode(t, full)
	save(t, s, want)
	got, err := s.Load(want.ID)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(session.State{})); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	path := filepath.Join(s.Dir(), want.ID+".json")
	data, err := os.ReadFile(path)
	if err != nil || string(data) != full {
		t.Errorf("%v, not the bytes of before: %s", err, data)
	}
	for name, mode := range map[string]os.FileMode{s.Dir(): 0o750, path: 0o600} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&^mode != 0 {
			t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
		}
	}
	if entries, err := os.ReadDir(s.Dir()); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

func TestDamagedStateIsSetAside(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "cut": full[:200], "another session's": `{"session_id": "b"}`, "no session's": `{}`, "binary": "\x00\xff",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			path := filepath.Join(s.Dir(), "a.json")
			write(t, path, text)
			if _, err := s.Load("a"); !errors.Is(err, session.ErrCorrupt) {
				t.Fatalf("load: %v", err)
			}
			aside, err := s.SetAside("a")
			if err != nil {
				t.Fatal(err)
			}
			if data, err := os.ReadFile(aside); err != nil || string(data) != text {
				t.Errorf("%s holds %q, %v", aside, data, err)
			}
			if _, err := s.Load("a"); !errors.Is(err, session.ErrNotFound) {
				t.Errorf("load after: %v", err)
			}
			if states, failed := s.All(); len(states)+len(failed) > 0 {
				t.Errorf("what is set aside is listed: %v %v", ids(states), failed)
			}
		})
	}
	s := newStore(t)
	if aside, err := s.SetAside("a"); aside != "" || err != nil {
		t.Errorf("nothing to set aside: %q, %v", aside, err)
	}
	save(t, s, &session.State{ID: "a"}) // by another hook, after it was found damaged
	if aside, err := s.SetAside("a"); aside != "" || err != nil {
		t.Errorf("a sound state: %q, %v", aside, err)
	}
	if _, err := s.Load("a"); err != nil {
		t.Errorf("the sound state: %v", err)
	}
}

func TestAll(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	if states, failed := s.All(); len(states)+len(failed) > 0 {
		t.Errorf("in no folder: %v %v", ids(states), failed)
	}
	save(t, s, &session.State{ID: "b", Phase: session.Ended}, &session.State{ID: "a"})
	write(t, filepath.Join(s.Dir(), "bad.json"), "{")
	write(t, filepath.Join(s.Dir(), "a.json.entire-tmp-1"), "{")
	write(t, filepath.Join(s.Dir(), ".hidden.json"), "{")
	write(t, filepath.Join(s.Dir(), "side", "a.prompts"), "{")
	states, failed := s.All()
	if d := cmp.Diff([]string{"a", "b"}, ids(states)); d != "" {
		t.Error(d)
	}
	if len(failed) != 1 || !errors.Is(failed[0], session.ErrCorrupt) || !strings.Contains(failed[0].Error(), "bad") {
		t.Errorf("failed: %v", failed)
	}
}

// old saves n sessions that have ended, and some that have not.
func old(t testing.TB, s *session.Store, n int) {
	t.Helper()
	for i := range n {
		path := filepath.Join(s.Dir(), fmt.Sprintf("old-%04d.json", i))
		write(t, path, fmt.Sprintf(`{"session_id": "old-%04d", "phase": "ended"}`, i))
	}
	save(t, s, &session.State{ID: "idle"}, &session.State{ID: "over with files", Phase: session.Ended, FilesTouched: []string{"a"}})
}

func checkPending(t testing.TB, s *session.Store, want ...string) {
	t.Helper()
	states, failed := session.Open(filepath.Dir(s.Dir())).Pending() // as read by another hook
	if d := cmp.Diff(want, ids(states), cmpopts.EquateEmpty()); d != "" || len(failed) > 0 {
		t.Errorf("pending (-want +got)\n%s%v", d, failed)
	}
}

func TestPendingSkipsOldSessions(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	checkPending(t, s)
	old(t, s, 500)
	checkPending(t, s, "idle", "over with files")
	index := filepath.Join(s.Dir(), ".dormant")
	data, err := os.ReadFile(index)
	if err != nil || strings.Count(string(data), "\n") != 500 {
		t.Fatalf("the index has %d lines, %v", strings.Count(string(data), "\n"), err)
	}
	if strings.Contains(string(data), " idle.json\n") || strings.Contains(string(data), " over with files.json\n") {
		t.Error("a session with something to do is in the index")
	}
	// Files in the index aren't read again, as a file that can't be read shows.
	path := filepath.Join(s.Dir(), "old-0007.json")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Repeat("x", int(info.Size())))
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	checkPending(t, s, "idle", "over with files")
	// A new time or size is a new state.
	save(t, s, &session.State{ID: "old-0007"}, &session.State{ID: "old-0008", Phase: session.Ended, FilesTouched: []string{"b"}})
	checkPending(t, s, "idle", "old-0007", "old-0008", "over with files")
	if err := os.Chtimes(filepath.Join(s.Dir(), "old-0009.json"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	checkPending(t, s, "idle", "old-0007", "old-0008", "over with files")
	// A removed file is left out.
	if err := os.Remove(filepath.Join(s.Dir(), "old-0010.json")); err != nil {
		t.Fatal(err)
	}
	checkPending(t, s, "idle", "old-0007", "old-0008", "over with files")
}

func TestFewOldSessionsNeedNoIndex(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	old(t, s, 7)
	checkPending(t, s, "idle", "over with files")
	if _, err := os.Stat(filepath.Join(s.Dir(), ".dormant")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an index of seven: %v", err)
	}
}

func TestDamagedIndexIsIgnored(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "binary": "\x00\x01\xff\n\n\n", "no stamp": "idle.json\n", "long": strings.Repeat("x", 1<<20),
		"wrong stamps": "1.1 idle.json\n1.1 over with files.json\n1.1 old-0001.json", "names of nothing": "1.1 never.json\n 1 \n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			old(t, s, 20)
			write(t, filepath.Join(s.Dir(), ".dormant"), text)
			checkPending(t, s, "idle", "over with files")
			checkPending(t, s, "idle", "over with files")
		})
	}
	s := newStore(t)
	old(t, s, 20)
	if err := os.Mkdir(filepath.Join(s.Dir(), ".dormant"), 0o700); err != nil {
		t.Fatal(err)
	}
	checkPending(t, s, "idle", "over with files")
}

func TestPendingReportsUnreadableStates(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	old(t, s, 20)
	write(t, filepath.Join(s.Dir(), "bad.json"), "{")
	for range 2 {
		states, failed := s.Pending()
		if d := cmp.Diff([]string{"idle", "over with files"}, ids(states)); d != "" {
			t.Error(d)
		}
		if len(failed) != 1 || !errors.Is(failed[0], session.ErrCorrupt) {
			t.Errorf("failed: %v", failed)
		}
	}
}

func TestStamp(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	if got := s.Stamp("a"); got != "" {
		t.Errorf("no state has the stamp %q", got)
	}
	seen := map[string]bool{"": true}
	for i := range 3 {
		save(t, s, &session.State{ID: "a", CheckpointCount: i})
		stamp := s.Stamp("a")
		if seen[stamp] || stamp != s.Stamp("a") {
			t.Errorf("save %d: the stamp %q was there before, or changes by itself", i, stamp)
		}
		seen[stamp] = true
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	save(t, s, &session.State{ID: "a"}, &session.State{ID: "a.b"}, &session.State{ID: "ab"})
	for _, kind := range []string{"prompts", "usage", "segments", "untracked"} {
		if _, err := s.Side("a", kind).Append(0, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(s.Dir(), "a.other"), "not ours")
	if err := s.Remove("a"); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(s.Dir())
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if d := cmp.Diff([]string{"a.b.json", "a.other", "ab.json", "side"}, left); d != "" {
		t.Error(d)
	}
	if beside, err := os.ReadDir(filepath.Join(s.Dir(), "side")); err != nil || len(beside) > 0 {
		t.Errorf("beside it %v, %v", beside, err)
	}
}

func TestPendingIncludesOwnSaves(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	old(t, s, 10)
	if states, failed := s.Pending(); len(states) != 2 || len(failed) > 0 {
		t.Fatalf("pending %v, %v", ids(states), failed)
	}
	save(t, s, &session.State{ID: "new"}, &session.State{ID: "idle", Phase: session.Ended})
	states, failed := s.Pending()
	if d := cmp.Diff([]string{"new", "over with files"}, ids(states)); d != "" || len(failed) > 0 {
		t.Error(d, failed)
	}
}

func BenchmarkPending500(b *testing.B) {
	s := newStore(b)
	old(b, s, 500)
	checkPending(b, s, "idle", "over with files")
	for b.Loop() {
		session.Open(filepath.Dir(s.Dir())).Pending()
	}
}
