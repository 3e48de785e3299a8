package attribution

import (
	"cmp"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/linediff"
)

// none is a line number that refers to no line.
const none = -1

// origin records where a line comes from.
type origin struct {
	// base is the number of the line in the base, none if it was written since.
	base int
	source
	// over is the line of the base that it replaced, none if it replaced none.
	over     int
	modified bool
}

// source records who wrote a line, and how.
type source struct {
	by Author
	Origin
}

// standsFor returns the line of the base that this line is or that it replaced, none if neither.
func (o origin) standsFor() int { return max(o.base, o.over) }

// fate records the removal of a line of the base.
type fate struct {
	gone     bool
	by       Author
	replaced bool
}

// history follows the lines of a file through its states.
type history struct {
	texts       *texts
	base, final []int
	rest        State // the step from the last state to the commit
	steps       []State
	lines       [][]int // of steps
	// earlier marks the long lines of earlier commits that the base lacks, by their trimmed texts.
	earlier map[int]bool

	reached
	passed []reached
	// losses records the last removal of each significant line, by its text.
	losses map[int]loss
}

// loss is the removal of a line.
type loss struct {
	origin
	remover source
	// several reports that several lines with the same text were removed.
	several bool
}

// reached is a state with the origins of its lines.
type reached struct {
	at    []int    // its lines
	now   []origin // where its lines come from
	fates []fate   // of the lines of base
	last  Author   // who made the last change
}

func newHistory(f File) *history {
	t := newTexts(f.Base, f.Final)
	h := &history{texts: t, base: t.split(f.Base), final: t.split(f.Final), rest: State{By: f.By, Turn: f.Turn, Early: true, Unproven: f.Unproven}}
	for _, s := range f.States {
		h.steps = append(h.steps, s)
		h.lines = append(h.lines, t.split(s.Content))
	}
	h.earlier = map[int]bool{}
	for _, content := range f.Earlier {
		for _, line := range t.split(content) {
			if t.sizes[t.loose[line]] >= linediff.LeastMoved {
				h.earlier[t.loose[line]] = true
			}
		}
	}
	for _, line := range h.base {
		delete(h.earlier, t.loose[line])
	}
	// The content of the worktree is skipped if git's filters change it completely: then it has no
	// line in common with the states before and after, which share lines with each other.
	var steps []State
	var lines [][]int
	before := h.base
	for i, s := range h.steps {
		after := h.final
		if i+1 < len(h.steps) {
			after = h.lines[i+1]
		}
		if s.Raw && !share(before, h.lines[i]) && !share(h.lines[i], after) && share(before, after) {
			continue
		}
		steps, lines = append(steps, s), append(lines, h.lines[i])
		before = h.lines[i]
	}
	h.steps, h.lines = steps, lines
	return h
}

// continueFrom drops the states after the one that the commit continues from: the committed content
// may have been staged before the last state. It chooses the state with the most lines added by the
// commit; of several, the last.
func (h *history) continueFrom(added []bool) {
	if len(h.steps) == 0 {
		return
	}
	best := len(h.steps) - 1
	fewest := h.missing(best, added)
	for i := best; i >= 0 && fewest > 0; i-- {
		if n := h.missing(i, added); n < fewest {
			fewest, best = n, i
		}
		if h.steps[i].Known != nil {
			break // a commit that this one replaces: all uncommitted changes are later
		}
	}
	h.steps, h.lines = h.steps[:best+1], h.lines[:best+1]
}

// addedBy marks the lines of a file that the hunks add.
func addedBy(hunks []git.Hunk, lines int) []bool {
	added := make([]bool, lines)
	for _, k := range hunks {
		mark(added, newSpan(k))
	}
	return added
}

// missing returns the number of lines added by the commit that a state lacks, at any position.
func (h *history) missing(state int, added []bool) int {
	has := make(map[int]int, len(h.lines[state]))
	for _, line := range h.lines[state] {
		has[line]++
	}
	for i, line := range h.final {
		if !added[i] {
			has[line]--
		}
	}
	n := 0
	for i, line := range h.final {
		if !added[i] {
			continue
		}
		if has[line]--; has[line] < 0 {
			n++
		}
	}
	return n
}

