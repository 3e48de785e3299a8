package git_test

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

const mainRef = "refs/heads/main:refs/heads/main"

// withRemote returns a repository "r" with an empty remote "r.git".
func withRemote(s *gittest.Sandbox) *git.Repo {
	s.T.Helper()
	dir := s.Init("r")
	s.Git(s.Dir, "init", "-q", "--bare", s.Path("r.git"))
	s.Git(dir, "remote", "add", "origin", s.Path("r.git"))
	return s.Open(dir)
}

// executable writes a shell script.
func executable(s *gittest.Sandbox, name, script string) {
	s.T.Helper()
	if err := testkit.WriteProgram(s.Path(name), "#!/bin/sh\n"+script+"\n"); err != nil {
		s.T.Fatal(err)
	}
}

func TestPush(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := withRemote(s)
	s.Git(r.Root, "tag", "-a", "-m", "tag", "v1")
	s.Git(r.Root, "config", "push.followTags", "true")
	executable(s, "r/.git/hooks/pre-push", "exit 1")
	first := gittest.Must[git.PushResult](t)(git.Push(t.Context(), r, "origin", mainRef))
	again := gittest.Must[git.PushResult](t)(git.Push(t.Context(), r, "origin", mainRef))
	if got := s.Git(s.Path("r.git"), "for-each-ref", "--format=%(refname)"); got != "refs/heads/main" {
		t.Errorf("pushed %s", got)
	}
	was := s.Git(r.Root, "rev-parse", "HEAD")
	s.Git(r.Root, "commit", "-q", "--allow-empty", "-m", "more")
	more := gittest.Must[git.PushResult](t)(git.Push(t.Context(), r, s.Path("r.git"), mainRef))
	if more.From != "" && strings.HasPrefix(was, more.From) {
		more.From = "the first"
	}
	want := []git.PushResult{{Changed: true}, {}, {Changed: true, From: "the first"}}
	if diff := cmp.Diff(want, []git.PushResult{first, again, more}); diff != "" {
		t.Error(diff)
	}
	if _, err := git.Push(t.Context(), r, "--all", "x"); err == nil {
		t.Error("an option was taken for a remote")
	}
}

func TestPushErrors(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := withRemote(s)
	gittest.Must[git.PushResult](t)(git.Push(t.Context(), r, "origin", mainRef))
	s.Git(r.Root, "commit", "-q", "--amend", "--allow-empty", "-m", "another")
	if _, err := git.Push(t.Context(), r, "origin", mainRef); !errors.Is(err, git.ErrRemoteDiverged) {
		t.Errorf("not known as diverged: %v", err)
	}
	executable(s, "r.git/hooks/pre-receive", "echo no >&2; exit 1")
	_, err := git.Push(t.Context(), r, "origin", "refs/heads/main:refs/heads/other")
	if err == nil || errors.Is(err, git.ErrRemoteDiverged) || err.Error() != "[remote rejected] (pre-receive hook declined)" {
		t.Errorf("refused by a hook: %v", err)
	}
	_, err = git.Push(t.Context(), r, "https://ada:hunter2@localhost:1/x.git", mainRef)
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a password is shown: %v", err)
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := withRemote(s)
	gittest.Must[git.PushResult](t)(git.Push(t.Context(), r, "origin", mainRef))
	if err := git.Fetch(t.Context(), r, "origin", "+refs/heads/main:refs/entire/fetched/x"); err != nil {
		t.Fatal(err)
	}
	if c := gittest.Must[git.Commit](t)(r.Commit(t.Context(), "refs/entire/fetched/x")); string(c.OID) != s.Git(r.Root, "rev-parse", "HEAD") {
		t.Errorf("fetched %s", c.OID)
	}
	if err := git.Fetch(t.Context(), r, "origin", "refs/heads/none:refs/entire/fetched/x"); !errors.Is(err, git.ErrNoRemoteRef) {
		t.Errorf("a branch that isn't there: %v", err)
	}
}

