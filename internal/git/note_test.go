package git_test

import (
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