// run steps from the base through all states to the commit. It calls passed after each state except
// the commit.
func (h *history) run(passed func(State)) {
	h.reached = reached{at: h.base, now: make([]origin, len(h.base)), fates: make([]fate, len(h.base)), last: h.rest.By}
	for i := range h.now {
		h.now[i] = origin{base: i, over: none}
	}
	for i, s := range h.steps {
		h.step(h.lines[i], s)
		passed(s)
	}
	h.step(h.final, h.rest)
}

// step advances to the next state. If that equals an earlier state, the origins of that state are
// restored: a revert writes no lines. The lines that it removes are recorded as lost all the same,
// because they may have been moved to another file.
func (h *history) step(to []int, s State) {
	h.passed = append(h.passed, h.reached)
	now := h.now
	gaps, formatted := h.texts.compare(h.at, to)
	kept := h.moved(now, to, gaps, s)
	// Lines that are only moved are recorded as lost, too.
	if h.losses == nil {
		h.losses = map[int]loss{}
	}
	seen := map[int]bool{}
	for _, g := range gaps {
		for i := g.a; i < g.aEnd; i++ {
			if text := h.texts.loose[h.at[i]]; h.texts.counts[h.at[i]] {
				h.losses[text] = loss{now[i], source{s.By, Origin{Turn: s.Turn}}, seen[text]}
				seen[text] = true
			}
		}
	}
	for _, before := range slices.Backward(h.passed) {
		if s.Known == nil && slices.Equal(before.at, to) {
			h.reached = before
			return
		}
	}
	h.now, h.fates = make([]origin, 0, len(to)), slices.Clone(h.fates)
	at := 0
	h.addFormatted(kept, now, formatted, s)
	for _, g := range gaps {
		h.fill(kept, to, g)
		h.now = append(h.now, now[at:g.a]...)
		h.now = append(h.now, h.change(now[g.a:g.aEnd], to, g, s, kept)...)
		at = g.aEnd
		h.last = s.By
	}
	h.now = append(h.now, now[at:]...)
	h.at = to
}

// moved returns the origins of lines that a step only moves or indents, by their position in to:
// significant lines that were written since the base and occur in the gaps as often before as after
// the step, ignoring surrounding white space. Lines of the base get an unsure source if they are
// long, and none if they are short. The same applies to a long line that the turn of the step has
// removed in an earlier step.
func (h *history) moved(now []origin, to []int, gaps []gap, s State) map[int]origin {
	lost, found := map[int][]source{}, map[int][]int{}
	for _, g := range gaps {
		for i := g.a; i < g.aEnd; i++ {
			line := h.at[i]
			text := h.texts.loose[line]
			switch {
			case !h.texts.counts[line]:
			case now[i].base == none:
				lost[text] = append(lost[text], now[i].source)
			case h.texts.sizes[text] >= linediff.LeastMoved:
				lost[text] = append(lost[text], source{s.By, Origin{Turn: s.Turn, Unsure: true}})
			}
		}
		for i := g.b; i < g.bEnd; i++ {
			found[h.texts.loose[to[i]]] = append(found[h.texts.loose[to[i]]], i)
		}
	}
	moved := map[int]origin{}
	for text, sources := range lost {
		if len(found[text]) != len(sources) {
			continue
		}
		for n, i := range found[text] {
			moved[i] = origin{base: none, over: none, source: sources[n]}
		}
	}
	left := map[int]bool{}
	if len(h.losses) > 0 {
		for _, line := range h.at {
			left[h.texts.loose[line]] = true
		}
	}
	for text, places := range found {
		l, isLost := h.losses[text]
		isMove := isLost && !l.several && len(places) == 1 && l.remover.by == s.By && l.remover.Turn == s.Turn && s.Turn != ""
		if !isMove || left[text] || h.texts.sizes[text] < linediff.LeastMoved {
			continue
		}
		from := l.source
		if l.base != none {
			from = source{s.By, Origin{Turn: s.Turn, Unsure: true}}
		}
		moved[places[0]] = origin{base: none, over: none, source: from}
	}
	return moved
}

