package attribution

import (
	"bytes"
	"maps"
	"unicode"
)

// Share measures how much of a commit's additions to a file an author wrote. Lines that many files
// have, such as brackets and imports, are not counted, unless the commit adds no other lines.
type Share struct {
	// Added is the number of lines that the commit adds to the file.
	Added int
	// Wrote is the number of the author's lines in the last state that the author made. Kept is the
	// number of those that the commit adds.
	Wrote, Kept int
	// Removed is the number of lines that the author removed, without a replacement, and the commit
	// removes.
	Removed int
}

// Counts reports whether the file is the author's share of the commit: at least
// a quarter of the added lines are the author's, or at least half of the
// author's lines are added.
func (s Share) Counts() bool {
	const quarter, half = 4, 2
	return s.Kept > 0 && (quarter*s.Kept >= s.Added || half*s.Kept >= s.Wrote)
}

// IsCopy reports whether the author wrote at least half of the added lines. It is used for files
// with another name than the author gave them.
func (s Share) IsCopy() bool {
	const half = 2
	return s.Kept > 0 && half*s.Kept >= s.Added
}

// Shares returns the shares of all authors but Person. It follows the lines as
// Attribute does. Without Hunks it compares Base and Final itself.
func (f File) Shares() map[Author]Share {
	h := newHistory(f)
	added, removed := make([]bool, len(h.final)), make([]bool, len(h.base))
	if f.Hunks == nil {
		for _, g := range align(h.base, h.final) {
			mark(added, span{g.b, g.bEnd})
			mark(removed, span{g.a, g.aEnd})
		}
	} else {
		added = addedBy(f.Hunks, len(h.final))
		for _, k := range f.Hunks {
			mark(removed, oldSpan(k))
		}
	}
	h.continueFrom(added)
	common := h.texts.common(h.final)
	total, all := 0, 0 // among the lines that the commit adds
	for i := range h.final {
		if added[i] {
			all++
			if !common[i] {
				total++
			}
		}
	}
	countsAll := total == 0
	if countsAll {
		total = all
	}
	wrote := map[Author]int{}
	h.run(func(s State) {
		common := h.texts.common(h.at)
		now := h.written(func(i int) bool { return countsAll || !common[i] })
		if s.Known != nil {
			maps.Copy(wrote, now)
		}
		wrote[s.By] = now[s.By]
	})
	kept := h.written(func(i int) bool { return added[i] && (countsAll || !common[i]) })
	gone := map[Author]int{}
	for i, fate := range h.fates {
		if removed[i] && fate.gone && !fate.replaced && h.texts.isSignificant(h.base[i]) {
			gone[fate.by]++
		}
	}
	shares := map[Author]Share{}
	for by, n := range wrote {
		if by != Person {
			shares[by] = Share{Added: total, Wrote: n, Kept: kept[by], Removed: gone[by]}
		}
	}
	return shares
}

// written counts the lines of the current state by author.
func (h *history) written(counts func(i int) bool) map[Author]int {
	n := map[Author]int{}
	for i, o := range h.now {
		if o.base == none && counts(i) {
			n[o.by]++
		}
	}
	return n
}

// Significant reports whether a line has more than white space, brackets and
// the punctuation that follows them.
func Significant(line []byte) bool {
	return bytes.ContainsFunc(line, func(c rune) bool {
		return !unicode.IsSpace(c) && !bytes.ContainsRune([]byte("()[]{},;"), c)
	})
}
