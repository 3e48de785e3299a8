package attribution

import (
	"github.com/seed-3aff656d/entire/internal/git/gitdiff"
)

// reconcile gives each line of git's diff its author. Where several lines are
// equal, git may take another of them for the one that was added or removed
// than the states record: such a line gets the author of its double, one without
// a double that of its nearest neighbour in the hunk. Nobody wrote such a line, nor one
// that was only moved or indented: they are unsure.
func (h *history) reconcile(hunks []gitdiff.Hunk) Lines {
	added, removed := make([]bool, len(h.final)), make([]bool, len(h.base))
	for _, k := range hunks {
		mark(added, newSpan(k))
		mark(removed, oldSpan(k))
	}
	h.swapAdded(added)
	h.swapRemoved(removed)
	all := Lines{Gone: h.gone()}
	for _, k := range hunks {
		all.Added = append(all.Added, h.addedIn(k)...)
		all.Removed = append(all.Removed, h.removedIn(k)...)
	}
	h.markKept(hunks, all)
	return all
}

// span is a stretch of lines, from 0.
type span struct{ from, to int }

func newSpan(k gitdiff.Hunk) span { return span{k.New - 1, k.New - 1 + k.NewLines} }
func oldSpan(k gitdiff.Hunk) span { return span{k.Old - 1, k.Old - 1 + k.OldLines} }

func mark(lines []bool, s span) {
	for i := s.from; i < s.to && i < len(lines); i++ {
		lines[i] = true
	}
}

// swapAdded exchanges lines that git has as added and nobody wrote for equal
// ones that have an author and that git has as old.
func (h *history) swapAdded(added []bool) {
	written := map[int][]int{}
	for i, o := range h.now {
		if !added[i] && o.base == none {
			written[h.final[i]] = append(written[h.final[i]], i)
		}
	}
	for i, o := range h.now {
		doubles := written[h.final[i]]
		if added[i] && o.base != none && len(doubles) > 0 {
			h.now[i], h.now[doubles[0]] = h.now[doubles[0]], o
			written[h.final[i]] = doubles[1:]
		}
	}
}

// swapRemoved does the same for removed lines.
func (h *history) swapRemoved(removed []bool) {
	lost := map[int][]int{}
	for i, f := range h.fates {
		if !removed[i] && f.gone {
			lost[h.base[i]] = append(lost[h.base[i]], i)
		}
	}
	for i, f := range h.fates {
		doubles := lost[h.base[i]]
		if removed[i] && !f.gone && len(doubles) > 0 {
			h.fates[i], h.fates[doubles[0]] = h.fates[doubles[0]], f
			lost[h.base[i]] = doubles[1:]
		}
	}
}

func (h *history) addedIn(k gitdiff.Hunk) []Line {
	s := newSpan(k)
	lines := make([]Line, 0, k.NewLines)
	for i := s.from; i < s.to; i++ {
		line := Line{Number: i, By: h.last, Modified: i-s.from < k.OldLines}
		if n, ok := nearest(i, s, func(j int) bool { return j < len(h.now) && h.now[j].base == none }); ok {
			line.By, line.Origin = h.now[n].by, h.now[n].Origin
			if n == i {
				line.Modified = h.now[n].modified
			} else if i < len(h.final) && h.texts.isSignificant(h.final[i]) {
				line.Origin = Origin{Unsure: true}
			}
		}
		lines = append(lines, line)
	}
	return lines
}

func (h *history) removedIn(k gitdiff.Hunk) []Line {
	s, other := oldSpan(k), newSpan(k)
	lines := make([]Line, 0, k.OldLines)
	for i := s.from; i < s.to; i++ {
		line := Line{Number: i, By: h.last, Modified: i-s.from < k.NewLines}
		if n, ok := nearest(i, s, func(j int) bool { return j < len(h.fates) && h.fates[j].gone }); ok {
			line.By = h.fates[n].by
			if n == i {
				line.Modified = h.fates[n].replaced
			}
		} else if n, ok := nearest(other.from, other, func(j int) bool { return j < len(h.now) && h.now[j].base == none }); ok {
			line.By = h.now[n].by
		}
		lines = append(lines, line)
	}
	return lines
}

// nearest returns the line of the span nearest to i that is what is searched for,
// if there is one not too far away.
func nearest(i int, s span, is func(int) bool) (int, bool) {
	const far = 1000
	for d := range min(s.to-s.from, far) {
		for _, j := range []int{i - d, i + d} {
			if j >= s.from && j < s.to && is(j) {
				return j, true
			}
		}
	}
	return 0, false
}
