package git

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxPackedRefs is the size up to which packed-refs is read here.
const maxPackedRefs = 1 << 20

// refFiles are the files in which git keeps refs. They are only read.
type refFiles struct {
	gitDir, commonDir string
	format            Format
	storage           string // "files" or "reftable"
}

// resolve reads what HEAD, a branch, a ref of a remote, or one of ours points at. The error is
// ErrMissing if it points at nothing, and errAskGit for what only git can resolve.
func (f refFiles) resolve(name string) (OID, error) {
	if f.storage != "files" {
		return "", errAskGit
	}
	for range 5 { // as many as git follows
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

// isSharedRef reports whether name is that of a ref which all worktrees share, and
// which git takes for no other expression.
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

// packedRefs is the file of that name, empty if there is none.
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
