package git

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// maxPackedRefs is the maximum size of packed-refs that is read here.
const maxPackedRefs = 1 << 20

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
			data, err := f.packedRefs()
			if err != nil {
				return "", err
			}
			line := bytes.Index(data, []byte(" "+name+"\n"))
			if line < 0 {
				return "", ErrMissing
			}
			oid := OID(data[max(line-f.format.HexLen(), 0):line])
			if !f.format.Valid(oid) {
				return "", errAskGit
			}
			return oid, nil
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

// packedRefs returns the content of packed-refs, empty if there is none.
func (f refFiles) packedRefs() ([]byte, error) {
	path := filepath.Join(f.commonDir, "packed-refs")
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil || info.Size() > maxPackedRefs:
		return nil, errAskGit
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, errAskGit
	}
	return data, nil
}

// haveReplacements reports whether objects of the repository may be replaced by
// others (git-replace).
func (f refFiles) haveReplacements() bool {
	if _, err := os.Lstat(filepath.Join(f.commonDir, "refs", "replace")); !errors.Is(err, fs.ErrNotExist) {
		return true
	}
	data, err := f.packedRefs()
	return err != nil || bytes.Contains(data, []byte(" refs/replace/"))
}

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
