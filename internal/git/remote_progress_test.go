package git_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// TestTransfersReportProgress checks that the progress of a push and a fetch is reported as
// numbers, including the last one, and that no error contains it.
func TestTransfersReportProgress(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := withRemote(s)
	for i := range 60 {
		s.Write(r.Root, "f"+strconv.Itoa(i), strconv.Itoa(i)+"\n")
	}
	s.Git(r.Root, "add", ".")
	s.Git(r.Root, "commit", "-q", "-m", "many")
	seen := map[string]git.Progress{}
	r.Progress = func(p git.Progress) { seen[p.Stage] = p }
	gittest.Must[git.PushResult](t)(git.Push(t.Context(), r, "origin", mainRef))
	if p := seen["Writing objects"]; p.Total < 60 || p.Done != p.Total {
		t.Errorf("of the push: %+v", seen)
	}
	other := s.Open(s.Init("other"))
	clear(seen)
	other.Progress = r.Progress
	from := "file://" + s.Path("r.git")
	if err := git.Fetch(t.Context(), other, from, "+refs/heads/main:refs/entire/fetched/x"); err != nil {
		t.Fatal(err)
	}
	if p := seen["Counting objects"]; p.Total < 60 || p.Done != p.Total {
		t.Errorf("of the fetch: %+v", seen)
	}
	executable(s, "r.git/hooks/pre-receive", "echo no >&2; exit 1")
	s.Git(r.Root, "commit", "-q", "--allow-empty", "-m", "more")
	_, err := git.Push(t.Context(), r, "origin", "refs/heads/main:refs/heads/other")
	if err == nil || err.Error() != "[remote rejected] (pre-receive hook declined)" {
		t.Errorf("refused by a hook: %v", err)
	}
	_, err = git.Push(t.Context(), r, s.Path("none.git"), mainRef)
	if err == nil || !strings.Contains(err.Error(), "none.git") {
		t.Errorf("to no repository: %v", err)
	}
}
