package attribution

import (
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/linediff"
)

// markKept marks lines that the diff only formats, moves or indents as unsure. Moved and indented
// lines are significant lines that it removes as often as it adds them, ignoring surrounding white
// space. Those that another hunk removes count only as a block.
func (h *history) markKept(hunks []git.Hunk, all Lines) {
	_, formatted := h.texts.compare(h.base, h.final)
	removed, added := h.count(h.base, all.Removed), h.count(h.final, all.Added)
	next := 0
	for _, k := range hunks {
		here := map[int]bool{}
		for i := oldSpan(k).from; i < min(oldSpan(k).to, len(h.base)); i++ {
			here[h.texts.loose[h.base[i]]] = true
		}
		var block []int // places in all.Added
		size := 0
		end := func() {
			for _, i := range block {
				all.Added[i].Unsure = all.Added[i].Unsure || size >= linediff.LeastMoved
			}
			block, size = nil, 0
		}
		for ; next < len(all.Added) && all.Added[next].Number < newSpan(k).to; next++ {
			line := all.Added[next].Number
			if line < len(h.final) && len(formatted[line]) > 0 {
				all.Added[next].Unsure = true
			}
			if line >= len(h.final) || !h.texts.isSignificant(h.final[line]) {
				continue
			}
			text := h.texts.loose[h.final[line]]
			switch {
			case removed[text] == 0 || removed[text] != added[text]:
				end()
			case here[text]:
				all.Added[next].Unsure = true
			default:
				block = append(block, next)
				size += h.texts.sizes[text]
			}
		}
		end()
	}
}

// count counts the lines of a diff by their texts, ignoring surrounding white space.
func (h *history) count(content []int, lines []Line) map[int]int {
	n := make(map[int]int, len(lines))
	for _, l := range lines {
		if l.Number < len(content) {
			n[h.texts.loose[content[l.Number]]]++
		}
	}
	return n
}
