package git

import (
	"slices"
	"sync"
)

// maxTreeEntries bounds the entries of all trees in memory.
const maxTreeEntries = 100_000

// treeCache keeps the entries of trees. Its methods are safe for concurrent use.
type treeCache struct {
	mu      sync.Mutex // guards the fields below
	trees   map[OID][]TreeEntry
	entries int // of all trees
}

// get returns the entries of a tree, which must not be changed.
func (c *treeCache) get(oid OID) ([]TreeEntry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	entries, ok := c.trees[oid]
	return entries, ok
}

// put keeps the entries of a tree, which must not be changed afterwards.
func (c *treeCache) put(oid OID, entries []TreeEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries += len(entries); c.entries > maxTreeEntries {
		clear(c.trees)
		c.entries = len(entries)
	}
	if c.trees == nil {
		c.trees = map[OID][]TreeEntry{}
	}
	c.trees[oid] = slices.Clip(entries)
}

// remove drops a tree.
func (c *treeCache) remove(oid OID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.trees, oid)
}
