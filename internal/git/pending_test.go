package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
)

// loose are the files below objects/ that aren't in a pack.
func (s *sandbox) loose(dir string) []string {
	s.t.Helper()
	return must[[]string](s.t)(filepath.Glob(filepath.Join(dir, ".git", "objects", "??", "*")))
}

// TestObjectsHaveNoNamesBeforeTheyAreSynced: until somebody else may read them
// they are temporary files, which git's prune removes, and are read from memory
// or get their names first.
func TestObjectsHaveNoNamesBeforeTheyAreSynced(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	r := s.open(dir)
	before := len(s.loose(dir))
	blob := must[git.OID](t)(r.WriteBlob([]byte("text")))
	tree := must[git.OID](t)(r.WriteTree([]git.TreeEntry{{Name: "f", Mode: git.ModeFile, OID: blob}}))
	if n := len(s.loose(dir)) - before; n != 0 {
		t.Errorf("%d objects have names", n)
	}
	if !r.Keep(tree) || !r.Keep(blob) {
		t.Error("they aren't known")
	}
	if o := must[git.Object](t)(r.Read(t.Context(), string(tree))); o.Type != "tree" || len(s.loose(dir)) != before {
		t.Errorf("read %s %s, %d have names", o.Type, o.OID, len(s.loose(dir))-before)
	}
	if o := must[git.Object](t)(r.Read(t.Context(), string(tree)+":f")); string(o.Data) != "text" {
		t.Errorf("read %q", o.Data)
	}
	if n := len(s.loose(dir)) - before; n != 2 {
		t.Errorf("%d objects have names", n)
	}
	s.git(dir, "fsck", "--strict", "--no-dangling")
}

// TestObjectsThatNobodyNeededLeaveNothing: a hook that fails leaves no temporary
// files.
func TestObjectsThatNobodyNeededLeaveNothing(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	r := must[*git.Repo](t)(git.Discover(git.Locate{Dir: dir, Environ: s.env}))
	must[git.OID](t)(r.WriteBlob([]byte("text")))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if rest := must[[]string](t)(filepath.Glob(filepath.Join(dir, ".git", "objects", "tmp_*"))); len(rest) > 0 {
		t.Errorf("left %v", rest)
	}
}

// TestManyObjectsAtOnce are named in between, so that no more than some wait.
func TestManyObjectsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	r := s.open(dir)
	for i := range 600 {
		must[git.OID](t)(r.WriteBlob([]byte{byte(i), byte(i >> 8)}))
	}
	if rest := must[[]string](t)(filepath.Glob(filepath.Join(dir, ".git", "objects", "tmp_obj_*"))); len(rest) > 300 {
		t.Errorf("%d wait", len(rest))
	}
	if err := r.SyncObjects(); err != nil {
		t.Fatal(err)
	}
	if n := len(s.loose(dir)); n < 600 {
		t.Errorf("%d objects", n)
	}
}

// TestHashedFilesAreStoredBesideTheOthers: git stores them in a directory of
// their own, below a path with any characters, and they are moved from there.
func TestHashedFilesAreStoredBesideTheOthers(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("a:b \"c\" [d]*")
	r := s.open(dir)
	s.write(dir, "one", "1\n")
	s.write(dir, "two", "2\n")
	oids := must[map[string]git.OID](t)(r.HashFiles(t.Context(), git.HashAndStore, []string{"one", "two"}))
	if err := r.SyncObjects(); err != nil {
		t.Fatal(err)
	}
	for path, oid := range oids {
		if _, err := os.Stat(filepath.Join(dir, ".git", "objects", string(oid[:2]), string(oid[2:]))); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if rest := must[[]string](t)(filepath.Glob(filepath.Join(filepath.Dir(dir), "*", ".git", "objects", "tmp_*"))); len(rest) > 0 || len(oids) != 2 {
		t.Errorf("left %v, stored %v", rest, oids)
	}
}
