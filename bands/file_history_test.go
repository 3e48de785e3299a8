package bands_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// put writes text to a file and takes a snapshot.
func (s *shelf) put(t *testing.T, path, text string) {
	t.Helper()
	putFile(t, filepath.Join(s.root, path), text)
	s.take(t, bands.Named, 0)
}

// newestFirst returns all snapshots in the order that BlameFile expects.
func (s *shelf) newestFirst(t *testing.T) []bands.Snapshot {
	t.Helper()
	list, err := s.Snapshots()
	fine(t, err)
	slices.Reverse(list)
	return list
}

// blame returns who wrote the lines of a file as "1-3 v2 path", "-" for no snapshot.
func (s *shelf) blame(t *testing.T, path string, first, last int) ([]string, error) {
	t.Helper()
	history := s.newestFirst(t)
	r := diff.OpenFileHistory(s.Store, history[0], bands.Options{})
	defer func() { fine(t, r.Close()) }()
	present, err := diff.ReadPresent(s.root, path)
	if err != nil {
		return nil, err
	}
	got, err := r.BlameFile(t.Context(), history, path, present, first, last)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, run := range got.Ranges {
		version := "-"
		if run.Snapshot != nil {
			version = run.Snapshot.Version.String()
		}
		list = append(list, fmt.Sprintf("%d-%d %s %s", run.First, run.Last, version, run.Path))
	}
	return list, nil
}

