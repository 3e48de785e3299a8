package rewind

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands/apply"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
	"github.com/seed-3aff656d/entire/internal/git/gitwork"
	"github.com/seed-3aff656d/entire/internal/swap"
	"github.com/seed-3aff656d/entire/strategy/rewindstate"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// stagePath is where git writes the contents of a code-only rewind.
func (cf *codeFiles) stagePath() string { return filepath.Join(cf.Repo.GitDir, "entire-checkout") }

// stageCode writes the contents of steps beside the tree, by git. It comes before the
// journal: what git no longer has keeps a rewind from starting.
func (cf *codeFiles) stageCode(ctx context.Context, steps []CodeStep) error {
	var write []gittree.Edit
	for _, s := range steps {
		if s.after.Mode != 0 {
			write = append(write, gittree.Edit{Path: s.Path, Mode: s.after.Mode, OID: s.after.OID})
		}
	}
	if len(write) == 0 {
		return nil
	}
	if err := gitwork.CheckoutInto(ctx, cf.Repo, filepath.Join(cf.stagePath(), "files"), write); err != nil {
		return fmt.Errorf("nothing changed: %w", err)
	}
	return nil
}

// applyCode carries out steps that are staged: each file takes its place if that
// still holds what the rescue has. Paths that can't be restored don't keep it from
// the others. What it changed is on the disk when it returns.
func (cf *codeFiles) applyCode(ctx context.Context, steps []CodeStep) (failed []apply.Failure, err error) {
	// A file may make way for a folder, so what goes comes first.
	ordered := slices.Clone(steps)
	slices.SortStableFunc(ordered, func(a, b CodeStep) int { return int(min(a.after.Mode, 1)) - int(min(b.after.Mode, 1)) })
	var dirs []string
	for _, s := range ordered {
		if err := ctx.Err(); err != nil {
			return failed, err
		}
		if s.after.Mode == 0 {
			err = cf.removePlanned(s)
		} else {
			err = cf.placePlanned(s, filepath.Join(cf.stagePath(), "files", filepath.FromSlash(s.Path)))
		}
		if err != nil {
			failed = append(failed, apply.Failure{Path: s.Path, Err: err})
		}
		for dir := path.Dir(s.Path); ; dir = path.Dir(dir) {
			if full := filepath.Join(cf.Repo.Root, filepath.FromSlash(dir)); !slices.Contains(dirs, full) {
				dirs = append(dirs, full)
			}
			if dir == "." {
				break
			}
		}
	}
	for _, dir := range dirs {
		if err := disk.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) && !workspace.IsNotDir(err) {
			return failed, err
		}
	}
	return failed, nil
}

