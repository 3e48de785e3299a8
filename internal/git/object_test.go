package git_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

func TestWrittenObjectsMatchGit(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		r := s.Open(dir)
		ctx := t.Context()
		big := strings.Repeat("line of text\n", 50_000)
		entries := make([]git.TreeEntry, 0, 4)
		for i, content := range []string{"", "x", "a\x00b", big} {
			oid := gittest.Must[git.OID](t)(r.WriteBlob([]byte(content)))
			if want := hash(s, dir, content); string(oid) != want {
				t.Errorf("blob %d is %s, git says %s", i, oid, want)
			}
			if oid != r.Format.HashBlob([]byte(content)) {
				t.Error("HashBlob differs")
			}
			if got := gittest.Must[git.Object](t)(r.Read(ctx, string(oid))); string(got.Data) != content || got.Type != "blob" {
				t.Errorf("blob %d read back as %s of %d bytes", i, got.Type, len(got.Data))
			}
			entries = append(entries, git.TreeEntry{Mode: git.ModeFile, Name: fmt.Sprintf("f%d\n\"ä\xff", i), OID: oid})
		}
		sub := gittest.Must[git.OID](t)(git.WriteTree(r, entries))
		link := gittest.Must[git.OID](t)(r.WriteBlob([]byte("target")))
		head := git.OID(s.Git(dir, "rev-parse", "HEAD"))
		tree := gittest.Must[git.OID](t)(git.WriteTree(r, []git.TreeEntry{
			{Mode: git.ModeFile, Name: "a-", OID: link},
			{Mode: git.ModeTree, Name: "a", OID: sub},
			{Mode: git.ModeExec, Name: "a.b", OID: link},
			{Mode: git.ModeLink, Name: "a0", OID: link},
			{Mode: git.ModeModule, Name: "module", OID: head},
		}))
		want := git.Commit{
			Tree: tree, Parents: []git.OID{head},
			Author:    git.Signature{Name: "Ä <B>", Email: "x@y", When: time.Unix(1700000000, 0).In(time.FixedZone("", -9000))},
			Committer: git.Signature{When: time.Unix(0, 0).UTC()},
			Message:   "subject\n\nbody\n\nKey: value\n",
		}
		want.OID = gittest.Must[git.OID](t)(r.WriteCommit(want))
		s.Git(dir, "update-ref", "refs/heads/new", string(want.OID))
		s.Git(dir, "fsck", "--strict", "--no-dangling")
		got := gittest.Must[git.Commit](t)(r.Commit(ctx, "refs/heads/new"))
		want.Author.Name = "Ä B"
		if diff := cmp.Diff(want, got, cmp.Comparer(sameMoment)); diff != "" {
			t.Errorf("commit (-want +got):\n%s", diff)
		}
		if got := s.Git(dir, "log", "-1", "--format=%an|%ae|%ad|%cn|%ce|%s|%(trailers:key=Key,valueonly)", "--date=raw", "new"); got !=
			"Ä B|x@y|1700000000 -0230|||subject|value\n" {
			t.Errorf("git reads %q", got)
		}
		if n := r.Processes(); n != 0 {
			t.Errorf("%d processes", n)
		}
	})
}

func sameMoment(a, b time.Time) bool {
	_, zoneA := a.Zone()
	_, zoneB := b.Zone()
	return a.Equal(b) && zoneA == zoneB
}

func hash(s *gittest.Sandbox, dir, content string) string {
	s.T.Helper()
	out, err := s.Try(dir, content, "hash-object", "--stdin")
	if err != nil {
		s.T.Fatal(err)
	}
	return strings.TrimSpace(out)
}

func TestEmptyTreeMayBeCommitted(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		r := s.Open(dir)
		tree := gittest.Must[git.OID](t)(git.EditTree(t.Context(), r, "", nil))
		if tree != r.Format.EmptyTree() {
			t.Errorf("got %s", tree)
		}
		oid := gittest.Must[git.OID](t)(r.WriteCommit(git.Commit{Tree: tree, Message: "nul\x00dropped"}))
		s.Git(dir, "update-ref", "refs/heads/empty", string(oid))
		s.Git(dir, "fsck", "--strict", "--no-dangling")
	})
}

