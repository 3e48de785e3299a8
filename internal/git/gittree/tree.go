package gittree

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
)

// Lookup finds the entry at path below a tree. It reads the trees on the way.
func Lookup(ctx context.Context, r *git.Repo, tree git.OID, path string) (git.TreeEntry, bool, error) {
	at := git.TreeEntry{Mode: git.ModeTree, OID: tree}
	for name := range strings.SplitSeq(path, "/") {
		if at.Mode != git.ModeTree {
			return git.TreeEntry{}, false, nil
		}
		entries, err := r.Tree(ctx, at.OID)
		if err != nil {
			return git.TreeEntry{}, false, fmt.Errorf("look up %s: %w", path, err)
		}
		var found bool
		if at, found = findName(entries, name); !found {
			return git.TreeEntry{}, false, nil
		}
	}
	return at, true, nil
}

// findName finds the entry with a name in a tree. Entries are in git's order, which sorts a
// directory as if its name ended with a slash.
func findName(entries []git.TreeEntry, name string) (git.TreeEntry, bool) {
	for _, mode := range []git.Mode{git.ModeFile, git.ModeTree} {
		if i, found := slices.BinarySearchFunc(entries, git.TreeEntry{Name: name, Mode: mode}, git.CompareEntries); found {
			return entries[i], true
		}
	}
	return git.TreeEntry{}, false
}

// Write stores a tree of entries in any order. Modes and names must be ones that git writes
// (ErrBadPath), and names must be unique.
func Write(r *git.Repo, entries []git.TreeEntry) (git.OID, error) {
	for _, e := range entries {
		if !git.ValidName(e.Name) {
			return "", fmt.Errorf("write tree: %q: %w", e.Name, git.ErrBadPath)
		}
		if !e.Mode.Valid() {
			return "", fmt.Errorf("write tree: %q has mode %s", e.Name, e.Mode)
		}
	}
	return r.StoreTree(slices.Clone(entries))
}
