package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// packedHistory fills a repository whose objects are in one pack. It returns the blobs of a file's
// history, most of them deltas, and an unreferenced blob.
func packedHistory(t *testing.T, s *gittest.Sandbox, dir string) (blobs []git.OID, unreferenced git.OID) {
	t.Helper()
	r := s.Open(dir)
	var text strings.Builder
	for i := range 20 {
		for j := range 30 {
			text.WriteString("line " + strconv.Itoa(100*i+j) + "\n")
		}
		s.Write(dir, strconv.Itoa(i), text.String())
		blobs = append(blobs, r.Format.HashBlob([]byte(text.String())))
	}
	s.Git(dir, "add", "-A")
	s.Git(dir, "commit", "-q", "-m", "all")
	unreferenced = git.OID(s.StoreBlob(dir, "nothing refers to it"))
	pack(t, s, dir, s.Git(dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
	return blobs, unreferenced
}

// pack packs the listed loose objects.
func pack(t *testing.T, s *gittest.Sandbox, dir, list string) {
	t.Helper()
	names := strings.Join(strings.Fields(list), "\n") + "\n"
	gittest.Must[string](t)(s.Try(dir, names, "pack-objects", "-q", filepath.Join(dir, ".git", "objects", "pack", "pack")))
	s.Git(dir, "prune-packed", "-q")
}

func yes() (bool, error) { return true, nil }

func packs(t *testing.T, dir string) []string {
	t.Helper()
	return gittest.Must[[]string](t)(filepath.Glob(filepath.Join(dir, ".git", "objects", "pack", "*.pack")))
}

// openAndDrop opens the packs and drops the objects.
func openAndDrop(t *testing.T, s *gittest.Sandbox, dir string, confirm func() (bool, error), oids ...git.OID) error {
	t.Helper()
	p := gittest.Must[*git.Packs](t)(git.OpenPacks(t.Context(), s.Open(dir)))
	err := p.Drop(t.Context(), oids, confirm)
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	return err
}

func has(s *gittest.Sandbox, dir string, oid git.OID) bool {
	_, err := s.Try(dir, "", "cat-file", "-e", string(oid))
	return err == nil
}

func TestDropKeepsTheOtherObjectsOfAPack(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		blobs, unreferenced := packedHistory(t, s, dir)
		// the largest is the base of the others' deltas
		if err := openAndDrop(t, s, dir, yes, blobs[len(blobs)-1]); err != nil {
			t.Fatal(err)
		}
		for _, oid := range append(blobs[:len(blobs)-1:len(blobs)-1], unreferenced) {
			if text := s.Git(dir, "cat-file", "blob", string(oid)); text == "" {
				t.Errorf("%s is gone", oid.Short())
			}
		}
		if has(s, dir, blobs[len(blobs)-1]) {
			t.Error("the blob is there")
		}
		if list := packs(t, dir); len(list) != 1 {
			t.Errorf("packs: %v", list)
		}
	})
}

func TestDropOfAllObjectsRemovesThePack(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("repo")
	one, two := s.StoreBlob(dir, "one"), s.StoreBlob(dir, "two")
	pack(t, s, dir, one)
	pack(t, s, dir, two)
	s.Git(dir, "multi-pack-index", "write")
	if err := openAndDrop(t, s, dir, yes, git.OID(one)); err != nil {
		t.Fatal(err)
	}
	if list := packs(t, dir); len(list) != 1 {
		t.Errorf("packs: %v", list)
	}
	if has(s, dir, git.OID(one)) || !has(s, dir, git.OID(two)) {
		t.Error("the wrong object is gone")
	}
	s.Git(dir, "fsck", "--strict")
}

func TestDropKeepsFixedPacks(t *testing.T) {
	t.Parallel()
	for _, ext := range []string{".keep", ".promisor"} {
		s := gittest.New(t)
		dir := s.Init("repo")
		_, unreferenced := packedHistory(t, s, dir)
		before := packs(t, dir)
		if err := os.WriteFile(strings.TrimSuffix(before[0], ".pack")+ext, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		p := gittest.Must[*git.Packs](t)(git.OpenPacks(t.Context(), s.Open(dir)))
		if why := gittest.Must[string](t)(p.Fixed(unreferenced)); why == "" {
			t.Errorf("%s: may be dropped", ext)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := openAndDrop(t, s, dir, yes, unreferenced); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(before, packs(t, dir)) || !has(s, dir, unreferenced) {
			t.Errorf("%s: the pack was replaced", ext)
		}
	}
}

// An object that is in use again when its pack is about to be removed stays in the pack.
func TestDropKeepsPackInUse(t *testing.T) {
	t.Parallel()
	for name, confirm := range map[string]func(s *gittest.Sandbox, dir string) (bool, error){
		"referred to": func(*gittest.Sandbox, string) (bool, error) { return false, nil },
		"written": func(s *gittest.Sandbox, dir string) (bool, error) {
			s.StoreBlob(dir, "nothing refers to it") // only updates the time of the pack
			return true, nil
		},
	} {
		s := gittest.New(t)
		dir := s.Init("repo")
		_, unreferenced := packedHistory(t, s, dir)
		before := packs(t, dir)
		if err := os.Chtimes(before[0], time.Unix(1e9, 0), time.Unix(1e9, 0)); err != nil {
			t.Fatal(err)
		}
		err := openAndDrop(t, s, dir, func() (bool, error) { return confirm(s, dir) }, unreferenced)
		if !errors.Is(err, git.ErrObjectsInUse) || !slices.Contains(packs(t, dir), before[0]) || !has(s, dir, unreferenced) {
			t.Errorf("%s: error %v, packs %v", name, err, packs(t, dir))
		}
	}
}

// If git meanwhile replaces the pack with one of the same contents as ours, and so of the same
// name, the objects stay in that pack.
func TestDropDuringRepack(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("repo")
	blobs, unreferenced := packedHistory(t, s, dir)
	before := packs(t, dir)
	err := openAndDrop(t, s, dir, func() (bool, error) {
		old := strings.TrimSuffix(before[0], ".pack")
		return true, errors.Join(os.Remove(old+".idx"), os.Remove(old+".pack"), os.Remove(old+".rev"))
	}, unreferenced)
	if !errors.Is(err, git.ErrObjectsInUse) {
		t.Errorf("error %v", err)
	}
	if !has(s, dir, blobs[0]) || has(s, dir, unreferenced) {
		t.Errorf("packs %v", packs(t, dir))
	}
	s.Git(dir, "fsck", "--strict")
}
