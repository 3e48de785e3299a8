package git_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// packed writes versions of a file, which become deltas, packs everything with the arguments args
// of git pack-objects, and returns the names of all objects.
func packed(t *testing.T, s *gittest.Sandbox, dir string, args ...string) []string {
	t.Helper()
	var lines []string
	for i := range 400 {
		lines = append(lines, fmt.Sprintf("line %d of a file that is changed in a few places\n", i*i))
	}
	for i := range 12 {
		lines[i*30] = fmt.Sprintf("changed in version %d\n", i)
		s.Write(dir, "src/file", strings.Join(lines, ""))
		s.Write(dir, fmt.Sprintf("src/other%d", i), fmt.Sprint("other ", i))
		s.Git(dir, "add", "-A")
		s.Git(dir, "commit", "-qm", fmt.Sprint("version ", i))
	}
	s.Git(dir, "tag", "-am", "tagged", "tag")
	names := strings.Fields(s.Git(dir, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
	args = append([]string{"pack-objects", "-q"}, args...)
	if _, err := s.Try(dir, strings.Join(names, "\n")+"\n", append(args, ".git/objects/pack/pack")...); err != nil {
		t.Fatal(err)
	}
	s.Git(dir, "prune-packed")
	return names
}

// TestPackedObjectsAreReadWithoutAProcess compares objects read from a pack with git's, for both
// kinds of deltas and of offsets.
func TestPackedObjectsAreReadWithoutAProcess(t *testing.T) {
	t.Parallel()
	for name, args := range testkit.ShortTable(map[string][]string{
		"offsets": {"--delta-base-offset"}, "names": nil, "no deltas": {"--depth=0"},
		"long offsets": {"--delta-base-offset", "--index-version=2,0x40"},
	}, 1) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
				names := packed(t, s, dir, args...)
				process := s.Open(dir)
				git.OnlyProcess(process)
				for len(names) > 0 {
					n := min(len(names), 20)
					files := s.Open(dir)
					for _, oid := range names[:n] {
						want := gittest.Must[git.Object](t)(process.Read(t.Context(), oid))
						got := gittest.Must[git.Object](t)(files.Read(t.Context(), oid))
						if diff := cmp.Diff(want, got); diff != "" {
							t.Fatalf("%s (-git +files):\n%s", oid, diff)
						}
						if files.Processes() > 0 || files.Loose.Has(git.OID(oid)) {
							t.Fatalf("%s %s: git was asked, or it is loose", got.Type, oid)
						}
					}
					names = names[n:]
				}
			})
		})
	}
}

// TestPacksLeftToGit reads objects through an index of version 1, many objects, and some of a pack
// written after the list of packs was read.
func TestPacksLeftToGit(t *testing.T) {
	testkit.Long(t, "many repositories")
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	names := packed(t, s, dir, "--index-version=1")
	old := s.Open(dir)
	gittest.Must[git.Object](t)(old.Read(t.Context(), names[0]))
	if old.Processes() != 1 {
		t.Errorf("index of version 1: %d processes", old.Processes())
	}
	s.Git(dir, "repack", "-adq")
	many := s.Open(dir)
	for range 3 {
		for _, oid := range names {
			gittest.Must[git.Object](t)(many.Read(t.Context(), oid))
		}
	}
	if many.Processes() != 1 {
		t.Errorf("many objects: %d processes", many.Processes())
	}
	later := s.Open(dir)
	gittest.Must[git.Object](t)(later.Read(t.Context(), names[0]))
	s.Write(dir, "later", "later")
	s.Git(dir, "add", "later")
	s.Git(dir, "commit", "-qm", "later")
	s.Git(dir, "repack", "-adq")
	gittest.Must[git.Object](t)(later.Read(t.Context(), s.Git(dir, "rev-parse", "HEAD:later")))
	gittest.Must[git.Object](t)(later.Read(t.Context(), names[1]))
}

// TestDamagedPacks changes and truncates packs and their indexes. An object that is read without
// git must still be the right one.
func TestDamagedPacks(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "a read for each damage")
	s := gittest.New(t)
	dir := s.Init("r")
	names := packed(t, s, dir, "--delta-base-offset")
	slices.Sort(names)
	names = names[:12]
	want := map[string]git.Object{}
	for _, oid := range names {
		want[oid] = gittest.Must[git.Object](t)(s.Open(dir).Read(t.Context(), oid))
	}
	files := gittest.Must[[]string](t)(filepath.Glob(filepath.Join(dir, ".git/objects/pack/pack-*.*")))
	asked, read := 0, 0
	for _, path := range files {
		whole := gittest.Must[[]byte](t)(os.ReadFile(path))
		try := func(data []byte) {
			if err := errors.Join(os.Remove(path), os.WriteFile(path, data, 0o600)); err != nil {
				t.Fatal(err)
			}
			r := s.Open(dir)
			defer func() { _ = r.Close() }()
			for _, oid := range names {
				o, err := r.ReadPacked(git.OID(oid))
				switch {
				case err != nil:
					asked++
				case !cmp.Equal(o, want[oid]):
					t.Errorf("%s: %s is another object", path, oid)
				default:
					read++
				}
			}
		}
		step := max(len(whole)/16, 1)
		for at := 0; at < len(whole); at += step {
			data := bytes.Clone(whole)
			data[at] ^= 0x55
			try(data)
			try(whole[:at])
		}
		try(whole)
	}
	if asked == 0 || read == 0 {
		t.Errorf("%d objects left to git, %d read", asked, read)
	}
}

func FuzzApplyDelta(f *testing.F) {
	f.Add([]byte("base of it"), []byte("\x0a\x05\x91\x02\x03\x02xy"))
	f.Add([]byte("base"), []byte("\x04\x04\x80"))
	f.Add([]byte{}, []byte("\x00\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		out, err := git.ApplyDelta(base, delta)
		if err == nil && len(out) > 4<<20 {
			t.Errorf("%d bytes", len(out))
		}
	})
}
