package segments_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/checkpoint/segments"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/session"
)

func TestMain(m *testing.M) { os.Exit(testkit.InMemory(m).Run()) }

// fixture is a repository, opened by git and by the package under test.
type fixture struct {
	*testkit.Repo
	git *git.Repo
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	dir := tb.TempDir()
	repo, _ := testkit.NewRepo(tb, dir, "plain", testkit.CleanEnv(dir, dir, os.Getenv("PATH")))
	return &fixture{Repo: repo, git: open(tb, repo)}
}

// open opens the repository again, as another process would.
func open(tb testing.TB, repo *testkit.Repo) *git.Repo {
	tb.Helper()
	opened, err := git.Discover(git.Locate{Dir: repo.Dir, Environ: repo.Env})
	must(tb, err)
	tb.Cleanup(func() { must(tb, opened.Close()) })
	return opened
}

// segmenter returns a writer for the transcript of a session named by the test.
func (f *fixture) segmenter(name string) segments.Writer {
	return segments.Writer{Repo: f.git, Redact: secrets{}, Side: func(st session.Segments) session.Side {
		return session.Open(f.git.CommonDir).SegmentsOf(name, st)
	}}
}

// transcript stores text at once.
func (f *fixture) transcript(tb testing.TB, name, text string) segments.Transcript {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "t.jsonl")
	must(tb, os.WriteFile(path, []byte(text), 0o600))
	s := f.segmenter(name)
	st, err := s.Extend(tb.Context(), session.Segments{}, path, int64(len(text)), 0)
	must(tb, err)
	t, err := s.Transcript(st)
	must(tb, err)
	return t
}

// secrets redacts the word s3cret.
type secrets struct{}

func (secrets) Line(line []byte) []byte {
	return bytes.ReplaceAll(line, []byte("s3cret"), []byte("REDACTED"))
}

func (secrets) Text(s string) string { return strings.ReplaceAll(s, "s3cret", "REDACTED") }

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