func TestBlame(t *testing.T) {
	t.Parallel()
	rest := strings.Repeat("same\nlines\n", 3)
	tests := map[string]struct {
		steps       func(t *testing.T, s *shelf)
		path        string
		first, last int
		want        []string
	}{
		"lines that were added": {steps: func(t *testing.T, s *shelf) {
			s.put(t, "a", "1\n2\n")
			s.put(t, "a", "1\n2\n3\n4\n")
			s.put(t, "b", "other\n")
		}, want: []string{"1-2 v1 a", "3-4 v2 a"}},
		"a part": {steps: func(t *testing.T, s *shelf) {
			s.put(t, "a", "1\n2\n")
			s.put(t, "a", "1\n2\n3\n4\n")
		}, first: 2, last: 3, want: []string{"2-2 v1 a", "3-3 v2 a"}},
		"lines that no snapshot has": {steps: func(t *testing.T, s *shelf) {
			s.put(t, "a", "1\n2\n")
			putFile(t, filepath.Join(s.root, "a"), "0\n1\n2\n")
		}, want: []string{"1-1 - a", "2-3 v1 a"}},
		"a file that no snapshot has": {steps: func(t *testing.T, s *shelf) {
			s.put(t, "b", "1\n")
			putFile(t, filepath.Join(s.root, "a"), "1\n2\n")
		}, want: []string{"1-2 - a"}},
		"content that was restored": {steps: func(t *testing.T, s *shelf) {
			s.put(t, "a", "1\n2\n")
			s.put(t, "a", "other\n")
			s.put(t, "a", "1\n2\n")
		}, want: []string{"1-2 v1 a"}},
		"a file that was gone": {steps: func(t *testing.T, s *shelf) {
			s.put(t, "a", "1\n2\n")
			fine(t, os.Remove(filepath.Join(s.root, "a")))
			s.take(t, bands.Named, 0)
			s.put(t, "a", "1\n2\n3\n")
		}, want: []string{"1-2 v1 a", "3-3 v3 a"}},
		"a renamed file": {steps: func(t *testing.T, s *shelf) {
			s.put(t, "a", "1\n2\n")
			fine(t, os.Rename(filepath.Join(s.root, "a"), filepath.Join(s.root, "b")))
			s.take(t, bands.Named, 0)
			s.put(t, "b", "1\n2\n3\n")
		}, path: "b", want: []string{"1-2 v1 a", "3-3 v3 b"}},
		"a file that was moved and changed": {steps: func(t *testing.T, s *shelf) {
			s.put(t, "a", "1\n"+rest)
			fine(t, os.MkdirAll(filepath.Join(s.root, "d"), 0o755))
			fine(t, os.Rename(filepath.Join(s.root, "a"), filepath.Join(s.root, "d/a")))
			s.put(t, "d/a", "2\n"+rest)
		}, path: "d/a", want: []string{"1-1 v2 d/a", "2-7 v1 a"}},
		"a snapshot that was deleted": {steps: func(t *testing.T, s *shelf) {
			s.put(t, "a", "1\n")
			s.put(t, "a", "1\n2\n")
			s.put(t, "a", "1\n2\n3\n")
			s.held(t, func(h *bands.Held) { fine(t, retention.Delete(h, 2)) })
		}, want: []string{"1-1 v1 a", "2-3 v3 a"}},
		"an earlier content is binary": {steps: func(t *testing.T, s *shelf) {
			s.put(t, "a", "1\n")
			s.put(t, "a", "1\n\x00\n")
			s.put(t, "a", "1\n2\n")
		}, want: []string{"1-1 v1 a", "2-2 v3 a"}},
		"an empty file": {steps: func(t *testing.T, s *shelf) { s.put(t, "a", "") }},
		"no newline at the end": {steps: func(t *testing.T, s *shelf) {
			s.put(t, "a", "1\n2")
			s.put(t, "a", "1\n2\n3")
		}, want: []string{"1-1 v1 a", "2-3 v2 a"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			tt.steps(t, s)
			got, err := s.blame(t, cmp.Or(tt.path, "a"), tt.first, tt.last)
			if diff := gocmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func TestBlameErrors(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "binary", "\x00")
	s.put(t, "a", "1\n")
	if _, err := s.blame(t, "binary", 0, 0); !errors.Is(err, diff.ErrNoText) {
		t.Errorf("of a binary: %v", err)
	}
	if _, err := s.blame(t, "none", 0, 0); !errors.Is(err, diff.ErrNoFile) {
		t.Errorf("of no file: %v", err)
	}
	if _, err := s.blame(t, "a", 1, 2); !errors.Is(err, os.ErrInvalid) {
		t.Errorf("of a line that isn't there: %v", err)
	}
}

// Whatever is inserted and removed, each line is attributed to the version that wrote it. The
// text of a line names that version.
func TestBlameAttributesEachLine(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "ten histories of twelve versions")
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := newShelf(t)
		var lines []string
		written := 0
		for v := 1; v <= 12; v++ {
			for range 1 + r.IntN(4) {
				at := r.IntN(len(lines) + 1)
				if len(lines) > 5 && r.IntN(3) == 0 {
					lines = slices.Delete(lines, at-min(at, 1), at)
					continue
				}
				written++
				lines = slices.Insert(lines, at, fmt.Sprintf("v%d line %d\n", v, written))
			}
			s.put(t, "a", strings.Join(lines, ""))
		}
		got, err := s.blame(t, "a", 0, 0)
		fine(t, err)
		for _, run := range got {
			var first, last int
			var version string
			_, err := fmt.Sscanf(run, "%d-%d %s", &first, &last, &version)
			fine(t, err)
			for _, line := range lines[first-1 : last] {
				if !strings.HasPrefix(line, version+" ") {
					t.Errorf("seed %d: %q counts for %s", seed, line, version)
				}
			}
		}
	}
}

func TestTouches(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.put(t, "d/a", "1")
	s.put(t, "d/b", "1")
	fine(t, os.Chmod(filepath.Join(s.root, "d/a"), 0o640))
	s.take(t, bands.Named, 0)
	s.put(t, "d/a", "2")
	fine(t, os.RemoveAll(filepath.Join(s.root, "d")))
	s.take(t, bands.Named, 0)
	history := s.newestFirst(t)
	r := diff.OpenFileHistory(s.Store, history[0], bands.Options{})
	got := map[string][]string{}
	for i := range history {
		var old *bands.Snapshot
		if i+1 < len(history) {
			old = &history[i+1]
		}
		for _, path := range []string{"d", "d/a", "d/b", "none"} {
			touched, err := r.Touches(t.Context(), old, history[i], path)
			fine(t, err)
			if touched {
				got[path] = append(got[path], history[i].Version.String())
			}
		}
		changed, err := r.Changed(t.Context(), old, history[i], 0, func(string) bool { return true })
		fine(t, err)
		got["*"] = append(got["*"], strings.Join(changed, " "))
	}
	fine(t, r.Close())
	want := map[string][]string{
		"d": {"v5", "v4", "v2", "v1"}, "d/a": {"v5", "v4", "v1"}, "d/b": {"v5", "v2"},
		"*": {"d/a d/b", "d/a", "", "d/b", "d/a"},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Each reads rows, and snapshots without a row, until visit returns false.
func TestEachSnapshot(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	s := filled(t, m, "a", 5)
	meta := map[string]string{"ticket": "A-1"}
	s.held(t, func(h *bands.Held) { fine(t, retention.Delete(h, 3)) })
	for _, catalog := range []string{"made", "used", "lost"} {
		if catalog == "lost" {
			fine(t, os.RemoveAll(m.CatalogPath()))
			fine(t, os.Mkdir(m.CatalogPath(), 0o700))
		}
		var got []bands.Version
		fine(t, m.Rows().Each(t.Context(), s.Store, func(snap bands.Snapshot) bool {
			if full, err := s.Snapshot(snap.Version); err != nil || full.Tree != snap.Tree || len(full.Pairs) != len(snap.Pairs) {
				t.Errorf("%s: %s is %+v, %v", catalog, snap.Version, snap, err)
			}
			got = append(got, snap.Version)
			return snap.Version > 2
		}))
		if diff := gocmp.Diff([]bands.Version{5, 4, 2}, got); diff != "" {
			t.Error(catalog, diff)
		}
	}
	fine(t, os.Remove(m.CatalogPath()))
	snap, err := s.Snapshot(5)
	fine(t, err)
	snap.Causality.Metadata, snap.Causality.Branch = meta, "main"
	fine(t, m.Rows().Record(t.Context(), s.Store, snap))
	fine(t, m.Rows().Each(t.Context(), s.Store, func(got bands.Snapshot) bool {
		if diff := gocmp.Diff(snap.Causality, got.Causality); diff != "" {
			t.Error(diff)
		}
		return false
	}))
}

func TestCheckMetadata(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range 33 {
		many[strconv.Itoa(i)] = ""
	}
	tests := []struct {
		meta map[string]string
		bad  string
	}{
		{map[string]string{"ticket.id_1-A": "AUTH-1 ä"}, ""},
		{map[string]string{"": "x"}, `invalid metadata key ""`},
		{map[string]string{"a b": "x"}, `invalid metadata key "a b"`},
		{map[string]string{"ä": "x"}, "invalid metadata key"},
		{map[string]string{strings.Repeat("k", 65): "x"}, "invalid metadata key"},
		{map[string]string{"k": strings.Repeat("v", 1025)}, "has 1025 bytes"},
		{map[string]string{"k": "a\x1b[0m"}, "control characters"},
		{map[string]string{"k": "\xff"}, "isn't UTF-8"},
		{many, "33 metadata entries"},
	}
	for _, tt := range tests {
		err := bands.CheckMetadata(tt.meta)
		if tt.bad == "" && err != nil || tt.bad != "" && (err == nil || !strings.Contains(err.Error(), tt.bad)) {
			t.Errorf("%v: %v, want %q", tt.meta, err, tt.bad)
		}
	}
}
