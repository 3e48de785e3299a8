package attribution

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/linediff"
)

const (
	// maxTokens limits the tokens of a gap that are compared: a longer gap counts as replaced.
	maxTokens = 1 << 18
	// maxExact limits the table for tokens that are not unique, unless no run of them is.
	maxExact = 1 << 14
)

// comparison is the result of a comparison of two contents.
type comparison struct {
	a, b  []int
	gaps  []gap
	found map[int][]Part
}

// compare returns the differences between two contents, and the lines of b in them that are only
// formatted or moved, with the lines of a from which their tokens come.
//
// Where bytes differ, lines are compared by their tokens: all tokens of a formatted line are next to
// each other in a, and no token beside them was removed. Import statements are compared regardless
// of the order of their tokens. If most lines differ, equal lines may have become equal by chance, as
// after a change of the indentation: then only the tokens count, if those of all equal lines are found.
func (t *texts) compare(a, b []int) (gaps []gap, found map[int][]Part) {
	if slices.Equal(t.last.a, a) && slices.Equal(t.last.b, b) {
		return t.last.gaps, t.last.found
	}
	defer func() { t.last = comparison{a, b, gaps, found} }()
	gaps = align(a, b)
	found = map[int][]Part{}
	for _, g := range t.joined(b, gaps) {
		t.addFormatted(a, b, g, found)
	}
	if n := len(gaps); n > 1 {
		whole := gap{gaps[0].a, gaps[n-1].aEnd, gaps[0].b, gaps[n-1].bEnd}
		if more, ok := t.reformatted(a, b, whole, gaps, len(found)); ok {
			gaps, found = equalLines(a, b, whole, more), more
		}
	}
	t.addMoved(a, b, gaps, found)
	t.addImports(a, b, gaps, found)
	for i, parts := range found { // lines in gaps only
		if _, inGap := slices.BinarySearchFunc(gaps, i, func(g gap, i int) int {
			switch {
			case i >= g.bEnd:
				return -1
			case i < g.b:
				return 1
			}
			return 0
		}); !inGap || len(parts) == 0 {
			delete(found, i)
		}
	}
	return gaps, found
}

// joined joins gaps between which are no significant lines.
func (t *texts) joined(b []int, gaps []gap) []gap {
	var list []gap
	for _, g := range gaps {
		if n := len(list); n > 0 && !slices.ContainsFunc(b[list[n-1].bEnd:g.b], t.isSignificant) {
			list[n-1].aEnd, list[n-1].bEnd = g.aEnd, g.bEnd
		} else {
			list = append(list, g)
		}
	}
	return list
}

// reformatted compares a stretch of lines by tokens as a whole. It returns false unless that finds
// more lines than the comparison of its gaps, which found some, and all lines outside of them.
func (t *texts) reformatted(a, b []int, whole gap, gaps []gap, some int) (found map[int][]Part, ok bool) {
	inGaps, equal := 0, 0
	for i, next := whole.b, 0; i < whole.bEnd; i++ {
		for next < len(gaps) && i >= gaps[next].bEnd {
			next++
		}
		switch {
		case !t.isSignificant(b[i]):
		case next < len(gaps) && i >= gaps[next].b:
			inGaps++
		default:
			equal++
		}
	}
	if some == inGaps || inGaps < equal {
		return nil, false
	}
	found = map[int][]Part{}
	t.addFormatted(a, b, whole, found)
	missing := 0
	for next, i := 0, whole.b; i < whole.bEnd; i++ {
		for next < len(gaps) && i >= gaps[next].bEnd {
			next++
		}
		if _, known := found[i]; !known && t.isSignificant(b[i]) && (next == len(gaps) || i < gaps[next].b) {
			missing++
		}
	}
	return found, missing == 0 && len(found) > some+equal
}

// equalLines returns the gaps in a stretch between the lines that have all tokens of an equal line.
func equalLines(a, b []int, whole gap, found map[int][]Part) (gaps []gap) {
	at := gap{a: whole.a, b: whole.b}
	for i := whole.b; i <= whole.bEnd; i++ {
		line := whole.aEnd
		if parts := found[i]; i < whole.bEnd && (len(parts) != 1 || a[parts[0].Line] != b[i]) {
			continue
		} else if i < whole.bEnd {
			line = parts[0].Line
		}
		if line > at.a || i > at.b {
			gaps = append(gaps, gap{at.a, line, at.b, i})
		}
		at = gap{a: line + 1, b: i + 1}
	}
	return gaps
}

