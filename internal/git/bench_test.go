package git_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// bigRepository returns a packed repository of 36,000 files in 1,200 directories.
func bigRepository(b *testing.B) (*gittest.Sandbox, string) {
	b.Helper()
	s := gittest.New(b)
	dir := s.Mkdir("big")
	s.Git(dir, "init", "-q", "-b", "main")
	var in strings.Builder
	in.WriteString("commit refs/heads/main\ncommitter a <a@b> 1700000000 +0000\ndata 3\nbig\n")
	for i := range 36_000 {
		content := fmt.Sprintf("file %d\n", i)
		fmt.Fprintf(&in, "M 100644 inline src/d%d/e%d/f%d\ndata %d\n%s\n", i/1200, i/30, i, len(content), content)
	}
	if _, err := s.Try(dir, in.String(), "fast-import", "--quiet"); err != nil {
		b.Fatal(err)
	}
	s.Git(dir, "reset", "-q", "--hard")
	return s, dir
}

func BenchmarkDiscover(b *testing.B) {
	s := gittest.New(b)
	dir := s.Init("r")
	deep := s.Mkdir("r", "a-directory", "below", "the", "root")
	s.Git(dir, "worktree", "add", "-q", s.Path("wt"))
	for i := range 100 {
		s.Git(dir, "config", fmt.Sprintf("branch.b%d.merge", i), "refs/heads/main")
	}
	for name, from := range map[string]string{"root": dir, "deep": deep, "worktree": s.Path("wt"), "none": s.Dir} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := git.Discover(git.Locate{Dir: from, Environ: s.Env}); (err != nil) != (name == "none") {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	s := gittest.New(b)
	r := s.Open(s.Init("r"))
	ctx := context.Background()
	for _, size := range []int{100, 256 << 10} {
		data := make([]byte, size)
		_, _ = rand.Read(data)
		oid := gittest.Must[git.OID](b)(r.WriteBlob(data))
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				gittest.Must[git.Object](b)(r.Read(ctx, string(oid)))
			}
		})
	}
}

func BenchmarkWriteBlob(b *testing.B) {
	s := gittest.New(b)
	r := s.Open(s.Init("r"))
	for _, size := range []int{2 << 10, 256 << 10} {
		line := strings.Repeat(`{"type":"user","text":"some words of a line"}`+"\n", size/46)
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			b.SetBytes(int64(size))
			for i := 0; b.Loop(); i++ {
				gittest.Must[git.OID](b)(r.WriteBlob(fmt.Appendf(nil, "%d %d\n%s", b.N, i, line)))
			}
		})
	}
}

// BenchmarkShadowCommit measures the git side of a stop: five files of a big tree, a commit and a
// ref, each time with a new Repo as in a hook.
func BenchmarkShadowCommit(b *testing.B) {
	s, dir := bigRepository(b)
	ctx := context.Background()
	paths := make([]string, 0, 5)
	for i := range 5 {
		name := fmt.Sprintf("src/d%d/e%d/f%d", i*5, i*200, i*6000)
		s.Write(dir, name, "changed")
		paths = append(paths, name)
	}
	old := git.OID("")
	for i := 0; b.Loop(); i++ {
		r := gittest.Must[*git.Repo](b)(git.Discover(git.Locate{Dir: filepath.Join(dir, "src"), Environ: s.Env}))
		head := gittest.Must[git.Commit](b)(r.Commit(ctx, "HEAD"))
		oids := gittest.Must[map[string]git.OID](b)(git.HashFiles(ctx, r, git.HashAndStore, paths))
		edits := make([]git.TreeEdit, 0, 1+len(oids))
		edits = append(edits, git.TreeEdit{Path: "meta", Mode: git.ModeFile, OID: gittest.Must[git.OID](b)(r.WriteBlob(fmt.Appendf(nil, "%d", i)))})
		for path, oid := range oids {
			edits = append(edits, git.TreeEdit{Path: path, Mode: git.ModeFile, OID: oid})
		}
		tree := gittest.Must[git.OID](b)(git.EditTree(ctx, r, head.Tree, edits))
		oid := gittest.Must[git.OID](b)(r.WriteCommit(git.Commit{Tree: tree, Parents: []git.OID{head.OID}, Message: strconv.Itoa(i)}))
		if err := git.UpdateRefs(ctx, r, "bench", []git.RefChange{{Name: "refs/heads/entire/x", New: oid, Old: old}}); err != nil {
			b.Fatal(err)
		}
		old = oid
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGitVersion(b *testing.B) {
	s := gittest.New(b)
	for b.Loop() {
		s.Git(s.Dir, "version")
	}
}
