package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Edit is a change at one path of a tree: the entry that shall stand there, or,
// with an empty OID, nothing.
type Edit struct {
	Path string
	Mode Mode
	OID  OID
}

// node is what the edits say about one name of a directory.
type node struct {
	below map[string]*node
	entry TreeEntry // what replaces the old entry
	state nodeState
	dir   bool // something was put below: it isn't a file any more
}

type nodeState int

const (
	kept     nodeState = iota // the old entry, with what is below changed
	replaced                  // entry stands here
	emptied                   // nothing of the old is left
)

// EditTree applies edits to the tree root, in order, and gives the new root. It
// reads and writes the trees on the paths only. An edit replaces a file by a
// directory and the other way round; a removal takes a file or a directory,
// and is nothing where there is neither; a directory left without entries goes.
// The root "" is the empty tree.
func (r *Repo) EditTree(ctx context.Context, root OID, edits []Edit) (OID, error) {
	top := &node{}
	for _, e := range edits {
		if err := r.checkEdit(e); err != nil {
			return "", err
		}
		if e.OID == "" {
			top.remove(e.Path)
		} else {
			top.put(e)
		}
	}
	oid, err := r.rewrite(ctx, root, top)
	if err != nil {
		return "", fmt.Errorf("edit tree: %w", err)
	}
	if oid == "" {
		return r.StoreTree(nil)
	}
	return oid, nil
}

func (r *Repo) checkEdit(e Edit) error {
	switch {
	case !ValidPath(e.Path):
		return fmt.Errorf("edit tree: %q: %w", e.Path, ErrBadPath)
	case e.OID == "":
		return nil
	case !e.Mode.Valid():
		return fmt.Errorf("edit tree: %q has mode %s", e.Path, e.Mode)
	case !r.Format.Valid(e.OID):
		return fmt.Errorf("edit tree: %q: %q is no object id", e.Path, e.OID)
	}
	return nil
}

func (n *node) put(e Edit) {
	dir, name, found := strings.Cut(e.Path, "/")
	if !found {
		*n.child(dir) = node{state: replaced, entry: TreeEntry{Mode: e.Mode, Name: dir, OID: e.OID}}
		return
	}
	c := n.child(dir)
	if c.state == replaced && c.entry.Mode != ModeTree {
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

// rewrite gives the tree oid with the edits below n; "" if nothing is left.
func (r *Repo) rewrite(ctx context.Context, oid OID, n *node) (OID, error) {
	old, err := r.Tree(ctx, oid)
	if err != nil {
		return "", err
	}
	entries := make([]TreeEntry, 0, len(old)+len(n.below))
	seen := 0
	for _, e := range old {
		c := n.below[e.Name]
		if c == nil {
			if e.OID != r.EmptyTree() {
				entries = append(entries, e)
			}
			continue
		}
		seen++
		if entries, err = r.apply(ctx, e, c, entries); err != nil {
			return "", err
		}
	}
	if seen < len(n.below) {
		if entries, err = r.addNew(ctx, old, n, entries); err != nil {
			return "", err
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

// addNew appends what the edits put where the old tree had nothing.
func (r *Repo) addNew(ctx context.Context, old []TreeEntry, n *node, entries []TreeEntry) ([]TreeEntry, error) {
	had := make(map[string]struct{}, len(old))
	for _, e := range old {
		had[e.Name] = struct{}{}
	}
	var err error
	for name, c := range n.below {
		if _, ok := had[name]; ok {
			continue
		}
		if entries, err = r.apply(ctx, TreeEntry{Mode: ModeTree, Name: name}, c, entries); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// apply appends to entries what becomes of the old entry e.
func (r *Repo) apply(ctx context.Context, e TreeEntry, c *node, entries []TreeEntry) ([]TreeEntry, error) {
	if c.state == replaced {
		e = c.entry
	}
	if e.Mode != ModeTree && !c.dir && c.state != emptied {
		return append(entries, e), nil // removals below a file are nothing
	}
	oid := e.OID
	if c.state == emptied || e.Mode != ModeTree {
		oid = ""
	}
	if len(c.below) > 0 || oid == r.EmptyTree() {
		var err error
		if oid, err = r.rewrite(ctx, oid, c); err != nil {
			return nil, err
		}
	}
	if oid == "" {
		return entries, nil
	}
	return append(entries, TreeEntry{Mode: ModeTree, Name: e.Name, OID: oid}), nil
}