func TestExistingObjectIsNotWrittenAgain(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := s.Open(s.Init("r"))
	oid := gittest.Must[git.OID](t)(r.WriteBlob([]byte("content")))
	if err := r.SyncObjects(); err != nil {
		t.Fatal(err)
	}
	path := s.Path("r", ".git", "objects", string(oid[:2]), string(oid[2:]))
	old := time.Unix(1600000000, 0)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	before := gittest.Must[os.FileInfo](t)(os.Stat(path))
	gittest.Must[git.OID](t)(r.WriteBlob([]byte("content")))
	after := gittest.Must[os.FileInfo](t)(os.Stat(path))
	if !os.SameFile(before, after) {
		t.Error("written again")
	}
	if !after.ModTime().After(old) {
		t.Error("a prune would take it")
	}
	if after.Mode().Perm() != 0o444 {
		t.Errorf("mode %v", after.Mode())
	}
	// After a crash of the machine the file may exist without its contents.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s.Write(filepath.Dir(path), filepath.Base(path), "")
	gittest.Must[git.OID](t)(r.WriteBlob([]byte("content")))
	gittest.Must[git.Object](t)(r.Read(t.Context(), string(oid)))
	if rest := gittest.Must[[]string](t)(filepath.Glob(s.Path("r", ".git", "objects", "tmp_*"))); len(rest) > 0 {
		t.Errorf("left %v", rest)
	}
}

func TestSharedRepositoryStaysWritableForItsGroup(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r", "--shared=group")
	want := gittest.Must[os.FileInfo](t)(os.Stat(filepath.Join(dir, ".git", "objects"))).Mode()
	r := s.Open(dir)
	for i := range 30 {
		oid := gittest.Must[git.OID](t)(r.WriteBlob([]byte{byte(i)}))
		got := gittest.Must[os.FileInfo](t)(os.Stat(filepath.Join(dir, ".git", "objects", string(oid[:2])))).Mode()
		if got != want {
			t.Fatalf("fan-out has mode %v, objects %v", got, want)
		}
	}
}

func TestWriteTreeRefusesInvalidEntries(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := s.Open(s.Init("r"))
	blob := gittest.Must[git.OID](t)(r.WriteBlob(nil))
	for name, entries := range map[string][]git.TreeEntry{
		"slash":     {{Mode: git.ModeFile, Name: "a/b", OID: blob}},
		"empty":     {{Mode: git.ModeFile, Name: "", OID: blob}},
		"dot git":   {{Mode: git.ModeTree, Name: ".Git", OID: blob}},
		"parent":    {{Mode: git.ModeTree, Name: "..", OID: blob}},
		"nul":       {{Mode: git.ModeFile, Name: "a\x00b", OID: blob}},
		"mode":      {{Mode: 0o100666, Name: "a", OID: blob}},
		"no object": {{Mode: git.ModeFile, Name: "a"}},
		"short":     {{Mode: git.ModeFile, Name: "a", OID: blob[:39]}},
		"twice":     {{Mode: git.ModeFile, Name: "a", OID: blob}, {Mode: git.ModeTree, Name: "a", OID: r.Format.EmptyTree()}},
		"twice far": {{Mode: git.ModeFile, Name: "a", OID: blob}, {Mode: git.ModeFile, Name: "a.b", OID: blob}, {Mode: git.ModeTree, Name: "a", OID: r.Format.EmptyTree()}},
	} {
		if oid, err := git.WriteTree(r, entries); err == nil {
			t.Errorf("%s: wrote %s", name, oid)
		}
	}
}

