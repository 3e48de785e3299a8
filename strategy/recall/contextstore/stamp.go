package contextstore

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

// stamp changes whenever a ref of a saved context changes, and is computed without reading
// refs. It has the stat data of their directory, into which git renames a file with each
// change, the names in that directory, and the stat data of packed-refs. Only a second
// change of one ref within a tick of the file system's clock leaves the stamp unchanged,
// and the process that makes this change writes the row itself.
type stamp struct {
	folder, packed string
	names          uint64 // the sum of the hashes of the ids
	has            map[string]bool
}

func (s stamp) String() string { return fmt.Sprintf("%s %s %x", s.folder, s.packed, s.names) }

// stampOf returns the stamp of the refs of a repository.
func stampOf(repo *git.Repo) stamp {
	if repo.RefStorage != "files" {
		return stamp{packed: statOf(repo, "reftable", "tables.list")}
	}
	folder := filepath.FromSlash(strings.TrimSuffix(Refs, "/"))
	at := stamp{folder: statOf(repo, folder), packed: statOf(repo, "packed-refs"), has: map[string]bool{}}
	dir, err := os.Open(filepath.Join(repo.CommonDir, folder))
	if err != nil {
		return at
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if IsID(name) {
			at.has[name] = true
			at.names += hashName(name)
		}
	}
	return at
}

func hashName(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return h.Sum64()
}

// statOf returns the modification time, size and inode of a file of the repository.
func statOf(repo *git.Repo, path ...string) string {
	info, err := os.Lstat(filepath.Join(append([]string{repo.CommonDir}, path...)...))
	if err != nil {
		return "-"
	}
	return fmt.Sprintf("%d.%d%s", info.ModTime().UnixNano(), info.Size(), disk.Inode(info))
}
