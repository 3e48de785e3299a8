package checkpoint

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
)

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
