package git_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
)

// sandbox runs real git with an environment of its own.
type sandbox struct {
	t   testing.TB
	dir string
	env []string
}

func newSandbox(t testing.TB) *sandbox {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &sandbox{t: t, dir: dir}
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.mkdir("home"), "TMPDIR=" + s.mkdir("tmp"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + dir,
		"GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com", "GIT_AUTHOR_DATE=1700000000 +0100",
		"GIT_COMMITTER_NAME=C O Mitter", "GIT_COMMITTER_EMAIL=committer@example.com", "GIT_COMMITTER_DATE=1700000100 -0230",
	}
	return s
}

// anonymous is the environment without an identity.
func (s *sandbox) anonymous() []string {
	return slices.DeleteFunc(slices.Clone(s.env), func(e string) bool {
		return strings.HasPrefix(e, "GIT_COMMITTER_") || strings.HasPrefix(e, "GIT_AUTHOR_")
	})
}

func (s *sandbox) path(names ...string) string {
	return filepath.Join(append([]string{s.dir}, names...)...)
}

func (s *sandbox) mkdir(names ...string) string {
	s.t.Helper()
	dir := s.path(names...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	return dir
}

func (s *sandbox) write(dir, name, content string) {
	s.t.Helper()
	full := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// try runs git in dir and gives its stdout.
func (s *sandbox) try(dir, stdin string, args ...string) (string, error) {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, s.env
	cmd.Stdin = strings.NewReader(stdin)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	if err != nil {
		s.t.Logf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out.String(), err
}

// git runs git in dir, which must succeed, and gives its stdout without the
// last newline.
func (s *sandbox) git(dir string, args ...string) string {
	s.t.Helper()
	out, err := s.try(dir, "", args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSuffix(out, "\n")
}

// init makes a repository with one commit of the file "a".
func (s *sandbox) init(name string, args ...string) string {
	s.t.Helper()
	dir := s.mkdir(name)
	s.git(dir, append([]string{"init", "-q", "-b", "main"}, args...)...)
	s.write(dir, "a", "a\n")
	s.git(dir, "add", "a")
	s.git(dir, "commit", "-q", "-m", "first")
	return dir
}

// open discovers the repository at dir and closes it with the test.
func (s *sandbox) open(dir string) *git.Repo {
	s.t.Helper()
	r, err := git.Discover(git.Locate{Dir: dir, Environ: s.env})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := r.Close(); err != nil {
			s.t.Error(err)
		}
	})
	return r
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
