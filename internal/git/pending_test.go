package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// loose returns the files of loose objects.
func loose(s *gittest.Sandbox, dir string) []string {
	s.T.Helper()
	return gittest.Must[[]string](s.T)(filepath.Glob(filepath.Join(dir, ".git", "objects", "??", "*")))
}

// TestObjectsAreTemporaryUntilSynced checks that objects are temporary files, which git's prune
// removes, until another process may read them. Reads return them from memory or name them first.
func TestObjectsAreTemporaryUntilSynced(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	r := s.Open(dir)
	before := len(loose(s, dir))
	blob := gittest.Must[git.OID](t)(r.WriteBlob([]byte("text")))
	tree := gittest.Must[git.OID](t)(git.WriteTree(r, []git.TreeEntry{{Name: "f", Mode: git.ModeFile, OID: blob}}))
	if n := len(loose(s, dir)) - before; n != 0 {
		t.Errorf("%d objects have names", n)
	}
	if !r.Loose.Keep(tree) || !r.Loose.Keep(blob) {
		t.Error("they aren't known")
	}
	if o := gittest.Must[git.Object](t)(r.Read(t.Context(), string(tree))); o.Type != "tree" || len(loose(s, dir)) != before {
		t.Errorf("read %s %s, %d have names", o.Type, o.OID, len(loose(s, dir))-before)
	}
	if o := gittest.Must[git.Object](t)(r.Read(t.Context(), string(tree)+":f")); string(o.Data) != "text" {
		t.Errorf("read %q", o.Data)
	}
	if n := len(loose(s, dir)) - before; n != 2 {
		t.Errorf("%d objects have names", n)
	}
	s.Git(dir, "fsck", "--strict", "--no-dangling")
}

// TestCloseRemovesPendingObjects checks that Close without SyncObjects, as in a hook that fails,
// leaves no temporary files.
func TestCloseRemovesPendingObjects(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	r := gittest.Must[*git.Repo](t)(git.Discover(git.Locate{Dir: dir, Environ: s.Env}))
	gittest.Must[git.OID](t)(r.WriteBlob([]byte("text")))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if rest := gittest.Must[[]string](t)(filepath.Glob(filepath.Join(dir, ".git", "objects", "tmp_*"))); len(rest) > 0 {
		t.Errorf("left %v", rest)
	}
}

// TestPendingObjectsAreBounded checks that many objects are named in batches, so that few of them
// are pending.
func TestPendingObjectsAreBounded(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	r := s.Open(dir)
	for i := range 600 {
		gittest.Must[git.OID](t)(r.WriteBlob([]byte{byte(i), byte(i >> 8)}))
	}
	if rest := gittest.Must[[]string](t)(filepath.Glob(filepath.Join(dir, ".git", "objects", "tmp_obj_*"))); len(rest) > 300 {
		t.Errorf("%d wait", len(rest))
	}
	if err := r.SyncObjects(); err != nil {
		t.Fatal(err)
	}
	if n := len(loose(s, dir)); n < 600 {
		t.Errorf("%d objects", n)
	}
}

