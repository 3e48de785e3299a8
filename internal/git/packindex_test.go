package git_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// TestIndex compares an index with git's listing of it, with 32-bit offsets, and with 64-bit ones
// from byte 64 of the pack on.
func TestIndex(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2", "2,0x40"} {
		gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
			var paths strings.Builder
			for i := range 300 {
				s.Write(dir, fmt.Sprintf("blob%d", i), fmt.Sprintf("blob %d", i))
				fmt.Fprintf(&paths, "blob%d\n", i)
			}
			list := gittest.Must[string](t)(s.Try(dir, paths.String(), "hash-object", "-w", "--stdin-paths"))
			base := filepath.Join(dir, "all")
			packed := base + "-" + strings.TrimSpace(gittest.Must[string](t)(s.Try(dir, list, "pack-objects", "-q", base)))
			path := packed + ".other"
			s.Git(dir, "index-pack", "--index-version="+version, "-o", path, packed+".pack")
			width := len(strings.Fields(list)[0]) / 2
			x := gittest.Must[*git.PackIndex](t)(git.OpenPackIndex(path, width))
			index := gittest.Must[[]byte](t)(os.ReadFile(path))
			shown := strings.Split(strings.TrimSpace(gittest.Must[string](t)(s.Try(dir, string(index), "show-index"))), "\n")
			if int(x.Len()) != len(shown) || len(shown) != 300 {
				t.Fatalf("%d objects, git has %d", x.Len(), len(shown))
			}
			for i, line := range shown {
				fields := strings.Fields(line)
				name := gittest.Must[[]byte](t)(hex.DecodeString(fields[1]))
				n, found, err := x.Find(name)
				if err != nil || !found || int(n) != i {
					t.Fatalf("%s is %d, %v, %v; want %d", fields[1], n, found, err, i)
				}
				if offset, err := x.Offset(n); err != nil || strconv.FormatInt(offset, 10) != fields[0] {
					t.Errorf("%s is at %d, %v; want %s", fields[1], offset, err, fields[0])
				}
				name[width-1] ^= 1
				if _, found, err := x.Find(name); found || err != nil {
					t.Errorf("%x: %v, %v", name, found, err)
				}
			}
			if _, _, err := x.Find([]byte("short")); err == nil {
				t.Error("a short name was searched for")
			}
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOpenRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	base := filepath.Join(dir, "one")
	packed := base + "-" + strings.TrimSpace(gittest.Must[string](t)(s.Try(dir, s.StoreBlob(dir, "a blob")+"\n", "pack-objects", "-q", base)))
	first := packed + ".first"
	s.Git(dir, "index-pack", "--index-version=1", "-o", first, packed+".pack")
	short := filepath.Join(dir, "short.idx")
	if err := os.WriteFile(short, []byte("\xfftOc\x00\x00\x00\x02"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{first, short} {
		if _, err := git.OpenPackIndex(path, 20); !errors.Is(err, git.ErrPackIndexVersion) {
			t.Errorf("%s: error %v", filepath.Base(path), err)
		}
	}
	if _, err := git.OpenPackIndex(filepath.Join(dir, "none.idx"), 20); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: error %v", err)
	}
}
