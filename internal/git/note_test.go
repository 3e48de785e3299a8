package git_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// Two copies of the notes are merged, and git reads the result. Both copies have changed the note
// of one commit, and only one copy that of another commit.
func TestMerge(t *testing.T) {
	t.Parallel()
	for name, test := range testkit.ShortTable(map[string]struct {
		base, ours, theirs, want string // "" is no note
	}{
		"the same":            {"a\n", "a\n", "a\n", "a\n"},
		"ours changed":        {"a\n", "b\n", "a\n", "b\n"},
		"theirs changed":      {"a\n", "a\n", "b\n", "b\n"},
		"both changed":        {"a\n", "a\nb\n", "a\nc\n", "a\nb\nc\n"},
		"both alike":          {"", "a\n", "a\n", "a\n"},
		"ours removed":        {"a\n", "", "a\n", ""},
		"theirs removed":      {"a\n", "a\n", "", ""},
		"removed and changed": {"a\n", "", "b\n", "b\n"},
		"changed and removed": {"a\n", "b\n", "", "b\n"},
		"both new":            {"", "a\n", "b\n", "a\nb\n"},
		"no line at the end":  {"", "a", "b", "a\nb\n"},
	}, 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
				s.Write(dir, "f", "1")
				s.Git(dir, "add", "f")
				s.Git(dir, "commit", "-q", "-m", "one")
				s.Git(dir, "commit", "-q", "--allow-empty", "-m", "two")
				head, other := git.OID(s.Git(dir, "rev-parse", "HEAD")), git.OID(s.Git(dir, "rev-parse", "HEAD~1"))
				r := s.Open(dir)
				write := func(texts map[git.OID]string) git.OID {
					t.Helper()
					by := git.Signature{Name: "Ada", Email: "ada@example.com", When: gittest.Must[git.Commit](t)(r.Commit(t.Context(), "HEAD")).Committer.When}
					if err := git.WriteNotes(t.Context(), r, by, texts); err != nil {
						t.Fatal(err)
					}
					return git.OID(s.Git(dir, "rev-parse", git.NotesRef))
				}
				base := write(map[git.OID]string{head: test.base, other: "x\n"})
				ours := write(map[git.OID]string{head: test.ours, other: "ours\n"})
				s.Git(dir, "update-ref", git.NotesRef, string(base))
				theirs := write(map[git.OID]string{head: test.theirs})
				if test.theirs == test.base {
					theirs = write(map[git.OID]string{git.OID(s.Git(dir, "rev-parse", "HEAD^{tree}")): "more\n"})
				}
				commit := func(oid git.OID) git.Commit { return gittest.Must[git.Commit](t)(r.Commit(t.Context(), string(oid))) }
				merged, err := git.MergeNotes(t.Context(), r, commit(base).Committer, commit(ours), commit(theirs))
				if err != nil {
					t.Fatal(err)
				}
				s.Git(dir, "update-ref", git.NotesRef, string(merged))
				got, _ := s.Try(dir, "", "notes", "--ref=entire", "show", string(head))
				if got != test.want {
					t.Errorf("%q, not %q", got, test.want)
				}
				if got := s.Git(dir, "notes", "--ref=entire", "show", string(other)); got != "ours" {
					t.Errorf("what only ours has changed is %q", got)
				}
				for _, side := range []git.OID{base, ours, theirs} {
					again, err := git.MergeNotes(t.Context(), r, commit(base).Committer, commit(merged), commit(side))
					if err != nil || again != merged {
						t.Errorf("merged again it is %s, %v", again, err)
					}
				}
			})
		})
	}
}

// The note of a commit that an import linked is read if no other note decides about its links, by git log
// as by a lookup.
func TestImportedNotes(t *testing.T) {
	t.Parallel()
	const link, imported, other = "Entire-Checkpoint: 00000000000a\n", "Entire-Checkpoint: 00000000000b\nEntire-Imported: true\n", "Entire-Unsure: x\n"
	for name, test := range testkit.ShortTable(map[string]struct{ own, imported, want string }{
		"imported only": {"", imported, imported},
		"own only":      {link, "", link},
		"own first":     {link, imported, link},
		"declined":      {"Entire-Checkpoint: none\n", imported, "Entire-Checkpoint: none\n"},
		"no own link":   {other, imported, other + imported},
		"neither":       {"", "", ""},
	}, 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
				s.Git(dir, "commit", "-q", "--allow-empty", "-m", "one")
				s.Git(dir, "commit", "-q", "--allow-empty", "-m", "two")
				head, before := git.OID(s.Git(dir, "rev-parse", "HEAD")), git.OID(s.Git(dir, "rev-parse", "HEAD~1"))
				r := s.Open(dir)
				by := git.Signature{Name: "Ada", Email: "ada@example.com", When: gittest.Must[git.Commit](t)(r.Commit(t.Context(), "HEAD")).Committer.When}
				write := func(ref, text string) {
					t.Helper()
					if err := git.WriteNotesIn(t.Context(), r, ref, by, map[git.OID]string{before: "x\n", head: text}); err != nil {
						t.Fatal(err)
					}
				}
				write(git.NotesRef, test.own)
				write(git.ImportedNotesRef, test.imported)
				if c := gittest.Must[git.Commit](t)(r.Commit(t.Context(), "HEAD")); c.Note != test.want {
					t.Errorf("the note is %q", c.Note)
				}
				commits := gittest.Must[[]git.Commit](t)(git.Commits(t.Context(), r, "--max-count=2", "HEAD", "--"))
				if len(commits) != 2 || commits[0].Note != test.want || commits[1].Note != "x\nx\n" {
					t.Errorf("git log has %+v", commits)
				}
				for want, of := range map[string]func(context.Context, git.OID) (string, error){test.own: r.Notes.Own, test.imported: r.Notes.Imported} {
					if got := gittest.Must[string](t)(of(t.Context(), head)); got != want {
						t.Errorf("one of the notes is %q, not %q", got, want)
					}
				}
				trees := gittest.Must[git.NoteTrees](t)(r.Notes.Trees(t.Context()))
				noted := gittest.Must[[]git.OID](t)(git.Noted(t.Context(), r, trees.Imported))
				if want := test.imported != ""; slices.Contains(noted, head) != want || !slices.Contains(noted, before) {
					t.Errorf("noted are %v", noted)
				}
			})
		})
	}
}

// Names in a large tree of notes are split as git does.
func TestNotedInSplitTree(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("repo")
	r := s.Open(dir)
	blob, err := r.WriteBlob([]byte("x\n"))
	if err != nil {
		t.Fatal(err)
	}
	var edits []git.TreeEdit
	const commit = git.OID("0123456789012345678901234567890123456789")
	for i, path := range git.NotePaths(commit) {
		other := strings.ReplaceAll(path, "0123456789012345678901234567890123456789"[4:], string(commit[4:38])+[]string{"aa", "bb", "cc"}[i])
		edits = append(edits, git.TreeEdit{Path: other, Mode: git.ModeFile, OID: blob})
	}
	tree, err := git.EditTree(t.Context(), r, "", edits)
	if err != nil {
		t.Fatal(err)
	}
	got, err := git.Noted(t.Context(), r, tree)
	want := []git.OID{commit[:38] + "aa", commit[:38] + "bb", commit[:38] + "cc"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}
