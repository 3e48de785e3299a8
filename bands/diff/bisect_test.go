package diff_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// history is a store with snapshots of a tree that grew and changed at random. In each snapshot,
// the file turns has a line for each snapshot so far.
type history struct {
	store    *bands.Store
	versions []bands.Version
}

// newHistory takes n snapshots. The same seed makes the same history.
func newHistory(tb testing.TB, seed uint64, n int) history {
	tb.Helper()
	dir := tb.TempDir()
	root := filepath.Join(dir, "tree")
	if err := os.Mkdir(root, 0o755); err != nil {
		tb.Fatal(err)
	}
	store, err := bands.Create(filepath.Join(dir, "store"))
	if err != nil {
		tb.Fatal(err)
	}
	h := history{store: store}
	tree := treetest.New(tb, root, treetest.Seeded(seed))
	tree.Plain = true
	tree.Plant(10)
	turns := filepath.Join(root, "turns")
	_ = os.RemoveAll(turns)
	for i := range n {
		tree.Edit(3)
		text := strings.Builder{}
		for j := range i + 1 {
			fmt.Fprintf(&text, "turn %d.\n", j)
		}
		_ = os.RemoveAll(turns) // the edits may have replaced it
		if err := os.WriteFile(turns, []byte(text.String()), 0o644); err != nil {
			tb.Fatal(err)
		}
		held, err := store.Hold(tb.Context())
		if err != nil {
			tb.Fatal(err)
		}
		taken, err := capture.Take(tb.Context(), held, capture.TakeOptions{Force: true, Options: bands.Options{
			Root: root, Lineage: bands.PlainLineage, Cap: 1 << 40, Floor: 1, Now: time.Now, Home: dir,
		}})
		if err := errors.Join(err, held.Release()); err != nil {
			tb.Fatal(err)
		}
		h.versions = append(h.versions, taken.Snapshot.Version)
	}
	tb.Cleanup(func() { treetest.Loosen(dir) })
	return h
}

// search returns a new search of the history.
func (h history) search(tb testing.TB, command ...string) *diff.BisectSearch {
	tb.Helper()
	record, err := diff.OpenBisect(tb.Context(), h.store, bands.PlainLineage)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = record.Close() })
	return &diff.BisectSearch{
		Store: h.store, Record: record, Dir: tb.TempDir(), Now: time.Now,
		BisectState: &diff.BisectState{Command: command, Versions: h.versions, Repeat: true},
		Clones:      func(context.Context, bands.Snapshot) (*restore.CloneSource, error) { return nil, nil },
		Exec: func(ctx context.Context, dir string, _ bands.Version) (int, error) {
			return proc.Run{Path: command[0], Args: command[1:], Dir: dir, Env: os.Environ()}.Wait(ctx, os.Stderr)
		},
		Trying: func(diff.BisectStep) {}, Tried: func(diff.BisectRun) {},
		Writing: func(_ context.Context, _ string, do func(func(bands.Progress)) error) error { return do(nil) },
	}
}

