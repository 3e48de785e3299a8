package git_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// Contents of files are not parsed as lines of the diff format, and each commit has its own files.
func TestPatchesOfCommits(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	commit := func(message string) git.OID {
		s.Git(dir, "add", "-A")
		s.Git(dir, "commit", "-q", "--allow-empty", "-m", message)
		return git.OID(strings.TrimSpace(s.Git(dir, "rev-parse", "HEAD")))
	}
	hostile := strings.Join([]string{"diff --git a/x b/x", "@@ -1 +1 @@", "-- a", "++ b", `\ No newline at end of file`, "Binary files a and b differ", ""}, "\n")
	s.Write(dir, "a \" b.txt", hostile)
	first := commit("root")
	s.Write(dir, "a \" b.txt", hostile+"end")
	s.Write(dir, "bin", "\x00\x01")
	second := commit("second")
	third := commit("empty")
	s.Git(dir, "mv", "a \" b.txt", "new\nname")
	fourth := commit("renamed")
	s.Git(dir, "checkout", "-q", "-b", "side", "HEAD~1")
	s.Write(dir, "side", "1\n")
	commit("side")
	s.Git(dir, "checkout", "-q", "-")
	s.Git(dir, "merge", "-q", "--no-edit", "side")
	merge := git.OID(strings.TrimSpace(s.Git(dir, "rev-parse", "HEAD")))

	var got []string
	list := []git.OID{fourth, merge, third, second, first}
	err := git.Patches(t.Context(), s.Open(dir), list, 1<<20, func(_ git.OID, files []git.Patch) error {
		got = append(got, strconv.Itoa(len(files)))
		for _, f := range files {
			got = append(got, fmt.Sprintf("%c %q %q +%d -%d %v %q", f.Status, f.OldPath, f.Path, f.Added, f.Removed, f.Binary, f.Texts))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"1", `R "a \" b.txt" "new\nname" +0 -0 false []`,
		"0", "0",
		"2", `M "" "a \" b.txt" +1 -0 false [[" ++ b" " \\ No newline at end of file" " Binary files a and b differ" "+end"]]`,
		`A "" "bin" +0 -0 true []`,
		"1", `A "" "a \" b.txt" +6 -0 false [["+diff --git a/x b/x" "+@@ -1 +1 @@" "+-- a" "+++ b" "+\\ No newline at end of file" "+Binary files a and b differ"]]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
