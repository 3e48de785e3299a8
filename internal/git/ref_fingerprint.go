package git

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// RefsFingerprint returns a string that changes whenever a branch, a remote-tracking branch, a
// notes ref or HEAD of this worktree changes. It starts no git process: it reads the loose refs,
// and the metadata of the files of packed ones.
func RefsFingerprint(r *Repo) string {
	sum := sha256.New()
	add := func(path string) {
		if data, err := disk.ReadFile(path); err == nil {
			fmt.Fprintf(sum, "%s %d\n%s\n", path, len(data), data)
		}
	}
	add(filepath.Join(r.GitDir, "HEAD"))
	add(filepath.Join(r.CommonDir, "reftable", "tables.list"))
	if info, err := os.Lstat(filepath.Join(r.CommonDir, "packed-refs")); err == nil {
		fmt.Fprintf(sum, "%d %d %s\n", info.Size(), info.ModTime().UnixNano(), disk.Inode(info))
	}
	for _, dir := range []string{"refs/heads", "refs/remotes", "refs/notes"} {
		_ = filepath.WalkDir(filepath.Join(r.CommonDir, filepath.FromSlash(dir)), func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				add(path)
			}
			return nil // unreadable files are skipped
		})
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}
