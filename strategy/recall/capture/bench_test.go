package capture_test

import (
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// bench is a repository with one commit, of a.go.
type bench struct {
	testing.TB
	*gittest.Sandbox

	root string
	repo *git.Repo
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{TB: t, Sandbox: gittest.New(t)}
	b.root = b.Mkdir("repo")
	b.Git(b.root, "init", "-q", "-b", "main")
	b.write("a.go", "package a\n")
	b.Git(b.root, "add", "-A")
	b.Git(b.root, "commit", "-qm", "first")
	b.open()
	return b
}

func (b *bench) open() {
	b.Helper()
	b.repo = b.Open(b.root)
}

func (b *bench) write(path, content string) {
	b.Helper()
	b.Write(b.root, path, content)
}

func fine(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
