package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
)

// checkpoint merges a checkpoint that both sides have changed. It keeps the sessions of both; a
// session that both have is merged. If the sides number sessions differently, those added since the
// base are renumbered, in the same way on either side. Other files are kept, ours if both sides
// have one, and the summary is rebuilt.
func (m merger) checkpoint(ctx context.Context, id ID, t three) (git.OID, error) {
	ours, err := directoryAt(ctx, m.repo, t.ours.OID)
	if err != nil {
		return "", err
	}
	theirs, err := directoryAt(ctx, m.repo, t.theirs.OID)
	if err != nil {
		return "", err
	}
	// The base is empty if it was not a checkpoint, or if a partial clone lacks it. The sessions of
	// both sides then count as changed.
	var base directory
	if t.base.Mode == git.ModeTree {
		base, err = directoryAt(ctx, m.repo, t.base.OID)
		if errors.Is(err, git.ErrMissing) {
			base, err = directory{}, nil
		}
		if err != nil {
			return "", err
		}
	}
	merged := directory{summary: ours.summary, slots: ours.slots}
	s, other := &merged.summary, theirs.summary
	s.unknown = s.unknown.over(other.unknown)
	for to, value := range map[*string]string{&s.Branch: other.Branch, &s.CLIVersion: other.CLIVersion, &s.Strategy: other.Strategy} {
		*to = cmp.Or(*to, value)
	}
	if merged.entries, err = m.beside(ctx, t); err != nil {
		return "", err
	}
	for _, their := range theirs.slots {
		if err := m.slot(ctx, &merged, their, base); err != nil {
			return "", err
		}
	}
	if disagree(ours, theirs) {
		merged.renumber(base)
	}
	merged.summarize(id, Present{InRef: m.inRef}.root(id), SummaryInfo{})
	return writeDirectory(m.repo, merged)
}

// beside merges the entries of a checkpoint's directory other than slots.
func (m merger) beside(ctx context.Context, t three) ([]git.TreeEntry, error) {
	slot := func(name string) bool { _, ok := slotIndex(name); return ok }
	tree, err := m.each(ctx, t, func(ctx context.Context, name string, t three) (git.TreeEntry, error) {
		if slot(name) {
			return t.either(), nil
		}
		return m.other(ctx, name, t, 0)
	})
	if err != nil {
		return nil, err
	}
	entries, err := m.repo.Tree(ctx, tree)
	return slices.DeleteFunc(slices.Clone(entries), func(e git.TreeEntry) bool {
		return e.Mode == git.ModeTree && slot(e.Name)
	}), err
}

// slot merges a session's slot of theirs into a checkpoint.
func (m merger) slot(ctx context.Context, into *directory, their slotDir, base directory) error {
	at := slices.IndexFunc(into.slots, func(s slotDir) bool { return s.oid == their.oid })
	if at < 0 && their.meta.SessionID != "" {
		at = into.find(their.meta.SessionID)
	}
	if at < 0 {
		// It keeps its own index if it is free.
		taken := func(s slotDir) bool { return s.index == their.index }
		if _, file := findEntry(into.entries, their.name()); file || slices.ContainsFunc(into.slots, taken) {
			their.index = into.nextIndex()
		}
		if their.index < maxSlots {
			into.put(their)
		}
		return nil
	}
	our := into.slots[at]
	before := slotDir{}
	if i := base.find(their.meta.SessionID); i >= 0 {
		before = base.slots[i]
	}
	switch {
	case their.oid == our.oid, their.oid == before.oid:
		return nil
	case our.oid == before.oid:
		their.index = our.index
		into.slots[at] = their
		return nil
	}
	merged, err := m.session(ctx, our, their)
	if err != nil {
		return fmt.Errorf("session %d: %w", our.index, err)
	}
	into.slots[at] = merged
	return nil
}

// disagree reports whether two sides have a session in different slots, or different sessions in
// the same slot.
func disagree(ours, theirs directory) bool {
	return slices.ContainsFunc(theirs.slots, func(their slotDir) bool {
		same := func(s slotDir) bool {
			return s.oid == their.oid || their.meta.SessionID != "" && s.meta.SessionID == their.meta.SessionID
		}
		return slices.ContainsFunc(ours.slots, func(our slotDir) bool { return same(our) != (our.index == their.index) })
	})
}

