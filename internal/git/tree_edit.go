package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// TreeEdit is a change at one path of a tree: it sets the entry or, with an empty OID, removes it.
type TreeEdit struct {
	Path string
	Mode Mode
	OID  OID
}

// treeEdits holds the edits of one name in a directory.
type treeEdits struct {
	below map[string]*treeEdits
	entry TreeEntry // replacement of the old entry
	state treeEditsState
	dir   bool // an entry was put below: the node is not a file
}

type treeEditsState int

const (
	kept     treeEditsState = iota // the old entry, with changes below it
	replaced                       // replaced by entry
	emptied                        // the old entry is dropped
)

// EditTree applies edits to the tree root, in order, and returns the new root. It reads and writes
// only the trees on the paths. An edit replaces a file by a directory and vice versa. A removal
// removes a file or a directory, and does nothing if there is neither. A directory without entries
// is removed. The root "" is the empty tree.
func EditTree(ctx context.Context, r *Repo, root OID, edits []TreeEdit) (OID, error) {
	top := &treeEdits{}
	for _, e := range edits {
		switch {
		case !ValidPath(e.Path):
			return "", fmt.Errorf("edit tree: %q: %w", e.Path, ErrBadPath)
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
	oid, err := rewriteTree(ctx, r, root, top)
	if err != nil {
		return "", fmt.Errorf("edit tree: %w", err)
	}
	if oid == "" {
		return r.StoreTree(nil)
	}
	return oid, nil
}

func (n *treeEdits) put(e TreeEdit) {
	dir, name, found := strings.Cut(e.Path, "/")
	if !found {
		*n.child(dir) = treeEdits{state: replaced, entry: TreeEntry{Mode: e.Mode, Name: dir, OID: e.OID}}
		return
	}
	c := n.child(dir)
	if c.state == replaced && c.entry.Mode != ModeTree {
		*c = treeEdits{state: emptied}
	}
	c.dir = true
	e.Path = name
	c.put(e)
}

func (n *treeEdits) remove(path string) {
	dir, name, found := strings.Cut(path, "/")
	if !found {
		*n.child(dir) = treeEdits{state: emptied}
		return
	}
	n.child(dir).remove(name)
}

func (n *treeEdits) child(name string) *treeEdits {
	if n.below == nil {
		n.below = make(map[string]*treeEdits)
	}
	if n.below[name] == nil {
		n.below[name] = &treeEdits{}
	}
	return n.below[name]
}

// rewriteTree returns the tree oid with the edits below n applied, or "" if it is empty.
func rewriteTree(ctx context.Context, r *Repo, oid OID, n *treeEdits) (OID, error) {
	old, err := r.Tree(ctx, oid)
	if err != nil {
		return "", err
	}
	entries := make([]TreeEntry, 0, len(old)+len(n.below))
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
			empty := TreeEntry{Mode: ModeTree, Name: name}
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
func appendEdited(ctx context.Context, r *Repo, e TreeEntry, c *treeEdits, entries []TreeEntry) ([]TreeEntry, error) {
	if c.state == replaced {
		e = c.entry
	}
	if e.Mode != ModeTree && !c.dir && c.state != emptied {
		return append(entries, e), nil // removals below a file do nothing
	}
	oid := e.OID
	if c.state == emptied || e.Mode != ModeTree {
		oid = ""
	}
	if len(c.below) > 0 || oid == r.Format.EmptyTree() {
		var err error
		if oid, err = rewriteTree(ctx, r, oid, c); err != nil {
			return nil, err
		}
	}
	if oid == "" {
		return entries, nil
	}
	return append(entries, TreeEntry{Mode: ModeTree, Name: e.Name, OID: oid}), nil
}

// LookupPath finds the entry at path below a tree. It reads the trees on the way.
func LookupPath(ctx context.Context, r *Repo, tree OID, path string) (TreeEntry, bool, error) {
	at := TreeEntry{Mode: ModeTree, OID: tree}
	for name := range strings.SplitSeq(path, "/") {
		if at.Mode != ModeTree {
			return TreeEntry{}, false, nil
		}
		entries, err := r.Tree(ctx, at.OID)
		if err != nil {
			return TreeEntry{}, false, fmt.Errorf("look up %s: %w", path, err)
		}
		var found bool
		if at, found = findName(entries, name); !found {
			return TreeEntry{}, false, nil
		}
	}
	return at, true, nil
}

// findName finds the entry with a name in a tree. Entries are in git's order, which sorts a
// directory as if its name ended with a slash.
func findName(entries []TreeEntry, name string) (TreeEntry, bool) {
	for _, mode := range []Mode{ModeFile, ModeTree} {
		if i, found := slices.BinarySearchFunc(entries, TreeEntry{Name: name, Mode: mode}, CompareEntries); found {
			return entries[i], true
		}
	}
	return TreeEntry{}, false
}

// WriteTree stores a tree of entries in any order. Modes and names must be ones that git writes
// (ErrBadPath), and names must be unique.
func WriteTree(r *Repo, entries []TreeEntry) (OID, error) {
	for _, e := range entries {
		if !ValidName(e.Name) {
			return "", fmt.Errorf("write tree: %q: %w", e.Name, ErrBadPath)
		}
		if !e.Mode.Valid() {
			return "", fmt.Errorf("write tree: %q has mode %s", e.Name, e.Mode)
		}
	}
	return r.StoreTree(slices.Clone(entries))
}