// TestFetchMissing fetches the contents of a branch that a partial clone lacks.
func TestFetchMissing(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	origin := s.Init("origin")
	s.Git(origin, "config", "uploadpack.allowFilter", "true")
	s.Git(origin, "checkout", "-q", "-b", "side")
	s.Write(origin, "d/b", "b\n")
	s.Git(origin, "add", "d")
	s.Git(origin, "commit", "-q", "-m", "side")
	s.Git(origin, "checkout", "-q", "main")
	s.Git(s.Dir, "clone", "-q", "--filter=blob:none", "file://"+origin, s.Path("part"))
	r := s.Open(s.Path("part"))
	const name = "origin/side:d/b"
	if _, err := r.Read(t.Context(), name); err == nil {
		t.Skip("this git doesn't leave it out")
	}
	for range 2 {
		if err := git.FetchMissing(t.Context(), r, "origin", "origin/side"); err != nil {
			t.Fatal(err)
		}
	}
	if got := gittest.Must[git.Object](t)(r.Read(t.Context(), name)); string(got.Data) != "b\n" {
		t.Errorf("%q", got.Data)
	}
	if err := git.FetchMissing(t.Context(), s.Open(origin), "origin", "main"); err != nil {
		t.Errorf("in a whole repository: %v", err)
	}
}

// TestPushCancelEndsSSH checks that a canceled push ends with its ssh, which holds the pipe open
// while it runs.
func TestPushCancelEndsSSH(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	pipe := s.Path("pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	executable(s, "ssh", "exec sleep 1000 > "+pipe)
	s.Env = append(s.Env, "GIT_SSH="+s.Path("ssh"))
	r := s.Open(s.Init("r"))
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		file, err := os.Open(pipe) // blocks until ssh opens it
		if err == nil {
			cancel()
			_, err = io.ReadAll(file)
		}
		ended <- err
	}()
	if _, err := git.Push(ctx, r, "ssh://nowhere/x", mainRef); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestPushPlace(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := withRemote(s)
	s.Git(r.Root, "config", "url.ssh://host/.pushInsteadOf", "there:")
	s.Git(r.Root, "remote", "add", "two", "there:a")
	s.Git(r.Root, "remote", "set-url", "--add", "--push", "two", "x")
	s.Git(r.Root, "remote", "set-url", "--add", "--push", "two", "y")
	s.Git(r.Root, "remote", "add", "short", "there:a")
	var got []string
	for _, remote := range []string{"origin", "short", "two", "https://example.com/x"} {
		got = append(got, gittest.Must[git.PushDestination](t)(git.FindPushDestination(t.Context(), r, remote)).URL)
	}
	want := []string{s.Path("r.git"), "ssh://host/a", "x\ny", "https://example.com/x"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestReason(t *testing.T) {
	t.Parallel()
	for stderr, want := range map[string]string{
		"": "git says no more",
		"remote:\nhint: try this\nfatal: 'nowhere' does not appear to be a git repository\nfatal: Could not read":                               "'nowhere' does not appear to be a git repository",
		"warning: redirecting\nssh: connect to host h port 22: Connection refused\nfatal: Could not read from remote repository.":               "ssh: connect to host h port 22: Connection refused",
		"error: unable to read askpass response from 'false'\nfatal: could not read Username for 'https://a:b@host': terminal prompts disabled": "could not read Username for 'https://host': terminal prompts disabled",
	} {
		if got := git.RemoteReason(stderr); got != want {
			t.Errorf("%q: %q", stderr, got)
		}
	}
}

func TestHideURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"fatal: 'https://a:b@host/x' not found":  "fatal: 'https://host/x' not found",
		"https://token@host, https://a:p@q@host": "https://host, https://host",
		"git@host:x and https://host/a@b":        "git@host:x and https://host/a@b",
	} {
		if got := git.HideURL(text); got != want {
			t.Errorf("%q", got)
		}
	}
}
