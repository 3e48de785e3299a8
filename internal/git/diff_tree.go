package git

import (
	"context"
	"errors"
	"fmt"
)

// maxTreesCompared is the number of pairs of trees that compareTrees reads. Beyond it, git is
// faster than reading one tree at a time.
const maxTreesCompared = 150

var errManyTrees = errors.New("too many trees")

// compareTrees returns the differences between two trees or commits, as git diff-tree does, without
// starting diff-tree.
func compareTrees(ctx context.Context, r *Repo, from, to OID) ([]Change, error) {
	a, errA := rootTree(ctx, r, from)
	b, errB := rootTree(ctx, r, to)
	if err := errors.Join(errA, errB); err != nil {
		return nil, err
	}
	c := comparison{repo: r, left: maxTreesCompared}
	if err := c.trees(ctx, "", a, b); err != nil {
		return nil, err
	}
	return c.changes, nil
}

// rootTree returns the tree of a commit, or the tree itself, or "" for the empty tree.
func rootTree(ctx context.Context, r *Repo, oid OID) (OID, error) {
	if oid == "" || oid == r.Format.EmptyTree() {
		return "", nil
	}
	object, err := r.Read(ctx, string(oid))
	if err != nil {
		return "", err
	}
	switch object.Type {
	case "commit":
		c, err := ParseCommit(object)
		return c.Tree, err
	case "tree":
		return oid, nil
	default:
		return "", fmt.Errorf("%s %s is no tree", object.Type, oid)
	}
}

// comparison walks two trees side by side.
type comparison struct {
	repo    *Repo
	left    int // pairs of trees that may still be compared
	changes []Change
}

// trees compares the trees at prefix; "" stands for a missing tree.
func (c *comparison) trees(ctx context.Context, prefix string, from, to OID) error {
	if from == to {
		return nil
	}
	if c.left--; c.left < 0 {
		return errManyTrees
	}
	old, errA := c.repo.Tree(ctx, from)
	now, errB := c.repo.Tree(ctx, to)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	for len(old)+len(now) > 0 {
		var a, b TreeEntry
		if len(old) > 0 {
			a = canonicalMode(old[0])
		}
		if len(now) > 0 {
			b = canonicalMode(now[0])
		}
		if a.Name != "" && b.Name != "" {
			switch order := CompareEntries(a, b); {
			case order < 0:
				b = TreeEntry{}
			case order > 0:
				a = TreeEntry{}
			}
		}
		if a.Name != "" {
			old = old[1:]
		}
		if b.Name != "" {
			now = now[1:]
		}
		// In git's order a file and a directory never compare equal.
		if a == b {
			continue
		}
		path := prefix + max(a.Name, b.Name) // equal, or one is empty
		if a.Mode == ModeTree || b.Mode == ModeTree {
			if err := c.trees(ctx, path+"/", a.OID, b.OID); err != nil {
				return err
			}
			continue
		}
		status := byte('M')
		switch {
		case a.Name == "":
			status = 'A'
		case b.Name == "":
			status = 'D'
		case a.Mode&kindMask != b.Mode&kindMask:
			status = 'T'
		}
		c.changes = append(c.changes, Change{Path: path, Status: status, OldMode: a.Mode, NewMode: b.Mode, Old: a.OID, New: b.OID})
	}
	return nil
}

// kindMask masks the file type in a mode.
const kindMask Mode = 0o170000

// canonicalMode normalizes unusual modes of old trees as git does.
func canonicalMode(e TreeEntry) TreeEntry {
	const executable = 0o100
	switch e.Mode & kindMask {
	case ModeFile & kindMask:
		if e.Mode&executable != 0 {
			e.Mode = ModeExec
		} else {
			e.Mode = ModeFile
		}
	case ModeLink, ModeTree:
		e.Mode &= kindMask
	default:
		e.Mode = ModeModule
	}
	return e
}
