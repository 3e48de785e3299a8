package capture_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// bench is a repository with one commit, of a.go.
type bench struct {
	testing.TB
	dir, root string
	env       []string
	repo      *git.Repo
}

func newBench(t testing.TB) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	fine(t, err)
	fine(t, os.WriteFile(filepath.Join(dir, ".gitconfig"), []byte(gittest.Config), 0o600))
	b := &bench{TB: t, dir: dir, root: filepath.Join(dir, "repo")}
	b.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES=" + dir, "LC_ALL=C",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com",
	}
	b.git(dir, "init", "-q", "-b", "main", "repo")
	b.write("a.go", "package a\n")
	b.git(b.root, "add", "-A")
	b.git(b.root, "commit", "-qm", "first")
	b.open()
	return b
}

func (b *bench) open() {
	b.Helper()
	repo, err := git.Discover(git.Locate{Dir: b.root, Environ: b.env})
	fine(b, err)
	b.Cleanup(func() { _ = repo.Close() })
	b.repo = repo
}

func (b *bench) git(dir string, args ...string) string {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "git", args...)
	cmd.Dir, cmd.Env = dir, b.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func (b *bench) write(path, content string) {
	b.Helper()
	full := filepath.Join(b.root, path)
	fine(b, errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(content), 0o644)))
}

func fine(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
