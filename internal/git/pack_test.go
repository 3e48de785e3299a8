package git_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// TestWriteBlobPack checks that git reads a pack, and that its index is byte for byte the one that
// git writes for it.
func TestWriteBlobPack(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		r := s.Open(dir)
		blobs := []string{"", "x", strings.Repeat("0123456789abcde\n", 100_000), "x"}
		for i := range 600 {
			blobs = append(blobs, strings.Repeat("y", i))
		}
		oids := map[git.OID]string{}
		err := r.WriteBlobPack(func(add func([]byte) (git.OID, error)) error {
			for _, text := range blobs {
				oids[gittest.Must[git.OID](t)(add([]byte(text)))] = text
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.SyncObjects(); err != nil {
			t.Fatal(err)
		}
		for oid, text := range oids {
			if o := gittest.Must[git.Object](t)(r.Read(t.Context(), string(oid))); o.Type != "blob" || string(o.Data) != text {
				t.Errorf("%s is a %s of %d bytes, want %d", oid, o.Type, len(o.Data), len(text))
			}
		}
		files := gittest.Must[[]string](t)(filepath.Glob(filepath.Join(dir, ".git/objects/pack/*")))
		if len(files) != 2 {
			t.Fatalf("files %q", files)
		}
		index, pack := files[0], files[1]
		s.Git(dir, "index-pack", "--strict", "-o", s.Path("own.idx"), pack)
		if got, want := gittest.Must[[]byte](t)(os.ReadFile(index)), gittest.Must[[]byte](t)(os.ReadFile(s.Path("own.idx"))); !bytes.Equal(got, want) {
			t.Errorf("the index has %d bytes, git's %d", len(got), len(want))
		}
		if name := strings.TrimSuffix(filepath.Base(pack), ".pack"); strings.TrimSuffix(filepath.Base(index), ".idx") != name {
			t.Errorf("%s beside %s", pack, index)
		}
		s.Git(dir, "fsck", "--strict", "--no-dangling")
	})
}

func TestWriteBlobPackWithoutBlobs(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	if err := s.Open(dir).WriteBlobPack(func(func([]byte) (git.OID, error)) error { return nil }); err != nil {
		t.Fatal(err)
	}
	err := s.Open(dir).WriteBlobPack(func(add func([]byte) (git.OID, error)) error {
		gittest.Must[git.OID](t)(add([]byte("x")))
		return os.ErrInvalid
	})
	if err == nil {
		t.Error("the error is lost")
	}
	if files := gittest.Must[[]string](t)(filepath.Glob(filepath.Join(dir, ".git/objects/pack/*"))); len(files) > 0 {
		t.Errorf("files %q", files)
	}
}