// addFormatted adds the lines of b in a gap that are only formatted.
func (t *texts) addFormatted(a, b []int, g gap, found map[int][]Part) {
	was, now := t.stream(a, g.a, g.aEnd), t.stream(b, g.b, g.bEnd)
	if len(was.words) == 0 || len(now.words) == 0 || len(was.words)+len(now.words) > maxTokens {
		return
	}
	from := make([]int, len(now.words)) // the places of the tokens in was
	for i := range from {
		from[i] = none
	}
	lost := make([]bool, len(was.words))
	at := gap{}
	gaps := append((&aligner{exact: maxExact}).align(was.words, now.words), gap{len(was.words), len(was.words), len(now.words), len(now.words)})
	for n, d := range gaps {
		before, after := d.b-at.bEnd, 0 // equal tokens beside the gap
		if n+1 < len(gaps) {
			after = gaps[n+1].b - d.bEnd
		}
		switch {
		case d.a == d.aEnd && d.b == d.bEnd:
		case d.a == d.aEnd:
			by := now.slide(d.b, d.bEnd, before, after)
			d = gap{d.a + by, d.a + by, d.b + by, d.bEnd + by}
		case d.b == d.bEnd:
			by := was.slide(d.a, d.aEnd, before, after)
			d = gap{d.a + by, d.aEnd + by, d.b + by, d.b + by}
		}
		for i := at.bEnd; i < d.b; i++ {
			from[i] = at.aEnd + i - at.bEnd
		}
		// What is replaced in the middle of a line counts for the new tokens only.
		isInside := d.b < d.bEnd && d.a > 0 && d.aEnd < len(was.lines) && was.lines[d.a-1] == was.lines[d.aEnd]
		for i := d.a; i < d.aEnd && !isInside; i++ {
			lost[i] = true
		}
		at = d
	}
	for start := 0; start < len(now.words); {
		line, end := now.lines[start], start
		for end < len(now.words) && now.lines[end] == line {
			end++
		}
		if parts := was.parts(from[start:end], lost); len(parts) > 0 && t.isSignificant(b[line]) {
			found[line] = parts
		}
		start = end
	}
}

// addMoved adds the long lines whose tokens occur in one removed and one added line of the gaps.
func (t *texts) addMoved(a, b []int, gaps []gap, found map[int][]Part) {
	olds, news := map[int][]int{}, map[int][]int{}
	for _, g := range gaps {
		for i := g.a; i < g.aEnd; i++ {
			if t.sizes[t.loose[a[i]]] >= linediff.LeastMoved {
				olds[t.form(a[i])] = append(olds[t.form(a[i])], i)
			}
		}
		for i := g.b; i < g.bEnd; i++ {
			if t.sizes[t.loose[b[i]]] >= linediff.LeastMoved {
				news[t.form(b[i])] = append(news[t.form(b[i])], i)
			}
		}
	}
	for form, at := range news {
		if from := olds[form]; len(at) == 1 && len(from) == 1 {
			found[at[0]] = []Part{{from[0], len(t.words(a[from[0]]))}}
		}
	}
}

// stream holds the tokens of lines, each with its line.
type stream struct{ words, lines []int }

// stream returns the tokens of lines of a content. Of consecutive lines with the same marker only
// the first has the marker's token, so that comments can be wrapped.
func (t *texts) stream(content []int, from, to int) stream {
	var s stream
	before := none
	for i := max(from-1, 0); i < to; i++ {
		words := t.words(content[i])
		marker := t.lines[content[i]].marker
		if marker != none && marker == before {
			words = words[1:]
		}
		before = marker
		if i < from {
			continue
		}
		for _, word := range words {
			s.words, s.lines = append(s.words, word), append(s.lines, i)
		}
	}
	return s
}

// slide returns how far tokens that only one content has can be moved, at most so far back and ahead,
// to begin at the start of a line: equal tokens before or behind them may be meant. It returns 0 if
// they can't.
func (s stream) slide(from, to, back, ahead int) int {
	begins := func(by int) bool {
		at := from + by
		return at == 0 || at < len(s.lines) && s.lines[at-1] != s.lines[at]
	}
	for by := 0; by <= back; by++ {
		if begins(-by) {
			return -by
		}
		if by == back || s.words[from-by-1] != s.words[to-by-1] {
			break
		}
	}
	for by := 0; by < ahead && s.words[from+by] == s.words[to+by]; by++ {
		if begins(by + 1) {
			return by + 1
		}
	}
	return 0
}

