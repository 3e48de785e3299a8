// Package gittree edits, writes and searches trees without an index and without a git process.
// Stored objects may have no names until git.Repo.SyncObjects.
package gittree

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
)

// Edit is a change at one path of a tree: it sets the entry or, with an empty OID, removes it.
type Edit struct {
	Path string
	Mode git.Mode
	OID  git.OID
}

// node holds the edits of one name in a directory.
type node struct {
	below map[string]*node
	entry git.TreeEntry // replacement of the old entry
	state nodeState
	dir   bool // an entry was put below: the node is not a file
}

type nodeState int

const (
	kept     nodeState = iota // the old entry, with changes below it
	replaced                  // replaced by entry
	emptied                   // the old entry is dropped
)

// Apply applies edits to the tree root, in order, and returns the new root. It reads and writes
// only the trees on the paths. An edit replaces a file by a directory and vice versa. A removal
// removes a file or a directory, and does nothing if there is neither. A directory without entries
// is removed. The root "" is the empty tree.
func Apply(ctx context.Context, r *git.Repo, root git.OID, edits []Edit) (git.OID, error) {
	top := &node{}
	for _, e := range edits {
		switch {
		case !git.ValidPath(e.Path):
			return "", fmt.Errorf("edit tree: %q: %w", e.Path, git.ErrBadPath)
		case e.OID == "":
			top.remove(e.Path)
			continue
		case !e.Mode.Valid():
			return "", fmt.Errorf("edit tree: %q has mode %s", e.Path, e.Mode)
		case !r.Format.Valid(e.OID):
			return "", fmt.Errorf("edit tree: %q: %q is no object id", e.Path, e.OID)
		}
		top.put(e)
	}
	oid, err := rewrite(ctx, r, root, top)
	if err != nil {
		return "", fmt.Errorf("edit tree: %w", err)
	}
	if oid == "" {
		return r.StoreTree(nil)
	}
	return oid, nil
}

func (n *node) put(e Edit) {
	dir, name, found := strings.Cut(e.Path, "/")
	if !found {
		*n.child(dir) = node{state: replaced, entry: git.TreeEntry{Mode: e.Mode, Name: dir, OID: e.OID}}
		return
	}
	c := n.child(dir)
	if c.state == replaced && c.entry.Mode != git.ModeTree {
		*c = node{state: emptied}
	}
	c.dir = true
	e.Path = name
	c.put(e)
}

func (n *node) remove(path string) {
	dir, name, found := strings.Cut(path, "/")
	if !found {
		*n.child(dir) = node{state: emptied}
		return
	}
	n.child(dir).remove(name)
}

func (n *node) child(name string) *node {
	if n.below == nil {
		n.below = make(map[string]*node)
	}
	if n.below[name] == nil {
		n.below[name] = &node{}
	}
	return n.below[name]
}

// rewrite returns the tree oid with the edits below n applied, or "" if it is empty.
func rewrite(ctx context.Context, r *git.Repo, oid git.OID, n *node) (git.OID, error) {
	old, err := r.Tree(ctx, oid)
	if err != nil {
		return "", err
	}
	entries := make([]git.TreeEntry, 0, len(old)+len(n.below))
	seen := 0
	for _, e := range old {
		c := n.below[e.Name]
		if c == nil {
			if e.OID != r.Format.EmptyTree() {
				entries = append(entries, e)
			}
			continue
		}
		seen++
		if entries, err = appendEdited(ctx, r, e, c, entries); err != nil {
			return "", err
		}
	}
	if seen < len(n.below) { // some edits have no entry in the old tree
		had := make(map[string]struct{}, len(old))
		for _, e := range old {
			had[e.Name] = struct{}{}
		}
		for name, c := range n.below {
			if _, ok := had[name]; ok {
				continue
			}
			empty := git.TreeEntry{Mode: git.ModeTree, Name: name}
			if entries, err = appendEdited(ctx, r, empty, c, entries); err != nil {
				return "", err
			}
		}
	}
	switch {
	case len(entries) == 0:
		return "", nil
	case slices.Equal(entries, old):
		return oid, nil
	}
	return r.StoreTree(entries)
}

// appendEdited appends to entries the result of the edits c on the old entry e.
func appendEdited(ctx context.Context, r *git.Repo, e git.TreeEntry, c *node, entries []git.TreeEntry) ([]git.TreeEntry, error) {
	if c.state == replaced {
		e = c.entry
	}
	if e.Mode != git.ModeTree && !c.dir && c.state != emptied {
		return append(entries, e), nil // removals below a file do nothing
	}
	oid := e.OID
	if c.state == emptied || e.Mode != git.ModeTree {
		oid = ""
	}
	if len(c.below) > 0 || oid == r.Format.EmptyTree() {
		var err error
		if oid, err = rewrite(ctx, r, oid, c); err != nil {
			return nil, err
		}
	}
	if oid == "" {
		return entries, nil
	}
	return append(entries, git.TreeEntry{Mode: git.ModeTree, Name: e.Name, OID: oid}), nil
}
