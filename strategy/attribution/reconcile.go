package attribution

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
)

// reconcile assigns an author to each line of git's diff. If several lines are equal, git may
// report another of them as added or removed than the states do: such a line gets the author of its
// double, or without a double that of its nearest neighbor in the hunk. Lines with a neighbor's
// author and lines that were only moved or indented are marked as unsure.
func (h *history) reconcile(hunks []git.Hunk) Lines {
	added, removed := make([]bool, len(h.final)), make([]bool, len(h.base))
	for _, k := range hunks {
		mark(added, newSpan(k))
		mark(removed, oldSpan(k))
	}
	swapDoubles(h.now, h.final, added, func(o origin) bool { return o.base == none })
	swapDoubles(h.fates, h.base, removed, func(f fate) bool { return f.gone })
	isWritten := func(i int) bool { return i < len(h.now) && h.now[i].base == none }
	isGone := func(i int) bool { return i < len(h.fates) && h.fates[i].gone }
	// Lines that the file had several times are omitted.
	left := map[string]bool{}
	if len(h.losses) > 0 {
		for _, line := range h.final {
			left[Form([]byte(h.texts.lines[line].text))] = true
		}
	}
	var gone []Gone
	for text, id := range h.texts.trimmed {
		if l, lost := h.losses[id]; lost && !l.several && !left[Form([]byte(text))] {
			gone = append(gone, Gone{Text: text, By: l.by, Origin: l.Origin, Base: l.base != none, Remover: l.remover.by, RemoverTurn: l.remover.Turn})
		}
	}
	slices.SortFunc(gone, func(a, b Gone) int { return strings.Compare(a.Text, b.Text) })
	all := Lines{Gone: gone}
	for _, k := range hunks {
		now, was := newSpan(k), oldSpan(k)
		for i := now.from; i < now.to; i++ {
			line := Line{Number: i, By: h.last, Modified: i-now.from < k.OldLines}
			if n, ok := nearest(i, now, isWritten); ok {
				line.By, line.Origin = h.now[n].by, h.now[n].Origin
				if n == i {
					line.Modified = h.now[n].modified
				} else if i < len(h.final) && h.texts.isSignificant(h.final[i]) {
					line.Origin = Origin{Unsure: true}
				}
			}
			all.Added = append(all.Added, line)
		}
		for i := was.from; i < was.to; i++ {
			line := Line{Number: i, By: h.last, Modified: i-was.from < k.NewLines}
			if n, ok := nearest(i, was, isGone); ok {
				line.By = h.fates[n].by
				if n == i {
					line.Modified = h.fates[n].replaced
				}
			} else if n, ok := nearest(now.from, now, isWritten); ok {
				line.By = h.now[n].by
			}
			all.Removed = append(all.Removed, line)
		}
	}
	h.markKept(hunks, all)
	return all
}

// span is a stretch of lines, from 0.
type span struct{ from, to int }

func newSpan(k git.Hunk) span { return span{k.New - 1, k.New - 1 + k.NewLines} }
func oldSpan(k git.Hunk) span { return span{k.Old - 1, k.Old - 1 + k.OldLines} }

func mark(lines []bool, s span) {
	for i := s.from; i < s.to && i < len(lines); i++ {
		lines[i] = true
	}
}

// swapDoubles exchanges lines that are in git's diff but were not made by a state for equal lines
// that were made by one and are not in the diff.
func swapDoubles[T any](items []T, lines []int, inDiff []bool, isMade func(T) bool) {
	doubles := map[int][]int{}
	for i, item := range items {
		if !inDiff[i] && isMade(item) {
			doubles[lines[i]] = append(doubles[lines[i]], i)
		}
	}
	for i, item := range items {
		same := doubles[lines[i]]
		if inDiff[i] && !isMade(item) && len(same) > 0 {
			items[i], items[same[0]] = items[same[0]], item
			doubles[lines[i]] = same[1:]
		}
	}
}

// nearest returns the nearest line to i in the span for which is returns true, within a distance of
// 1000 lines.
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
