package git_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// commitBox returns a repository with a commit and, if hook isn't empty, a pre-commit hook.
func commitBox(t *testing.T, hook string) (s *gittest.Sandbox, dir string, repo *git.Repo) {
	t.Helper()
	s = gittest.New(t)
	dir = s.Mkdir("repo")
	s.Git(dir, "init", "-q", "-b", "main")
	s.Write(dir, "old", "old\n")
	s.Write(dir, "oldest", "oldest\n")
	s.Git(dir, "add", ".")
	s.Git(dir, "commit", "-q", "-m", "first")
	if hook != "" {
		path := filepath.Join(dir, ".git", "hooks", "pre-commit")
		if err := testkit.WriteProgram(path, "#!/bin/sh\n"+hook+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	return s, dir, s.Open(dir)
}

func TestCommitPathsCommitsOnlyPaths(t *testing.T) {
	t.Parallel()
	s, dir, repo := commitBox(t, "")
	s.Write(dir, "staged", "by the user\n")
	s.Git(dir, "add", "staged")
	s.Write(dir, "old", "changed\n")
	s.Write(dir, "oldest", "changed too\n")
	s.Write(dir, "new*", "new\n")
	s.Write(dir, "newer", "not asked for\n")
	if err := git.IntendToAdd(t.Context(), repo, []string{"new*"}); err != nil {
		t.Fatal(err)
	}
	if err := git.CommitPaths(t.Context(), repo, git.PathCommit{Paths: []string{"old", "new*"}, Message: "# --amend\n\nx"}); err != nil {
		t.Fatal(err)
	}
	want := "# --amend\n\nx\n\n\nnew*\nold"
	if diff := cmp.Diff(want, s.Git(dir, "log", "-1", "--name-only", "--format=%B")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(" M oldest\nA  staged\n?? newer", s.Git(dir, "status", "--porcelain")); diff != "" {
		t.Error(diff)
	}
}

func TestUnstageUndoesIntendToAdd(t *testing.T) {
	t.Parallel()
	s, dir, repo := commitBox(t, "echo no >&2; exit 1")
	s.Write(dir, "new", "new\n")
	if err := git.IntendToAdd(t.Context(), repo, []string{"new"}); err != nil {
		t.Fatal(err)
	}
	err := git.CommitPaths(t.Context(), repo, git.PathCommit{Paths: []string{"new"}, Message: "x"})
	if exit, ok := errors.AsType[*git.ExitError](err); !ok || strings.TrimSpace(exit.Stderr) != "no" {
		t.Errorf("error %v", err)
	}
	if err := git.Unstage(t.Context(), repo, []string{"new"}); err != nil {
		t.Fatal(err)
	}
	if got := s.Git(dir, "status", "--porcelain"); got != "?? new" {
		t.Errorf("status %q", got)
	}
}

func TestCommitPathsKillsHangingHook(t *testing.T) {
	t.Parallel()
	s, dir, repo := commitBox(t, `trap '' TERM; exec 3> alive; echo >&3; sleep 1000 & wait; sleep 1000`)
	alive := filepath.Join(dir, "alive")
	if out, err := exec.Command("mkfifo", alive).CombinedOutput(); err != nil {
		t.Skipf("needs mkfifo(1): %v %s", err, out)
	}
	s.Write(dir, "old", "changed\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		f, err := os.Open(alive) // blocks until the hook opens it
		if err == nil {
			_, err = f.Read(make([]byte, 1))
		}
		cancel()
		if err == nil {
			_, err = io.Copy(io.Discard, f) // until all processes have closed it
		}
		ended <- errors.Join(err, f.Close())
	}()
	err := git.CommitPaths(ctx, repo, git.PathCommit{Paths: []string{"old"}, Message: "x"})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if got := s.Git(dir, "status", "--porcelain", "old"); got != " M old" {
		t.Errorf("status %q", got)
	}
	locks, err := filepath.Glob(filepath.Join(dir, ".git", "*.lock"))
	if err != nil || len(locks) > 0 {
		t.Errorf("left behind: %v %v", locks, err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("what the hook started goes on")
	}
}

func TestCommitPathsWaitsForTheIndex(t *testing.T) {
	t.Parallel()
	s, dir, repo := commitBox(t, "")
	s.Write(dir, "old", "changed\n")
	s.Write(dir, ".git/index.lock", "")
	freed := time.AfterFunc(250*time.Millisecond, func() { _ = os.Remove(filepath.Join(dir, ".git", "index.lock")) })
	defer freed.Stop()
	if err := git.CommitPaths(t.Context(), repo, git.PathCommit{Paths: []string{"old"}, Message: "x"}); err != nil {
		t.Fatal(err)
	}
}

func TestOperationName(t *testing.T) {
	t.Parallel()
	for want, op := range map[string]git.Operation{
		"": {}, "rebase": {Rebase: true, CherryPick: true}, "git am": {Apply: true}, "cherry-pick": {CherryPick: true},
		"revert": {Revert: true}, "merge": {Squash: true}, "bisect": {Bisect: true},
	} {
		if got := op.Name(); got != want {
			t.Errorf("%+v: %q", op, got)
		}
	}
}
