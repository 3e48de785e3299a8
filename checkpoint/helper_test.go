package checkpoint_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/session"
)

// fixture is a repository, opened by git and by the package under test.
type fixture struct {
	*testkit.Repo
	git *git.Repo
}

// newFixture creates a repository of one of testkit's kinds.
func newFixture(tb testing.TB, kind string) *fixture {
	tb.Helper()
	dir := tb.TempDir()
	env := testkit.CleanEnv(dir, dir, os.Getenv("PATH")).With(
		"GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
	repo, unsupported := testkit.NewRepo(tb, dir, kind, env)
	if unsupported && kind != "reftable" {
		tb.Fatalf("no %s repository can be made", kind)
	}
	if unsupported {
		tb.Skip("this git has no reftables")
	}
	return &fixture{Repo: repo, git: open(tb, repo)}
}

// open opens the repository again, as another process would.
func open(tb testing.TB, repo *testkit.Repo) *git.Repo {
	tb.Helper()
	r, err := git.Discover(git.Locate{Dir: repo.Dir, Environ: repo.Env})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// segmenter returns a writer for the transcript of a session named by the test.
func (f *fixture) segmenter(name string) checkpoint.SegmentWriter {
	return checkpoint.SegmentWriter{Repo: f.git, Redact: secrets{}, Side: func(st session.Segments) session.Side {
		return session.Open(f.git.CommonDir).SegmentsOf(name, st)
	}}
}

// transcript stores text at once.
func (f *fixture) transcript(tb testing.TB, name, text string) checkpoint.StoredTranscript {
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

// update commits changes to the metadata branch.
func (f *fixture) update(tb testing.TB, changes ...checkpoint.Change) git.OID {
	tb.Helper()
	must(tb, checkpoint.Update(tb.Context(), f.git, checkpoint.BranchesFirst, author(), changes, nil))
	return git.OID(strings.TrimSpace(f.TryGit("rev-parse", "-q", "--verify", checkpoint.MetadataBranch).Stdout))
}

// fsck checks the repository against git's strictest rules.
func (f *fixture) fsck(tb testing.TB) {
	tb.Helper()
	result := f.TryGit("fsck", "--strict", "--no-dangling")
	if result.Code != 0 || strings.Contains(result.Stderr+result.Stdout, "warning") {
		tb.Errorf("git fsck: %d\n%s%s", result.Code, result.Stdout, result.Stderr)
	}
}

// secrets redacts the word s3cret.
type secrets struct{}

func (secrets) Line(line []byte) []byte {
	return bytes.ReplaceAll(line, []byte("s3cret"), []byte("REDACTED"))
}

func (secrets) Text(s string) string { return strings.ReplaceAll(s, "s3cret", "REDACTED") }

func author() git.Signature {
	return git.Signature{Name: "Ada Tester", Email: "ada@example.com", When: time.Unix(1_770_000_000, 0).UTC()}
}

func oid(s string) git.OID { return git.OID(s) }

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// readIn reads a checkpoint in a tree of the metadata branch.
func (f *fixture) readIn(tb testing.TB, tree git.OID, id checkpoint.ID) (checkpoint.Checkpoint, error) {
	tb.Helper()
	return checkpoint.BranchSource(f.git, tree).Read(tb.Context(), id)
}

// present returns what a tree of the metadata branch, "" for an empty one, has of a checkpoint.
func (f *fixture) present(tb testing.TB, tree git.OID, id checkpoint.ID) checkpoint.Present {
	tb.Helper()
	if tree == "" {
		return checkpoint.Present{}
	}
	at, err := checkpoint.BranchSource(f.git, tree).Locate(tb.Context(), id)
	if err != nil && !errors.Is(err, checkpoint.ErrNotFound) {
		tb.Fatal(err)
	}
	return checkpoint.Present{Dir: at.Dir}
}

// with returns the tree with another directory of a checkpoint.
func (f *fixture) with(tb testing.TB, tree git.OID, id checkpoint.ID, dir git.OID) git.OID {
	tb.Helper()
	next, err := git.EditTree(tb.Context(), f.git, tree, []git.TreeEdit{{Path: id.Dir(), Mode: git.ModeTree, OID: dir}})
	must(tb, err)
	return next
}

// putIn puts a slot into a tree of the metadata branch.
func (f *fixture) putIn(tb testing.TB, tree git.OID, id checkpoint.ID, slot checkpoint.Slot, info checkpoint.SummaryInfo) (git.OID, error) {
	tb.Helper()
	dir, err := checkpoint.Put(tb.Context(), f.git, f.present(tb, tree, id), id, slot, info)
	if err != nil {
		return "", err
	}
	return f.with(tb, tree, id, dir), nil
}
