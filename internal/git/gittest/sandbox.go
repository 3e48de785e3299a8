// Package gittest runs real git for tests, in separate directories and with a separate environment.
package gittest

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

// Sandbox runs real git in a separate environment.
type Sandbox struct {
	T   testing.TB
	Dir string   // temporary, without symlinks
	Env []string // of every git process, with an author and a committer
}

// Config is a user's configuration without automatic maintenance: it is a process after each commit,
// and finds nothing to do in repositories this small.
const Config = "[maintenance]\n\tauto = false\n"

// New returns a sandbox that is removed with the test.
func New(t testing.TB) *Sandbox {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return In(t, dir)
}

// In returns a sandbox in a directory, which may be that of another process's sandbox.
func In(t testing.TB, dir string) *Sandbox {
	t.Helper()
	s := &Sandbox{T: t, Dir: dir}
	s.Write(dir, "home/.gitconfig", Config)
	s.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.Path("home"), "TMPDIR=" + s.Mkdir("tmp"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + dir,
		"GIT_AUTHOR_NAME=A U Thor", "GIT_AUTHOR_EMAIL=author@example.com", "GIT_AUTHOR_DATE=1700000000 +0100",
		"GIT_COMMITTER_NAME=C O Mitter", "GIT_COMMITTER_EMAIL=committer@example.com", "GIT_COMMITTER_DATE=1700000100 -0230",
	}
	return s
}

// Anonymous returns the environment without an identity.
func (s *Sandbox) Anonymous() []string {
	return slices.DeleteFunc(slices.Clone(s.Env), func(e string) bool {
		return strings.HasPrefix(e, "GIT_COMMITTER_") || strings.HasPrefix(e, "GIT_AUTHOR_")
	})
}

// Path joins names to the directory of the sandbox.
func (s *Sandbox) Path(names ...string) string {
	return filepath.Join(append([]string{s.Dir}, names...)...)
}

// Mkdir creates a directory and its parents, and returns its path.
func (s *Sandbox) Mkdir(names ...string) string {
	s.T.Helper()
	dir := s.Path(names...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.T.Fatal(err)
	}
	return dir
}

// Write writes a file below dir, and creates its directory.
func (s *Sandbox) Write(dir, name, content string) {
	s.T.Helper()
	full := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		s.T.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		s.T.Fatal(err)
	}
}

// Try runs git in dir and returns its stdout.
func (s *Sandbox) Try(dir, stdin string, args ...string) (string, error) {
	s.T.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, s.Env
	cmd.Stdin = strings.NewReader(stdin)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	err := cmd.Run()
	if err != nil {
		s.T.Logf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out.String(), err
}

// Git runs git in dir, which must succeed, and returns its stdout without the
// last newline.
func (s *Sandbox) Git(dir string, args ...string) string {
	s.T.Helper()
	out, err := s.Try(dir, "", args...)
	if err != nil {
		s.T.Fatal(err)
	}
	return strings.TrimSuffix(out, "\n")
}

// Init creates a repository with one commit of the file "a".
func (s *Sandbox) Init(name string, args ...string) string {
	s.T.Helper()
	dir := s.Mkdir(name)
	s.Git(dir, append([]string{"init", "-q", "-b", "main"}, args...)...)
	s.Write(dir, "a", "a\n")
	s.Git(dir, "add", "a")
	s.Git(dir, "commit", "-q", "-m", "first")
	return dir
}

// Open discovers the repository at dir and closes it with the test.
func (s *Sandbox) Open(dir string) *git.Repo {
	s.T.Helper()
	r, err := git.Discover(git.Locate{Dir: dir, Environ: s.Env})
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() {
		if err := r.Close(); err != nil {
			s.T.Error(err)
		}
	})
	return r
}

// Must returns v, and ends the test if there is an error.
func Must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Symlink creates a symlink to target; name is a path below the sandbox.
func (s *Sandbox) Symlink(target, name string) {
	s.T.Helper()
	if err := os.Symlink(target, s.Path(name)); err != nil {
		s.T.Fatal(err)
	}
}

// Superproject creates a repository "super" with the submodule "sub".
func (s *Sandbox) Superproject() string {
	s.T.Helper()
	lib := s.Init("lib")
	super := s.Init("super")
	s.Git(super, "-c", "protocol.file.allow=always", "submodule", "add", "-q", lib, "sub")
	s.Git(super, "commit", "-q", "-m", "submodule")
	return super
}

// StoreBlob stores a blob in the repository at dir and returns its object id.
func (s *Sandbox) StoreBlob(dir, content string) string {
	s.T.Helper()
	out, err := s.Try(dir, content, "hash-object", "-w", "--stdin")
	if err != nil {
		s.T.Fatal(err)
	}
	return strings.TrimSpace(out)
}

// Formats runs a test in a repository of each hash function, with -short only with SHA-1.
func Formats(t *testing.T, test func(t *testing.T, s *Sandbox, dir string)) {
	t.Helper()
	formats := []git.Format{git.SHA1, git.SHA256}
	if testing.Short() {
		formats = formats[:1]
	}
	for _, f := range formats {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			s := New(t)
			test(t, s, s.Init("r", "--object-format="+string(f)))
		})
	}
}

// OddNames returns file names that break line-based and quoting interfaces.
func OddNames() []string {
	return []string{
		"plain", "new\nline", "\n", "ends with newline\n", "ends with cr\r", "\r", "cr\rinside", "\"quoted\"", "\"", "tab\t", "-", "-w", "--stdin",
		" lead", "trail ", "trail\t", "\xff\xfe", "ä", "back\\slash", "\\n", "\"\\\n\r\t\xff\"", "dir with space/ä\n/\"x", "#c", "*", "[a]", ":(top)x",
		":x", "~", "$(x)", "%s", "'", "dd/-b", "\x01\x7f",
	}
}