func TestReadMissing(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	r := s.Open(dir)
	ctx := t.Context()
	head := s.Git(dir, "rev-parse", "HEAD")
	for _, spec := range []string{
		"nope", "refs/heads/nope", strings.Repeat("0", 40), strings.Repeat("1", 40), "HEAD:nope", "HEAD^", ":nope",
		"-x", "--batch", head + " commit 12", "a b c", "HEAD^{tree}^{commit}", "äöü\xff", "@{-1}", "missing",
	} {
		if _, err := r.Read(ctx, spec); !errors.Is(err, git.ErrMissing) {
			t.Errorf("Read(%q) = %v", spec, err)
		}
	}
	for _, spec := range []string{"", "HEAD\nHEAD", "HEAD\r", "HEAD\x00"} {
		if o, err := r.Read(ctx, spec); err == nil {
			t.Errorf("Read(%q) = %v", spec, o)
		}
	}
	for _, spec := range []string{"HEAD", "main", "refs/heads/main", "HEAD^{tree}", "HEAD:a", ":a", "HEAD:", head[:10]} {
		want := s.Git(dir, "rev-parse", spec)
		if got := gittest.Must[git.Object](t)(r.Read(ctx, spec)); string(got.OID) != want {
			t.Errorf("Read(%q) = %s", spec, got.OID)
		}
	}
	if _, err := r.Commit(ctx, "HEAD^{tree}"); err == nil {
		t.Error("a tree is no commit")
	}
	if _, err := r.Tree(ctx, git.OID(head)); err == nil {
		t.Error("a commit is no tree")
	}
	if n := r.Processes(); n != 1 {
		t.Errorf("%d processes", n)
	}
}

func TestReadAfterCloseAndAfterCancel(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := s.Open(s.Init("r"))
	gittest.Must[git.Object](t)(r.Read(t.Context(), "HEAD"))
	for range 2 {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	gittest.Must[git.Object](t)(r.Read(ended, "HEAD"))
	cancel()
	if _, err := r.Read(ended, "HEAD"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := r.Run(ended, "version"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// A canceled context doesn't end the process, even if a read with that context started it.
	gittest.Must[git.Object](t)(r.Read(t.Context(), "HEAD"))
	if n := r.Processes(); n > 3 {
		t.Errorf("%d processes", n)
	}
}

func TestReadWithinStopsAtTheLimit(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := s.Open(s.Init("r"))
	oid := gittest.Must[git.OID](t)(r.WriteBlob(bytes.Repeat([]byte("x"), 1<<20)))
	if o, err := r.ReadWithin(t.Context(), string(oid), 1<<20-1); !errors.Is(err, git.ErrTooMuch) || o.Data != nil {
		t.Errorf("got %d bytes, %v", len(o.Data), err)
	}
	if o := gittest.Must[git.Object](t)(r.ReadWithin(t.Context(), string(oid), 1<<20)); len(o.Data) != 1<<20 {
		t.Errorf("got %d bytes", len(o.Data))
	}
	if _, err := r.ReadWithin(t.Context(), "HEAD:none", 0); !errors.Is(err, git.ErrMissing) {
		t.Errorf("got %v", err)
	}
}

// TestConcurrentReads runs reads concurrently with reads that are canceled.
func TestConcurrentReads(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := s.Open(s.Init("r"))
	blobs := map[git.OID]string{}
	for i := range 8 {
		text := strings.Repeat(fmt.Sprintf("%d\n", i), 100_000)
		blobs[gittest.Must[git.OID](t)(r.WriteBlob([]byte(text)))] = text
	}
	var wg sync.WaitGroup
	for oid, text := range blobs {
		wg.Go(func() {
			for range 20 {
				got, err := r.Read(t.Context(), string(oid))
				if err != nil || string(got.Data) != text {
					t.Errorf("%s: %v", oid, err)
				}
			}
		})
		wg.Go(func() {
			for i := range 5 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
				got, err := r.Read(ctx, string(oid))
				cancel()
				if err == nil && string(got.Data) != text || err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%s: %v", oid, err)
				}
			}
		})
	}
	wg.Wait()
}

func TestExitErrorHasStderr(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := s.Open(s.Init("r"))
	_, err := r.Run(t.Context(), "-c", "a.b=c", "rev-parse", "--verify", "secret-name")
	exit, ok := errors.AsType[*git.ExitError](err)
	if !ok || exit.Code != 128 || !strings.HasPrefix(exit.Stderr, "fatal: ") {
		t.Fatalf("got %#v", err)
	}
	if got := err.Error(); got != "git rev-parse: exit status 128: fatal: Needed a single revision" {
		t.Errorf("got %q", got)
	}
}

func TestBranchNameStartsNoGit(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := gittest.Must[*git.Repo](t)(git.Discover(git.Locate{Dir: s.Init("r"), Environ: []string{"PATH=/nonexistent"}}))
	if got := gittest.Must[string](t)(git.HeadBranch(t.Context(), r)); got != "main" {
		t.Errorf("branch %q", got)
	}
}