// addFormatted adds the origins of lines that a step only formats, by their position in it: that of
// the line from which most of their tokens come. The origin is unsure if most come from the base, or
// if no author has most of them.
func (h *history) addFormatted(kept map[int]origin, now []origin, formatted map[int][]Part, s State) {
	for i, parts := range formatted {
		if _, known := kept[i]; known {
			continue
		}
		all := 0
		tokens := map[Author]int{}
		ofBase := 0
		for _, p := range parts {
			all += p.Tokens
			if now[p.Line].base != none {
				ofBase += p.Tokens
			} else {
				tokens[now[p.Line].by] += p.Tokens
			}
		}
		o := origin{base: none, over: none, source: source{s.By, Origin{Turn: s.Turn, Unsure: true}}}
		most := 0
		for _, p := range parts {
			from := now[p.Line]
			if from.base == none && 2*tokens[from.by] > all && p.Tokens > most { //nolint:mnd // more than half
				o, most = origin{base: none, over: none, source: from.source, modified: from.modified}, p.Tokens
				o.Text = cmp.Or(o.Text, h.texts.lines[h.at[p.Line]].text)
			}
		}
		kept[i] = o
	}
}

// fill adds the lines of a gap without words to the kept ones if the line before them is one, or if
// they begin the gap and the first line with words is one.
func (h *history) fill(kept map[int]origin, to []int, g gap) {
	before, known := origin{}, false
	for i := g.b; i < g.bEnd && !known; i++ {
		if h.texts.isSignificant(to[i]) {
			if before, known = kept[i]; !known {
				break
			}
		}
	}
	for i := g.b; i < g.bEnd; i++ {
		o, isKept := kept[i]
		switch {
		case isKept || h.texts.isSignificant(to[i]):
			before, known = o, isKept
		case known:
			kept[i] = origin{base: none, over: none, source: before.source, modified: before.modified}
		}
	}
}

// change returns the origins of the new lines of a gap. Each of them replaces an old line as long
// as there are any. kept holds the origins of lines that are only moved, indented or formatted.
func (h *history) change(olds []origin, to []int, g gap, s State, kept map[int]origin) []origin {
	lines := make([]origin, g.bEnd-g.b)
	for i := range lines {
		o := origin{base: none, over: none, source: source{s.By, Origin{Turn: s.Turn, Unproven: s.Unproven}}}
		if s.Known != nil {
			if by, ok := s.Known.Written[g.b+i]; ok {
				o.by = by
			}
			if from, ok := s.Known.Origins[g.b+i]; ok {
				o.Origin = from
			}
		}
		o.Unsure = o.Unsure || s.Unsure || s.Early && h.earlier[h.texts.loose[to[g.b+i]]]
		replacer := o.by
		if from, ok := kept[g.b+i]; ok && (s.Known == nil || o.Unsure) {
			o.source, o.modified = from.source, from.modified
		}
		if i < len(olds) {
			// Replacing a line of one's own is not a modification.
			old := olds[i]
			o.over = old.standsFor()
			o.modified = o.modified || old.base != none || old.by != o.by || old.modified
			h.lose(o.over, fate{gone: true, by: replacer, replaced: true})
		}
		if s.Known != nil {
			o.modified = o.modified || s.Known.Modified[g.b+i]
		}
		lines[i] = o
	}
	for _, old := range olds[min(len(lines), len(olds)):] {
		line := old.standsFor()
		by := s.By
		if s.Known != nil {
			if known, ok := s.Known.Removed[line]; ok {
				by = known
			}
		}
		h.lose(line, fate{gone: true, by: by})
	}
	return lines
}

func (h *history) lose(line int, f fate) {
	if line != none {
		h.fates[line] = f
	}
}

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
