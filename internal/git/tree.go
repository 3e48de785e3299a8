package git

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// TreeEntry is an entry of a tree.
type TreeEntry struct {
	Mode Mode
	Name string
	OID  OID
}

// Tree returns the entries of a tree in git's order. The slice is shared and must not be changed.
// The OID "" has no entries.
func (r *Repo) Tree(ctx context.Context, oid OID) ([]TreeEntry, error) {
	if oid == "" || oid == r.Format.EmptyTree() {
		return nil, nil
	}
	if entries, ok := r.trees.get(oid); ok {
		return entries, nil
	}
	object, err := r.Read(ctx, string(oid))
	if err != nil {
		return nil, err
	}
	if object.Type != "tree" {
		return nil, fmt.Errorf("%s %s is no tree", object.Type, oid)
	}
	entries, err := decodeTree(object.Data, r.Format)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", oid, err)
	}
	r.trees.put(oid, entries)
	return entries, nil
}

func decodeTree(data []byte, format Format) ([]TreeEntry, error) {
	size := format.size()
	text := string(data) // names are parts of one string, as are ids: there are many small trees
	entries := make([]TreeEntry, 0, len(text)/(size+20)+1)
	ids := make([]byte, 0, cap(entries)*2*size)
	for len(text) > 0 {
		end := strings.IndexByte(text, 0)
		if end < 0 || len(text) < end+1+size {
			return nil, fmt.Errorf("entry %d is cut off", len(entries))
		}
		mode, name, ok := strings.Cut(text[:end], " ")
		bits, err := strconv.ParseUint(mode, 8, 32)
		if !ok || err != nil {
			return nil, fmt.Errorf("entry %d has no mode", len(entries))
		}
		entries = append(entries, TreeEntry{Mode: Mode(bits), Name: name})
		ids = hex.AppendEncode(ids, data[len(data)-len(text)+end+1:][:size])
		text = text[end+1+size:]
	}
	all := OID(ids)
	for i := range entries {
		entries[i].OID = all[i*2*size:][:2*size]
	}
	if !slices.IsSortedFunc(entries, CompareEntries) {
		slices.SortStableFunc(entries, CompareEntries) // git fsck reports such a tree, git reads it
	}
	return entries, nil
}

// StoreTree sorts entries, stores them and retains the slice. It does not check names and modes: a
// rewritten tree may have modes that only old trees have.
func (r *Repo) StoreTree(entries []TreeEntry) (OID, error) {
	slices.SortFunc(entries, CompareEntries)
	names := make(map[string]struct{}, len(entries))
	var b bytes.Buffer
	b.Grow(len(entries) * (r.Format.size() + 24))
	for _, e := range entries {
		if _, twice := names[e.Name]; twice {
			return "", fmt.Errorf("write tree: %q is there twice", e.Name)
		}
		names[e.Name] = struct{}{}
		if !r.Format.Valid(e.OID) {
			return "", fmt.Errorf("write tree: %q: %q is no object id", e.Name, e.OID)
		}
		raw, err := hex.DecodeString(string(e.OID))
		if err != nil {
			return "", fmt.Errorf("write tree: %q: %w", e.Name, err)
		}
		b.WriteString(strconv.FormatUint(uint64(e.Mode), 8))
		b.WriteByte(' ')
		b.WriteString(e.Name)
		b.WriteByte(0)
		b.Write(raw)
	}
	oid, err := r.Loose.write("tree", b.Bytes())
	if err != nil {
		return "", err
	}
	r.trees.put(oid, entries)
	return oid, nil
}

// CompareEntries compares in git's order of tree entries: a tree sorts as if its name ended with
// "/".
func CompareEntries(a, b TreeEntry) int {
	n := min(len(a.Name), len(b.Name))
	if c := cmp.Compare(a.Name[:n], b.Name[:n]); c != 0 {
		return c
	}
	return cmp.Compare(byteAt(a, n), byteAt(b, n))
}

func byteAt(e TreeEntry, i int) byte {
	switch {
	case i < len(e.Name):
		return e.Name[i]
	case e.Mode == ModeTree:
		return '/'
	}
	return 0
}

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
