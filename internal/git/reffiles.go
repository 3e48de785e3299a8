package git

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// refFiles reads the files in which git keeps refs.
type refFiles struct {
	gitDir, commonDir string
	format            Format
	storage           string // "files" or "reftable"
}

// resolve reads the OID of HEAD, a branch, a remote-tracking ref or one of the program's refs. The
// error is ErrMissing if the ref, or a target of it, doesn't exist, and errAskGit if only git can
// resolve it.
func (f refFiles) resolve(name string) (OID, error) {
	if f.storage != "files" {
		return "", errAskGit
	}
	for range 5 { // the same limit as in git
		path := filepath.Join(f.commonDir, filepath.FromSlash(name))
		switch {
		case name == "HEAD":
			path = filepath.Join(f.gitDir, name)
		case !isSharedRef(name):
			return "", errAskGit
		}
		data, err := os.ReadFile(path) //nolint:gosec // HEAD, or below refs: isSharedRef
		if errors.Is(err, fs.ErrNotExist) && name != "HEAD" {
			// Git packs a ref before it removes the loose one.
			return f.packedRef(name)
		}
		if err != nil {
			return "", errAskGit
		}
		text := strings.TrimSuffix(string(data), "\n")
		if f.format.Valid(OID(text)) {
			return OID(text), nil
		}
		target, symbolic := strings.CutPrefix(text, "ref: ")
		if !symbolic {
			return "", errAskGit
		}
		name = target
	}
	return "", errAskGit
}

// isSharedRef reports whether name is a ref that all worktrees share, and that git does not parse
// as any other expression.
func isSharedRef(name string) bool {
	shared := []string{"refs/heads/", "refs/remotes/", "refs/entire/", "refs/notes/"}
	if !slices.ContainsFunc(shared, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' {
			return false
		}
	}
	return !strings.ContainsAny(name, " ~^:?*[\\@\n\x7f") && !strings.Contains(name, "..")
}

// haveReplacements reports whether objects of the repository may be replaced by
// others (git-replace).
func (f refFiles) haveReplacements() bool {
	if _, err := os.Lstat(filepath.Join(f.commonDir, "refs", "replace")); !errors.Is(err, fs.ErrNotExist) {
		return true
	}
	found := false
	err := f.packedBelow("refs/replace/", func(Ref) bool {
		found = true
		return false
	})
	return err != nil || found
}

// RefsFingerprint returns a string that changes whenever a branch, a remote-tracking branch, a
// notes ref, a ref of a checkpoint, the ref of imported ones or HEAD of this worktree changes. It starts
// no git process: it reads the loose refs, and the metadata of the files of packed ones and of the
// directories of checkpoints.
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
	add(filepath.Join(r.CommonDir, "refs", "entire", "imported"))
	addCheckpointRefs(r, sum)
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// settled is the age at which the time of a directory has changed with every later change of its
// entries: file systems count time in steps of some milliseconds.
const settled = time.Second

// addCheckpointRefs adds the times of the directories with the loose refs of checkpoints, which may be
// thousands: git changes a loose ref by renaming a file into its directory. A directory that changed
// just now is given another value each time.
func addCheckpointRefs(r *Repo, to io.Writer) {
	root := filepath.Join(r.CommonDir, "refs", "entire", "checkpoints")
	shards, err := os.ReadDir(root)
	if err != nil {
		return
	}
	now := time.Now() //nolint:forbidigo // the age of a file has no other clock
	for _, shard := range shards {
		info, err := shard.Info()
		if err != nil || !info.IsDir() {
			continue
		}
		fmt.Fprintf(to, "%s %d\n", shard.Name(), info.ModTime().UnixNano())
		if now.Sub(info.ModTime()) < settled {
			fmt.Fprintf(to, "%d\n", now.UnixNano())
		}
	}
}
