package git

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

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
