package git_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// numbered returns n lines, some of them replaced.
func numbered(n int, other map[int]string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if word, ok := other[i]; ok {
			b.WriteString(word)
		} else {
			b.WriteString("line " + strings.Repeat("x", i) + "\n")
		}
	}
	return b.String()
}

func TestHunks(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	s.Git(dir, "commit", "-q", "--allow-empty", "-m", "empty")
	r := s.Open(dir)
	write := gittest.Must[git.OID](t)
	file := func(text string) git.OID { return write(r.WriteBlob([]byte(text))) }
	tree := func(entries ...git.TreeEntry) git.OID { return write(git.WriteTree(r, entries)) }
	entry := func(name string, mode git.Mode, text string) git.TreeEntry {
		return git.TreeEntry{Mode: mode, Name: name, OID: file(text)}
	}
	module := git.TreeEntry{Mode: git.ModeModule, Name: "module", OID: git.OID(s.Git(dir, "rev-parse", "HEAD"))}
	before := tree(
		entry("a\n\"\xff", git.ModeFile, numbered(9, nil)), entry("bin", git.ModeFile, "\x00\x01"),
		entry("kind", git.ModeFile, "one\ntwo\n"), entry("old", git.ModeFile, numbered(20, nil)),
		entry("mode", git.ModeFile, "x\n"), entry("gone", git.ModeFile, "x\n@@ -1 +1 @@\ndiff --git a b\n"),
	)
	after := tree(
		entry("a\n\"\xff", git.ModeFile, numbered(9, map[int]string{2: "", 5: "a\nb\n", 9: "no end"})),
		entry("bin", git.ModeFile, "\x00\x02"), entry("kind", git.ModeLink, "target"), module,
		entry("new", git.ModeFile, numbered(20, map[int]string{20: "z\n"})), entry("mode", git.ModeExec, "x\n"),
	)
	type diff struct {
		Path, Old      string
		Status         string
		Binary         bool
		Added, Removed int
		Hunks          []git.Hunk
	}
	var got []diff
	files := gittest.Must[[]git.FileDiff](t)
	for _, f := range files(git.Hunks(t.Context(), r, before, after, 1<<20)) {
		got = append(got, diff{f.Path, f.OldPath, string(f.Status), f.Binary, f.Added, f.Removed, f.Hunks})
	}
	want := []diff{
		{Path: "a\n\"\xff", Status: "M", Added: 3, Removed: 3, Hunks: []git.Hunk{{Old: 2, OldLines: 1, New: 1, NewLines: 0}, {Old: 5, OldLines: 1, New: 4, NewLines: 2}, {Old: 9, OldLines: 1, New: 9, NewLines: 1}}},
		{Path: "bin", Status: "M", Binary: true},
		{Path: "gone", Status: "D", Removed: 3, Hunks: []git.Hunk{{Old: 1, OldLines: 3, New: 0, NewLines: 0}}},
		{Path: "kind", Status: "T", Added: 1, Removed: 2, Hunks: []git.Hunk{{Old: 1, OldLines: 2, New: 0, NewLines: 0}, {Old: 0, OldLines: 0, New: 1, NewLines: 1}}},
		{Path: "mode", Status: "M"},
		{Path: "module", Status: "A", Added: 1, Hunks: []git.Hunk{{Old: 0, OldLines: 0, New: 1, NewLines: 1}}},
		{Path: "new", Old: "old", Status: "R", Added: 1, Removed: 1, Hunks: []git.Hunk{{Old: 20, OldLines: 1, New: 20, NewLines: 1}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	counts := files(git.LineCounts(t.Context(), r, before, after))
	for i, f := range counts {
		if f.Path != want[i].Path || f.OldPath != want[i].Old || f.Added != want[i].Added || f.Removed != want[i].Removed || f.Binary != want[i].Binary {
			t.Errorf("counted %q: %+v", want[i].Path, f)
		}
	}
	if len(counts) != len(want) {
		t.Errorf("%d files counted, want %d", len(counts), len(want))
	}
	if _, err := git.Hunks(t.Context(), r, before, after, 100); !errors.Is(err, git.ErrTooMuch) {
		t.Errorf("a diff of more than 100 bytes: %v", err)
	}
	if root := files(git.Hunks(t.Context(), r, "", after, 1<<20)); len(root) != 6 {
		t.Errorf("%d files against no tree, want 6", len(root))
	}
	if none := files(git.Hunks(t.Context(), r, after, after, 1<<20)); len(none) != 0 {
		t.Errorf("a tree differs from itself: %v", none)
	}
}
