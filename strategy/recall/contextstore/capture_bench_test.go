package contextstore_test

import (
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// captureBench is a repository with one commit, of a.go.
type captureBench struct {
	testing.TB
	*gittest.Sandbox

	root string
	repo *git.Repo
}

func newCaptureBench(t testing.TB) *captureBench {
	t.Helper()
	b := &captureBench{TB: t, Sandbox: gittest.New(t)}
	b.root = b.Mkdir("repo")
	b.Git(b.root, "init", "-q", "-b", "main")
	b.write("a.go", "package a\n")
	b.Git(b.root, "add", "-A")
	b.Git(b.root, "commit", "-qm", "first")
	b.open()
	return b
}

func (b *captureBench) open() {
	b.Helper()
	b.repo = b.Open(b.root)
}

func (b *captureBench) write(path, content string) {
	b.Helper()
	b.Write(b.root, path, content)
}

func fineCapture(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