// renumber assigns the slots that base has their indexes in base. The others get free indexes, in
// the order in which they would have been written.
func (d *directory) renumber(base directory) {
	taken := map[int]bool{}
	for _, e := range d.entries {
		if n, ok := slotIndex(e.Name); ok {
			taken[n] = true
		}
	}
	var kept, others []slotDir
	for _, s := range d.slots {
		if i := base.find(s.meta.SessionID); s.meta.SessionID != "" && i >= 0 && !taken[base.slots[i].index] {
			s.index = base.slots[i].index
			taken[s.index] = true
			kept = append(kept, s)
			continue
		}
		others = append(others, s)
	}
	slices.SortFunc(others, func(a, b slotDir) int {
		return cmp.Or(cmp.Compare(a.meta.Lines(), b.meta.Lines()), a.meta.CreatedAt.Compare(b.meta.CreatedAt), cmp.Compare(a.oid, b.oid))
	})
	next := 0
	for _, s := range others {
		for taken[next] {
			next++
		}
		s.index, taken[next] = next, true
		kept = append(kept, s)
	}
	d.slots = nil
	for _, s := range kept {
		if s.index < maxSlots {
			d.put(s)
		}
	}
}

// session merges a session's slot that both sides have changed. The one with more of the transcript
// is kept, ours if they have the same, at our index. Missing data such as a summary is taken from
// the other, and files_touched lists the files of both.
func (m merger) session(ctx context.Context, our, their slotDir) (slotDir, error) {
	order, err := m.compare(ctx, our, their)
	if err != nil {
		return slotDir{}, err
	}
	kept, other := our, their
	if order < 0 {
		kept, other = their, our
	}
	kept.index = our.index
	meta := kept.meta.over(other.meta)
	known := func(path string) bool { return slices.Contains(kept.meta.FilesTouched, path) }
	more := slices.DeleteFunc(slices.Clone(other.meta.FilesTouched), known)
	if meta.FilesTouched = slices.Concat(kept.meta.FilesTouched, more); len(more) > 0 {
		slices.Sort(meta.FilesTouched)
	}
	data, err := meta.encode()
	if err != nil {
		return slotDir{}, err
	}
	entries, err := writeFiles(m.repo, []file{{metadataFile, data}})
	if err != nil {
		return slotDir{}, err
	}
	// Keep those of the other's files that don't belong to its transcript.
	beside := slices.DeleteFunc(slices.Clone(other.entries), func(e git.TreeEntry) bool {
		return strings.HasPrefix(e.Name, TranscriptFile) || e.Name == LegacyTranscriptFile || e.Name == HashFile
	})
	for _, e := range slices.Concat(kept.entries, beside) {
		if _, there := findEntry(entries, e.Name); !there && acceptable(e) {
			entries = append(entries, e)
		}
	}
	oid, err := git.WriteTree(m.repo, entries)
	return slotDir{index: kept.index, oid: oid, entries: entries, meta: meta}, err
}

// compare orders two slots of one session by the length of their transcripts: in lines if both
// record them and differ in them, else in bytes.
func (m merger) compare(ctx context.Context, a, b slotDir) (int, error) {
	if a.meta.TranscriptLines > 0 && b.meta.TranscriptLines > 0 && a.meta.TranscriptLines != b.meta.TranscriptLines {
		return cmp.Compare(a.meta.TranscriptLines, b.meta.TranscriptLines), nil
	}
	if m.masked && a.meta.TranscriptLines > 0 && b.meta.TranscriptLines > 0 {
		return 0, nil
	}
	left, right := SegmentsIn(a.entries), SegmentsIn(b.entries)
	for len(left) > 0 && len(right) > 0 && left[0] == right[0] {
		left, right = left[1:], right[1:]
	}
	sizes, err := git.ObjectSizes(ctx, m.repo, slices.Concat(left, right))
	if err != nil {
		return 0, err
	}
	var sum [2]int64
	for i, size := range sizes {
		if i < len(left) {
			sum[0] += size
		} else {
			sum[1] += size
		}
	}
	return cmp.Compare(sum[0], sum[1]), nil
}