// parentOf opens the directory of a path of the worktree and follows no link. With
// create it makes what is missing of it. The caller closes it.
func (cf *codeFiles) parentOf(name string, create bool) (*dirfd.Dir, error) {
	dir, err := dirfd.OpenRoot(cf.Repo.Root)
	if err != nil || path.Dir(name) == "." {
		return dir, err
	}
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		next, err := dir.Open(part)
		if create && errors.Is(err, fs.ErrNotExist) {
			if err = dir.Mkdir(part, 0o777); err == nil || errors.Is(err, fs.ErrExist) {
				next, err = dir.Open(part)
			}
		}
		_ = dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// codeTemp is the name that a file has beside its path while it is written, or
// until what it replaced has been checked. Attributes of git that go by the
// extension hold for it, too.
func codeTemp(name string) string {
	const longest = 32
	sum := sha256.Sum256([]byte(name))
	ext := path.Ext(name)
	if len(ext) > longest {
		ext = ""
	}
	return ".entire-tmp-" + hex.EncodeToString(sum[:6]) + ext
}

// placePlanned puts the staged file into the place of what the rescue holds. What
// another program saves in between is put back.
func (cf *codeFiles) placePlanned(s CodeStep, staged string) error {
	dir, err := cf.parentOf(s.Path, true)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	name, temp := path.Base(s.Path), codeTemp(s.Path)
	if now := statIn(dir, name); now != s.was {
		return swap.ErrChanged
	}
	if err := copyInto(dir, temp, staged); err != nil {
		return err
	}
	beforeCodeReplace(s.Path)
	if s.before.Mode == 0 {
		err = dir.Link(temp, dir, name) // fails if there is something now
		switch {
		case err == nil, errors.Is(err, fs.ErrExist):
		case statIn(dir, name) == (dirfd.Stat{}): // no hard links here
			return dir.Rename(temp, name)
		}
		if errors.Is(err, fs.ErrExist) {
			err = swap.ErrChanged
		}
		return errors.Join(err, dir.Unlink(temp))
	}
	return swap.Replace(dir, temp, name, &s.was)
}

// beforeCodeReplace is called between the check of a file and its replacement; for
// tests.
var beforeCodeReplace = func(string) {} //nolint:gochecknoglobals // tests set it

// statIn is what is at a name, zero if nothing is.
func statIn(dir *dirfd.Dir, name string) (st dirfd.Stat) {
	if dir.Stat(name, &st) != nil {
		return dirfd.Stat{}
	}
	st.Blocks = 0
	return st
}

// copyInto makes the entry name a copy of a staged file or link. A file's content is
// on the disk then.
func copyInto(dir *dirfd.Dir, name, staged string) (err error) {
	info, err := os.Lstat(staged)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(staged)
		if err != nil {
			return err
		}
		return dir.Symlink(target, name)
	}
	from, err := os.Open(staged)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := dir.Create(name, uint32(info.Mode().Perm()))
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Sync(), to.Close()); err != nil {
		return errors.Join(err, dir.Unlink(name))
	}
	return nil
}

// removePlanned removes a file that is still what the rescue holds.
func (cf *codeFiles) removePlanned(s CodeStep) error {
	dir, err := cf.parentOf(s.Path, false)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	name, temp := path.Base(s.Path), codeTemp(s.Path)
	if statIn(dir, name) != s.was {
		return swap.ErrChanged
	}
	beforeCodeReplace(s.Path)
	return swap.Remove(dir, temp, name, &s.was)
}

// recoverCode removes the temporary files that an interrupted rewind left. Where one
// is what another program saved just before it was replaced, it gets its place again.
func (cf *codeFiles) recoverCode(ctx context.Context, h *rewindstate.CodeHistory) error {
	if h.Begun == nil {
		return nil
	}
	paths := pathsOfChanges(h.Begun.Turn.Changes)
	for _, name := range slices.Clone(paths) {
		paths = append(paths, path.Join(path.Dir(name), codeTemp(name)))
	}
	present, err := cf.presentCode(ctx, paths)
	if err != nil {
		return err
	}
	turn := h.Begun.Turn
	if h.Begun.Back {
		turn = turn.Reversed()
	}
	for _, c := range turn.Changes {
		name := string(c.Path)
		now, temp := present[name], present[path.Join(path.Dir(name), codeTemp(name))]
		if temp.stat == (dirfd.Stat{}) {
			continue
		}
		if err := cf.recoverTemp(c, now, temp); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (cf *codeFiles) recoverTemp(c rewindstate.CodeChange, now, temp codePresent) error {
	dir, err := cf.parentOf(string(c.Path), false)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	name, tempName := path.Base(string(c.Path)), codeTemp(string(c.Path))
	known := temp.file.OID == c.Before.OID || temp.file.OID == c.After.OID
	gone := now.file == rewindstate.CodeFile{}
	switch {
	case known:
	case gone && (c.After == rewindstate.CodeFile{}) && c.Before.Mode != 0 && temp.file.Mode != 0:
		return swap.PutBack(dir, tempName, name)
	case !gone && c.Before.Mode != 0 && now.file == c.After:
		if err := dir.Exchange(tempName, name); err != nil {
			return err
		}
	}
	return dir.Unlink(tempName)
}