// TestHashedFilesAreMovedToObjects checks that objects of hashed files, which git stores in a
// directory of its own below a path with any characters, are moved to the others.
func TestHashedFilesAreMovedToObjects(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("a:b \"c\" [d]*")
	r := s.Open(dir)
	s.Write(dir, "one", "1\n")
	s.Write(dir, "two", "2\n")
	oids := gittest.Must[map[string]git.OID](t)(git.HashFiles(t.Context(), r, git.HashAndStore, []string{"one", "two"}))
	if err := r.SyncObjects(); err != nil {
		t.Fatal(err)
	}
	for path, oid := range oids {
		if _, err := os.Stat(filepath.Join(dir, ".git", "objects", string(oid[:2]), string(oid[2:]))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if rest := gittest.Must[[]string](t)(filepath.Glob(filepath.Join(filepath.Dir(dir), "*", ".git", "objects", "tmp_*"))); len(rest) > 0 || len(oids) != 2 {
		t.Errorf("left %v, stored %v", rest, oids)
	}
}

// TestWriteTogether checks that objects written together, including commits, are readable before
// they have names, and have names once they are synced.
func TestWriteTogether(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	r := s.Open(dir)
	before := len(loose(s, dir))
	var tip git.OID
	err := r.WriteTogether(git.LargeBatch, func() error {
		for _, text := range []string{"", "one", "two"} {
			blob := gittest.Must[git.OID](t)(r.WriteBlob([]byte(text)))
			if o := gittest.Must[git.Object](t)(r.Read(t.Context(), string(blob))); string(o.Data) != text {
				t.Errorf("read %q, want %q", o.Data, text)
			}
			tree := gittest.Must[git.OID](t)(git.WriteTree(r, []git.TreeEntry{{Name: "f", Mode: git.ModeFile, OID: blob}}))
			c := git.Commit{Tree: tree, Message: "message\n"}
			if tip != "" {
				c.Parents = []git.OID{tip}
			}
			tip = gittest.Must[git.OID](t)(r.WriteCommit(c))
			if back := gittest.Must[git.Commit](t)(r.Commit(t.Context(), string(tip))); back.Tree != tree {
				t.Errorf("the commit has tree %s, want %s", back.Tree, tree)
			}
			if n := len(loose(s, dir)) - before; n != 0 {
				t.Errorf("%d objects have names", n)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.SyncObjects(); err != nil {
		t.Error(err)
	}
	if n := len(loose(s, dir)) - before; n != 9 {
		t.Errorf("%d objects have names", n)
	}
	s.Git(dir, "update-ref", "refs/heads/bulk", string(tip))
	s.Git(dir, "fsck", "--strict", "--no-dangling")
}

// TestManyObjectsArePacked checks that many objects that are written together become a pack, which
// git reads, that they can be read before, and that writing them again adds nothing to a running batch.
func TestManyObjectsArePacked(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		t.Helper()
		r := s.Open(dir)
		const blobs = 300
		before := len(loose(s, dir))
		var tip git.OID
		err := r.WriteTogether(git.LargeBatch, func() error {
			var entries []git.TreeEntry
			for range 2 {
				entries = nil
				var group sync.WaitGroup
				oids := make([]git.OID, blobs)
				for i := range blobs {
					group.Go(func() { oids[i], _ = r.WriteBlob([]byte(strings.Repeat("x", i))) })
				}
				group.Wait()
				for i, oid := range oids {
					entries = append(entries, git.TreeEntry{Name: fmt.Sprintf("%03d", i), Mode: git.ModeFile, OID: oid})
				}
			}
			if o := gittest.Must[git.Object](t)(r.Read(t.Context(), string(entries[7].OID))); string(o.Data) != "xxxxxxx" {
				t.Errorf("read %q before it has a name", o.Data)
			}
			tree := gittest.Must[git.OID](t)(git.WriteTree(r, entries))
			tip = gittest.Must[git.OID](t)(r.WriteCommit(git.Commit{Tree: tree, Message: "many\n"}))
			return r.SyncObjects()
		})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(loose(s, dir)) - before; n != 0 {
			t.Errorf("%d loose objects", n)
		}
		if packs := gittest.Must[[]string](t)(filepath.Glob(filepath.Join(dir, ".git", "objects", "pack", "*"))); len(packs) != 2 {
			t.Errorf("packs are %v", packs)
		}
		if back := gittest.Must[git.Commit](t)(r.Commit(t.Context(), string(tip))); back.Message != "many\n" {
			t.Errorf("the commit is %v", back)
		}
		s.Git(dir, "update-ref", "refs/heads/many", string(tip))
		s.Git(dir, "fsck", "--strict", "--no-dangling")
		if n := strings.Count(s.Git(dir, "ls-tree", "many"), "\n") + 1; n != blobs {
			t.Errorf("%d files", n)
		}
	})
}
