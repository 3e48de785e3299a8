package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Change is one path that differs between two trees, or a tree and the index. Status is git's
// letter: A, D, M, T, or U for an unmerged path. A side without the path has mode 0 and no OID.
type Change struct {
	Path             string
	Status           byte
	OldMode, NewMode Mode
	Old, New         OID
}

// Staged returns the differences between the tree or commit base ("": the empty tree) and the
// index. It omits files that are only marked with git add -N. In a git hook it reads the index that
// git named in GIT_INDEX_FILE: the index of the commit in progress.
func Staged(ctx context.Context, r *Repo, base OID) ([]Change, error) {
	tree, err := treeish(r, base)
	if err != nil {
		return nil, err
	}
	out, err := r.Do(ctx, Command{HookIndex: true, Args: []string{
		"diff-index", "--cached", "--ita-invisible-in-index", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none", tree, "--",
	}})
	if err != nil {
		return nil, err
	}
	return parseRaw(r, string(out))
}

// Changes returns the differences between two trees or commits ("": the empty tree).
func Changes(ctx context.Context, r *Repo, from, to OID) ([]Change, error) {
	a, errA := treeish(r, from)
	b, errB := treeish(r, to)
	if err := errors.Join(errA, errB); err != nil {
		return nil, err
	}
	// Git itself compares large differences, and trees that can't be read here.
	if changes, err := compareTrees(ctx, r, from, to); err == nil || ctx.Err() != nil {
		return changes, err
	}
	return diffTree(ctx, r, a, b)
}

// diffTree is Changes by a git process.
func diffTree(ctx context.Context, r *Repo, from, to string) ([]Change, error) {
	out, err := r.Run(ctx, "diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev",
		"--ignore-submodules=none", from, to, "--")
	if err != nil {
		return nil, err
	}
	return parseRaw(r, string(out))
}

func treeish(r *Repo, oid OID) (string, error) {
	if oid == "" {
		return string(r.Format.EmptyTree()), nil
	}
	if !r.Format.Valid(oid) {
		return "", fmt.Errorf("%q is no object id", oid)
	}
	return string(oid), nil
}

// parseRaw parses ":100644 100755 <old> <new> M", NUL, path, NUL, and so on.
func parseRaw(r *Repo, out string) ([]Change, error) {
	var changes []Change
	for out != "" {
		head, rest, ok := strings.Cut(out, "\x00")
		path, rest, ok2 := strings.Cut(rest, "\x00")
		c, err := parseRawHead(r, head)
		if !ok || !ok2 || err != nil {
			return nil, fmt.Errorf("raw diff: unknown line %q", head)
		}
		c.Path = path
		changes = append(changes, c)
		out = rest
	}
	return changes, nil
}

func parseRawHead(r *Repo, head string) (Change, error) {
	fields := strings.Fields(strings.TrimPrefix(head, ":"))
	if len(fields) != 5 {
		return Change{}, errors.New("not five fields")
	}
	oldMode, errA := strconv.ParseUint(fields[0], 8, 32)
	newMode, errB := strconv.ParseUint(fields[1], 8, 32)
	return Change{
		OldMode: Mode(oldMode), NewMode: Mode(newMode),
		Old: orNone(r, OID(fields[2])), New: orNone(r, OID(fields[3])),
		Status: fields[4][0],
	}, errors.Join(errA, errB)
}

func orNone(r *Repo, oid OID) OID {
	if oid == r.Format.Zero() {
		return ""
	}
	return oid
}
