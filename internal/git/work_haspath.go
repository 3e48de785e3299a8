package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// HasPath reports whether git controls the file name, a slash path below the worktree root: whether
// the index or HEAD of the worktree has it, or has a link in place of it or of one of its
// directories, in any case of letters. root is Root or MainRoot.
//
// It reads the beginning of the index and the objects of HEAD from their files. It starts git only
// for packed objects that were not examined before, and for an index that indexHas can't read.
func HasPath(ctx context.Context, r *Repo, root, name string) (bool, error) {
	dir := r.CommonDir
	if root == r.Root {
		dir = r.GitDir
	}
	found, err := indexHas(r, dir, name)
	if errors.Is(err, errIndexUnread) {
		out, failed := r.Run(ctx, "-C", root, "ls-files", "-z")
		if failed != nil {
			return false, failed
		}
		listed := strings.Split(string(out), "\x00")
		found, err = slices.ContainsFunc(listed, func(path string) bool { return coversPath(path, name) }), nil
	}
	if found || err != nil {
		return found, err
	}
	spec, err := headSpec(r, dir)
	if err != nil {
		return false, err
	}
	if oid, err := r.ResolveRef(spec); err == nil {
		spec = string(oid)
	}
	if isWithout(r, spec, name) {
		return false, nil
	}
	before := r.Processes()
	head, err := r.Commit(ctx, spec)
	if errors.Is(err, ErrMissing) {
		return false, nil // no commit yet
	}
	if err != nil {
		return false, err
	}
	read, found, err := treeHas(ctx, r, head.Tree, name)
	if err != nil || found {
		return found, err
	}
	if r.Processes() > before {
		noteWithout(r, append(read, withoutLine(string(head.OID), name)))
	}
	return false, nil
}

// coversPath reports whether a path is name or one of its parent directories, in any case of
// letters.
func coversPath(path, name string) bool {
	for !strings.EqualFold(path, name) {
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			return false
		}
		name = name[:i]
	}
	return true
}

// HasContent reports whether the repository has a blob of the content, or of the content with the
// line ends that git stores. If so, git may have written a file that it no longer tracks, as after
// a reset or the removal of an index entry. It starts git once for contents that are not stored.
func HasContent(ctx context.Context, r *Repo, data []byte) (bool, error) {
	const kind = "blob"
	var unknown []OID
	var lines []string
	for _, content := range [][]byte{data, bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))} {
		oid := r.Format.HashBlob(content)
		if r.Loose.Has(oid) {
			return true, nil
		}
		if !isWithout(r, string(oid), kind) && !slices.Contains(unknown, oid) {
			unknown, lines = append(unknown, oid), append(lines, withoutLine(string(oid), kind))
		}
	}
	absent, err := MissingObjects(ctx, r, unknown)
	if err != nil || len(absent) < len(unknown) {
		return true, err
	}
	if len(lines) > 0 {
		noteWithout(r, lines)
	}
	return false, nil
}

// headSpec returns the branch or commit that HEAD of a git directory points at.
func headSpec(r *Repo, gitDir string) (string, error) {
	if gitDir == r.GitDir {
		return "HEAD", nil
	}
	if r.RefStorage != "files" {
		return "main-worktree/HEAD", nil
	}
	data, err := os.ReadFile(filepath.Join(gitDir, "HEAD"))
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(string(data))
	if target, symbolic := strings.CutPrefix(text, "ref:"); symbolic {
		return strings.TrimSpace(target), nil
	}
	return text, nil
}

// treeHas searches a tree for a file, in every directory whose name matches. It returns the lines
// for withoutFile about the trees that it read.
func treeHas(ctx context.Context, r *Repo, tree OID, name string) (read []string, found bool, err error) {
	if isWithout(r, string(tree), name) {
		return nil, false, nil
	}
	entries, err := r.Tree(ctx, tree)
	if err != nil {
		return nil, false, err
	}
	read = append(read, withoutLine(string(tree), name))
	first, rest, folder := strings.Cut(name, "/")
	for _, e := range entries {
		if !strings.EqualFold(e.Name, first) {
			continue
		}
		if !folder || e.Mode != ModeTree {
			return read, true, nil
		}
		below, found, err := treeHas(ctx, r, e.OID, rest)
		if read = append(read, below...); found || err != nil {
			return read, found, err
		}
	}
	return read, false, nil
}

// maxWithout is the maximum number of lines in withoutFile.
const maxWithout = 64

// withoutFile lists packed commits and trees with a file that they are known not to have, and blobs
// known to be absent, so that hooks need not start git to look again.
func withoutFile(r *Repo) string { return filepath.Join(r.CommonDir, "entire", "without") }

// withoutLine returns a line of withoutFile.
func withoutLine(oid, name string) string { return oid + " " + name }

func isWithout(r *Repo, oid, name string) bool {
	data, err := os.ReadFile(withoutFile(r))
	return err == nil && slices.Contains(strings.Split(string(data), "\n"), withoutLine(oid, name))
}

// noteWithout adds lines to withoutFile. If that fails, git is asked again next time.
func noteWithout(r *Repo, lines []string) {
	data, err := os.ReadFile(withoutFile(r))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	all := slices.Concat(strings.FieldsFunc(string(data), func(c rune) bool { return c == '\n' }), lines)
	all = all[max(0, len(all)-maxWithout):]
	if disk.MkdirAll(filepath.Dir(withoutFile(r)), 0o750) == nil {
		_ = disk.WriteCache(withoutFile(r), []byte(strings.Join(all, "\n")+"\n"), 0o600)
	}
}