// TestSearchFindsPlantedTurn checks that of 64 turns of generated histories, the turn with the
// planted defect is found each of 50 times, in at most 2 + 6 + 2 runs: ends, search, repeats.
func TestSearchFindsPlantedTurn(t *testing.T) {
	t.Parallel()
	histories, each := 5, 10
	if testing.Short() {
		histories, each = 1, 3
	}
	const turns = 64
	for seed := range histories {
		t.Run(fmt.Sprint("history ", seed), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, uint64(seed), turns)
			draw := treetest.Seeded(uint64(seed) + 100)
			for range each {
				planted := 1 + draw(turns-1, "planted")
				s := h.search(t, "sh", "-c", fmt.Sprintf("! grep -q '^turn %d[.]' turns; rc=$?; rm -rf [a-m]*; echo > turns; exit $rc", planted))
				found, err := s.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				want := diff.BisectOutcome{Good: h.versions[planted-1], Bad: h.versions[planted], Skipped: []bands.Version{}}
				if diff := cmp.Diff(want, found); diff != "" {
					t.Errorf("turn %d: %s", planted, diff)
				}
				if n := len(s.Runs); n > 10 {
					t.Errorf("%d runs", n)
				}
				if err := s.Record.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestSearchResumesAfterInterruption stops a search after every run and resumes it from its
// record: it finds the same in the same number of runs.
func TestSearchResumesAfterInterruption(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 7, 16)
	s := h.search(t, "sh", "-c", "test $(wc -l < turns) -lt 12")
	s.Repeat = false
	stop := errors.New("stopped")
	exec := s.Exec
	runs := 0
	s.Exec = func(ctx context.Context, dir string, v bands.Version) (int, error) {
		if runs++; runs%2 == 0 {
			return 0, stop
		}
		return exec(ctx, dir, v)
	}
	for {
		found, err := s.Run(t.Context())
		if err == nil {
			if found.Bad != h.versions[11] || len(s.Runs) > 6 {
				t.Errorf("%+v after %d runs", found, len(s.Runs))
			}
			break
		}
		if !errors.Is(err, stop) {
			t.Fatal(err)
		}
		var err2 error
		if s.BisectState, err2 = s.Record.Read(); err2 != nil {
			t.Fatal(err2)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(s.Dir, "*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestConcurrentSearchIsRefused checks that the second search is refused instead of blocked.
func TestConcurrentSearchIsRefused(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 3, 2)
	h.search(t, "true")
	if _, err := diff.OpenBisect(t.Context(), h.store, bands.PlainLineage); !errors.Is(err, diff.ErrBisectInUse) {
		t.Errorf("%v", err)
	}
}

// TestLogRoundTrip compares a search with what is read from its log, except times.
func TestLogRoundTrip(t *testing.T) {
	t.Parallel()
	was := &diff.BisectState{
		Command: []string{"sh", "-c", "a\nb"}, Paths: []string{"x y"}, Keep: true, Versions: []bands.Version{1, 3, 8},
		Runs: []diff.BisectRun{{Version: 8, Result: diff.BisectBad, Exit: 1}, {Version: 3, Result: diff.BisectSkip, Exit: -1}},
	}
	var text bytes.Buffer
	if err := was.Log(&text); err != nil {
		t.Fatal(err)
	}
	is, err := diff.ReadBisectLog(&text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(was, is); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"good", "bad x 1", "snapshots v2 v1", "other", "good v1 x"} {
		_, err := diff.ReadBisectLog(strings.NewReader("# a log\n" + bad + "\n"))
		if line, ok := errors.AsType[*diff.BisectLogError](err); !ok || line.Line != 2 {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// FuzzReadLog checks that a log that can be read is unchanged by writing and reading it again.
func FuzzReadLog(f *testing.F) {
	f.Add("# bisect log 1\ncommand [\"a\"]\nkeep false\nrepeat true\nsnapshots v1 v2\nbad v2 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := diff.ReadBisectLog(strings.NewReader(text))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := s.Log(&out); err != nil {
			t.Fatal(err)
		}
		again, err := diff.ReadBisectLog(&out)
		if err != nil || !slices.Equal(again.Versions, s.Versions) || !slices.Equal(again.Runs, s.Runs) {
			t.Errorf("%v: %+v, %+v", err, s, again)
		}
	})
}

// TestCommandEndsWithChildProcesses checks that child processes end too, and the exit status.
func TestCommandEndsWithChildProcesses(t *testing.T) {
	t.Parallel()
	run := func(script string) (status int) {
		t.Helper()
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		status, err = proc.Run{Path: "sh", Args: []string{"-c", script}, Env: os.Environ()}.Wait(t.Context(), write)
		if err := errors.Join(err, write.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(read); err != nil { // returns when the last process closes it
			t.Error(err)
		}
		if err := read.Close(); err != nil {
			t.Error(err)
		}
		return status
	}
	if status := run("sleep 600 & exit 3"); status != 3 {
		t.Errorf("status %d", status)
	}
	if status := run("kill -9 $$"); status != 137 {
		t.Errorf("status %d", status)
	}
}
