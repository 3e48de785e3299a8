package rewind

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitwork"
	"github.com/seed-3aff656d/entire/strategy/rewindstate"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// codePresent is what is at a path now. Blocked is one that can't be restored.
type codePresent struct {
	file    rewindstate.CodeFile
	stat    dirfd.Stat
	blocked bool
}

// presentCode reads what is at the paths.
func (cf *codeFiles) presentCode(ctx context.Context, paths []string) (map[string]codePresent, error) {
	present := make(map[string]codePresent, len(paths))
	for _, name := range paths {
		info, err := os.Lstat(filepath.Join(cf.Repo.Root, filepath.FromSlash(name)))
		now := codePresent{stat: cf.statBelow(name), blocked: cf.throughLink(name)}
		switch {
		case errors.Is(err, fs.ErrNotExist) || workspace.IsNotDir(err) || now.blocked:
		case err != nil:
			return nil, err
		case info.Mode().IsRegular():
			now.file.Mode = workspace.GitMode(info)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(filepath.Join(cf.Repo.Root, filepath.FromSlash(name)))
			if err != nil {
				return nil, err
			}
			now.file = rewindstate.CodeFile{Mode: git.ModeLink, OID: cf.Repo.Format.HashBlob([]byte(target))}
		default:
			now.blocked = true
		}
		present[name] = now
	}
	oids, err := gitwork.HashFiles(ctx, cf.Repo, gitwork.HashOnly, cf.regular(paths))
	if err != nil {
		return nil, err
	}
	for name, now := range present {
		if now.file.Mode == 0 || now.file.OID != "" {
			continue
		}
		now.file.OID = oids[name]
		now.blocked = now.file.OID == ""
		present[name] = now
	}
	return present, nil
}

// regular are those of the paths that are regular files.
func (cf *codeFiles) regular(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		info, err := os.Lstat(filepath.Join(cf.Repo.Root, filepath.FromSlash(p)))
		return err != nil || !info.Mode().IsRegular()
	})
}

// throughLink reports whether a directory of the path is a symlink.
func (cf *codeFiles) throughLink(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		info, err := os.Lstat(filepath.Join(cf.Repo.Root, filepath.FromSlash(dir)))
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// statBelow is what is at a path of the worktree, zero if nothing is or a link
// leads there.
func (cf *codeFiles) statBelow(name string) (st dirfd.Stat) {
	dir, err := cf.parentOf(name, false)
	if err != nil {
		return dirfd.Stat{}
	}
	defer func() { _ = dir.Close() }()
	if dir.Stat(path.Base(name), &st) != nil {
		return dirfd.Stat{}
	}
	st.Blocks = 0 // they may be allocated later
	return st
}