// parts returns the lines of the tokens at the places. It returns none if the places aren't
// consecutive, or if a token beside them, in one of their lines, was lost.
func (s stream) parts(places []int, lost []bool) []Part {
	var parts []Part
	for i, place := range places {
		if place == none || i > 0 && place != places[i-1]+1 {
			return nil
		}
		if n := len(parts); n > 0 && parts[n-1].Line == s.lines[place] {
			parts[n-1].Tokens++
		} else {
			parts = append(parts, Part{s.lines[place], 1})
		}
	}
	first, last := places[0], places[len(places)-1]
	if first > 0 && lost[first-1] && s.lines[first-1] == s.lines[first] ||
		last+1 < len(lost) && lost[last+1] && s.lines[last+1] == s.lines[last] {
		return nil
	}
	return parts
}

// addImports adds the lines of import statements whose names are all in import statements that the
// gaps replace. The names of these must all be in the new ones.
func (t *texts) addImports(a, b []int, gaps []gap, found map[int][]Part) {
	olds, news := make([]int, 0, len(gaps)), make([]int, 0, len(gaps))
	for _, g := range gaps {
		olds, news = append(olds, t.imports(a, g.a, g.aEnd)...), append(news, t.imports(b, g.b, g.bEnd)...)
	}
	if len(olds) == 0 || len(news) == 0 {
		return
	}
	holders, left := map[int][]int{}, map[int]bool{} // lines of a by name, names in b
	for _, i := range olds {
		for _, name := range t.names(a[i]) {
			holders[name] = append(holders[name], i)
		}
	}
	for _, i := range news {
		for _, name := range t.names(b[i]) {
			left[name] = true
		}
	}
	changed := map[int]bool{}
	for _, i := range olds {
		changed[i] = slices.ContainsFunc(t.names(a[i]), func(name int) bool { return !left[name] })
	}
	for _, i := range news {
		if _, known := found[i]; known {
			continue
		}
		shared := map[int]int{} // names of the line by line of a
		isNew := false
		for _, name := range t.names(b[i]) {
			isNew = isNew || len(holders[name]) == 0
			for _, line := range holders[name] {
				shared[line]++
				isNew = isNew || changed[line]
			}
		}
		if isNew || len(shared) == 0 {
			continue
		}
		parts := make([]Part, 0, len(shared))
		for line, n := range shared {
			parts = append(parts, Part{line, n})
		}
		slices.SortFunc(parts, func(p, q Part) int { return p.Line - q.Line })
		isWhole := func(p Part) bool { return p.Tokens == len(t.names(b[i])) }
		if slices.ContainsFunc(parts, isWhole) {
			parts = slices.DeleteFunc(parts, func(p Part) bool { return !isWhole(p) })
		}
		found[i] = parts
	}
}

// imports returns the lines of import statements among the lines of a content.
func (t *texts) imports(content []int, from, to int) []int {
	const back = 100 // lines before, in which a statement may begin
	var found []int
	depth, goesOn := 0, false
	for i := max(0, from-back); i < to; i++ {
		text := strings.TrimSpace(t.lines[content[i]].text)
		if depth == 0 && !goesOn && !isImport(text) {
			continue
		}
		if i >= from {
			found = append(found, i)
		}
		depth = max(0, depth+strings.Count(text, "(")+strings.Count(text, "{")-strings.Count(text, ")")-strings.Count(text, "}"))
		goesOn = strings.HasSuffix(text, `\`)
	}
	return found
}

// isImport reports whether a line begins a statement that imports something.
func isImport(line string) bool {
	for _, keyword := range []string{"import", "from", "use", "pub use", "using", "#include", "# include", "require", "require_relative"} {
		if rest, ok := strings.CutPrefix(line, keyword); ok && rest != "" && strings.ContainsAny(rest[:1], " \t(\"'<{*") {
			return true
		}
	}
	return strings.Contains(line, "= require(")
}

// names returns the tokens of a line of an import statement, without keywords and punctuation.
func (t *texts) names(line int) []int {
	var names []int
	for _, word := range t.words(line) {
		if !t.isKeyword(word) {
			names = append(names, word)
		}
	}
	return names
}

func (t *texts) isKeyword(word int) bool {
	for _, keyword := range []string{"import", "from", "use", "pub", "using", "require", "include", "as", "#mark", `"`, ".", ":", "/", "<", ">"} {
		if id, known := t.tokens[keyword]; known && id == word {
			return true
		}
	}
	return false
}
