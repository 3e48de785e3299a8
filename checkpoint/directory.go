package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-3aff656d/entire/internal/git"
)

// maxSlots is the maximum number of sessions in a checkpoint.
const maxSlots = 10_000

// directory is a checkpoint's directory on the metadata branch.
type directory struct {
	entries []git.TreeEntry
	summary Summary
	slots   []slotDir // by index
	// absent reports that the checkpoint's own metadata is not in this repository.
	absent bool
}

// slotDir is the directory of a session in a checkpoint.
type slotDir struct {
	index   int
	oid     git.OID
	entries []git.TreeEntry
	meta    SessionMeta // as stored, unchecked
	absent  bool        // its metadata is not in this repository
}

// directoryAt reads the directory stored as a tree; "" is an empty directory.
func directoryAt(ctx context.Context, repo *git.Repo, tree git.OID) (directory, error) {
	return directoryUnless(ctx, source{repo: repo}, tree, func(error) bool { return false })
}

// directoryUnless is directoryAt, but leaves out metadata that can't be read because of an error
// that ignore accepts.
func directoryUnless(ctx context.Context, from source, tree git.OID, ignore func(error) bool) (d directory, err error) {
	if d.entries, err = from.repo.Tree(ctx, tree); err != nil {
		return d, err
	}
	data, err := from.metadata(ctx, d.entries, maxEntry)
	if d.absent = err != nil && ignore(err); err != nil && !d.absent {
		return d, err
	}
	room := int64(maxMetadata - len(data))
	if s, err := decodeSummary(data); err == nil {
		d.summary = s
	}
	for _, e := range d.entries {
		index, ok := slotIndex(e.Name)
		if !ok || e.Mode != git.ModeTree {
			continue
		}
		slot, size, err := readSlot(ctx, from, index, e.OID, room)
		if slot.absent = err != nil && ignore(err); err != nil && !slot.absent {
			return d, fmt.Errorf("session %d: %w", index, err)
		}
		room -= size
		d.slots = append(d.slots, slot)
	}
	slices.SortFunc(d.slots, func(a, b slotDir) int { return a.index - b.index })
	return d, nil
}

// readSlot reads the directory of a session. Its metadata may have at most room bytes; the size of
// the metadata is returned.
func readSlot(ctx context.Context, from source, index int, oid git.OID, room int64) (slot slotDir, size int64, err error) {
	slot = slotDir{index: index, oid: oid}
	if slot.entries, err = from.repo.Tree(ctx, oid); err != nil {
		return slot, 0, err
	}
	data, err := from.metadata(ctx, slot.entries, min(room, maxEntry))
	if err != nil {
		return slot, 0, err
	}
	if m, err := decodeSession(data); err == nil {
		slot.meta = m
	}
	return slot, int64(len(data)), nil
}

// slotIndex parses the name of a session's directory.
func slotIndex(name string) (int, bool) {
	n, err := strconv.Atoi(name)
	return n, err == nil && n >= 0 && n < maxSlots && strconv.Itoa(n) == name
}

// name returns the name of the slot's directory.
func (s slotDir) name() string { return strconv.Itoa(s.index) }

// find returns the index in d.slots of the session's slot, -1 if there is none.
func (d *directory) find(sessionID string) int {
	return slices.IndexFunc(d.slots, func(s slotDir) bool { return s.meta.SessionID == sessionID })
}

// nextIndex returns an index greater than those of all slots and of all entries named like slots.
func (d *directory) nextIndex() int {
	next := 0
	for _, slot := range d.slots {
		next = max(next, slot.index+1)
	}
	for _, e := range d.entries {
		if n, ok := slotIndex(e.Name); ok {
			next = max(next, n+1)
		}
	}
	return next
}

// put replaces or appends the slot.
func (d *directory) put(slot slotDir) {
	at, found := slices.BinarySearchFunc(d.slots, slot.index, func(s slotDir, index int) int { return s.index - index })
	if found {
		d.slots[at] = slot
		return
	}
	d.slots = slices.Insert(d.slots, at, slot)
}

// paths returns the paths of the slot's files, given that of the checkpoint's directory. Those of the
// transcript and its hash are set whether the files exist or not.
func (s slotDir) paths(root string) SessionFiles {
	dir := root + s.name() + "/"
	path := func(name string) string {
		if _, found := findEntry(s.entries, name); !found {
			return ""
		}
		return dir + name
	}
	return SessionFiles{
		Metadata:    dir + metadataFile,
		Transcript:  dir + TranscriptFile,
		Context:     path(contextFile),
		ContentHash: dir + HashFile,
		Prompt:      path(promptFile),
	}
}

// findEntry returns the entry of a tree with the given name.
func findEntry(entries []git.TreeEntry, name string) (git.TreeEntry, bool) {
	i := slices.IndexFunc(entries, func(e git.TreeEntry) bool { return e.Name == name })
	if i < 0 {
		return git.TreeEntry{}, false
	}
	return entries[i], true
}

// readEntry reads the file with the given name in a tree, nil if there is none.
func readEntry(ctx context.Context, repo *git.Repo, entries []git.TreeEntry, name string) ([]byte, error) {
	return readEntryWithin(ctx, repo, entries, name, maxEntry)
}

// readEntryWithin is readEntry for a file of at most limit bytes. It returns git.ErrTooMuch for a
// larger one.
func readEntryWithin(ctx context.Context, repo *git.Repo, entries []git.TreeEntry, name string, limit int64) ([]byte, error) {
	e, found := findEntry(entries, name)
	if !found || e.Mode != git.ModeFile && e.Mode != git.ModeExec {
		return nil, nil
	}
	data, err := ReadBlobWithin(ctx, repo, e.OID, limit)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}
