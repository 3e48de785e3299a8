package strategy_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/sharing"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const branch = checkpoint.MetadataBranch

// shared is a repository with a remote named origin.
type shared struct {
	*testkit.Repo
	w *workspace.Workspace
}

// newShared creates one whose remote has one checkpoint.
func newShared(t *testing.T) *shared {
	t.Helper()
	dir := t.TempDir()
	env := testkit.CleanEnv(dir, dir, os.Getenv("PATH")).With(
		"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
	repo, unsupported := testkit.NewRepo(t, filepath.Join(dir, "w"), "plain", env)
	if unsupported {
		t.Fatal("no plain repository can be made")
	}
	s := &shared{Repo: repo}
	s.Git("init", "-q", "--bare", "-b", "main", s.remote())
	s.Git("remote", "add", "origin", s.remote())
	s.add("aaaaaaaaaaaa")
	s.Git("push", "-q", "origin", branch)
	s.open(t)
	return s
}

// open opens the workspace.
func (s *shared) open(t *testing.T) {
	t.Helper()
	opened, err := git.Discover(git.Locate{Dir: s.Dir, Environ: s.Env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	s.w = &workspace.Workspace{
		Repo: opened, Sessions: session.Open(opened.CommonDir), Log: slog.New(slog.DiscardHandler),
		Options: workspace.Options{LockTimeout: time.Minute},
		Env:     workspace.Environment{Now: time.Now, Getenv: func(string) string { return "" }, Say: func(string) {}},
	}
}

func (s *shared) remote() string { return filepath.Join(filepath.Dir(s.Dir), "remote.git") }

// add adds a checkpoint to the local branch.
func (s *shared) add(id string) { s.put(id, "{}") }

// put adds a checkpoint with the given content of its metadata.
func (s *shared) put(id, metadata string) {
	s.Git("read-tree", "--empty")
	parent := s.TryGit("rev-parse", "-q", "--verify", branch)
	args := []string{"commit-tree", "-m", "Checkpoint: " + id}
	if parent.Code == 0 {
		tip := s.Git("rev-parse", branch)
		s.Git("read-tree", tip)
		args = append(args, "-p", tip)
	}
	blob := s.GitInput(metadata, "hash-object", "-w", "--stdin")
	s.Git("update-index", "--add", "--cacheinfo", "100644,"+blob+","+id[:2]+"/"+id[2:]+"/metadata.json")
	s.Git("update-ref", branch, s.Git(append(args, s.Git("write-tree"))...))
	s.Git("reset", "-q")
}

// TestFetchKeepsUnpushedCheckpoints: a fetch keeps unpushed checkpoints and adds the new ones.
func TestFetchKeepsUnpushedCheckpoints(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	old := s.Git("rev-parse", branch)
	s.add("bbbbbbbbbbbb")
	s.Git("push", "-q", "origin", branch)
	s.Git("update-ref", branch, old)
	s.add("cccccccccccc")
	for range 2 { // the second fetch has nothing to do
		if err := sharing.FetchCheckpoints(t.Context(), s.w, "origin"); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Git("ls-tree", "--name-only", branch); got != "aa\nbb\ncc" {
		t.Errorf("there are %q", got)
	}
	if n := s.Git("rev-list", "--count", "--merges", branch); n != "1" {
		t.Errorf("%s merges", n)
	}
	if refs := s.Git("for-each-ref", "refs/entire/"); refs != "" {
		t.Errorf("left: %s", refs)
	}
}

// TestFetchWithoutLocalBranch: a fetch into a clone without the branch creates no
// commit.
func TestFetchWithoutLocalBranch(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	want := s.Git("rev-parse", branch)
	s.Git("update-ref", "-d", branch)
	s.Git("update-ref", "-d", "refs/remotes/origin/entire/checkpoints/v1")
	s.Git("update-ref", "refs/entire/fetched/checkpoints/v1", "HEAD") // left by a killed process
	if err := sharing.FetchCheckpoints(t.Context(), s.w, s.remote()); err != nil {
		t.Fatal(err)
	}
	if got := s.Git("rev-parse", branch); got != want {
		t.Errorf("it is %s, not %s", got, want)
	}
	if refs := s.Git("for-each-ref", "refs/entire/"); refs != "" {
		t.Errorf("left: %s", refs)
	}
}

// TestPartialCloneFetchesBlobsForMerge: other blobs stay missing.
func TestPartialCloneFetchesBlobsForMerge(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.Git("-C", s.remote(), "config", "uploadpack.allowFilter", "true")
	dir := filepath.Join(filepath.Dir(s.Dir), "partial")
	s.Git("clone", "-q", "--filter=blob:none", "--no-checkout", "file://"+s.remote(), dir)
	part := &shared{Repo: s.At(dir)}
	part.Git("config", "user.name", "Ada Tester")
	part.Git("config", "user.email", "ada@example.com")
	part.Git("update-ref", branch, "refs/remotes/origin/entire/checkpoints/v1")
	part.open(t)
	fetch := func() {
		t.Helper()
		if err := sharing.FetchCheckpoints(t.Context(), part.w, "origin"); err != nil {
			t.Fatal(err)
		}
	}
	s.put("aaaaaaaaaaaa", `{"branch":"theirs"}`)
	s.Git("push", "-q", "origin", branch)
	fetch()
	if !strings.Contains(part.Git("rev-list", "--objects", "--no-walk", "--missing=print", branch), "?") {
		t.Error("it took more than it needs")
	}
	s.put("aaaaaaaaaaaa", `{"branch":"theirs again"}`)
	s.Git("push", "-q", "origin", branch)
	part.put("aaaaaaaaaaaa", `{"cli_version":"ours"}`)
	fetch()
	got := part.Git("cat-file", "blob", branch+":aa/aaaaaaaaaa/metadata.json")
	for _, want := range []string{`"ours"`, `"theirs again"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is lost:\n%s", want, got)
		}
	}
}

func TestFetchReportsMissingBranch(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	s.Git("push", "-q", "origin", ":"+branch)
	if err := sharing.FetchCheckpoints(t.Context(), s.w, "origin"); !errors.Is(err, git.ErrNoRemoteRef) {
		t.Errorf("%v", err)
	}
}

// TestPushAsksTheRemote: a push that the user asks for sends what the remote no longer has, without a
// fetch that has shown it.
func TestPushAsksTheRemote(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	var said string
	s.w.Env.Say = func(line string) { said += line + "\n" }
	const inRef = "refs/entire/checkpoints/HZ/01KZXV1QRA4PQYTBZ8DN52DQHZ"
	s.Git("update-ref", inRef, branch)
	push := func(want string) {
		t.Helper()
		said = ""
		if err := sharing.Push(t.Context(), s.w, "origin"); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(said, want) {
			t.Errorf("it printed %q, not %q", said, want)
		}
		if got, want := s.Git("ls-remote", "origin", branch, inRef), s.Git("rev-parse", branch); strings.Count(got, want) != 2 {
			t.Errorf("the remote has %s", got)
		}
	}
	push("entire: sent 1 checkpoint to origin\n")
	push("entire: all checkpoints of this clone are at origin\n")
	s.Git("push", "-q", "origin", ":"+branch)
	push("removes one there for good\nentire: sent 1 checkpoint to origin\n")
	s.Git("push", "-q", "origin", ":"+inRef)
	push("entire: sent 1 checkpoint to origin\n")
}

// TestFetchCounts: a fetch that the user asks for returns the number of new checkpoints, also of those with refs.
func TestFetchCounts(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	const inRef = "refs/entire/checkpoints/HZ/01KZXV1QRA4PQYTBZ8DN52DQHZ"
	old := s.Git("rev-parse", branch)
	s.add("bbbbbbbbbbbb")
	s.Git("push", "-q", "origin", branch, branch+":"+inRef)
	s.Git("update-ref", branch, old)
	s.Git("update-ref", "-d", "refs/remotes/origin/entire/checkpoints/v1")
	for _, want := range []int{2, 0} {
		if n, err := sharing.Fetch(t.Context(), s.w, "origin"); n != want || err != nil {
			t.Errorf("%d new, not %d: %v", n, want, err)
		}
	}
}

// TestPushTimesOut: a push to a remote that doesn't answer ends at the deadline.
func TestPushTimesOut(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "waits for the end of the push")
	s := newShared(t)
	ssh := filepath.Join(filepath.Dir(s.Dir), "ssh")
	if err := testkit.WriteProgram(ssh, "#!/bin/sh\nexec sleep 1000\n"); err != nil {
		t.Fatal(err)
	}
	s.Git("config", "core.sshCommand", ssh)
	s.w.Options.PushRemote = "ssh://ada:hunter2@nowhere/x"
	s.w.Env.Caller = func() (proc.Info, bool) { return proc.Info{Args: []string{"git", "push"}}, true }
	var log bytes.Buffer
	s.w.Log = slog.New(slog.NewTextHandler(&log, nil))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err := sharing.PrePush(ctx, s.w)
	if err == nil || err.Error() != "checkpoints not sent to ssh://nowhere/x: timed out" {
		t.Errorf("%v\n%s", err, log.String())
	}
}
