package attribution

import (
	"cmp"
	"slices"
)

// maxTable limits the table for lines that are not unique: in a longer stretch only runs of lines
// that are unique count.
const maxTable = 1 << 20

// gap is a difference between two contents: lines a to aEnd of the first were replaced by lines b
// to bEnd of the second.
type gap struct{ a, aEnd, b, bEnd int }

// align returns the differences between two contents, in order. Lines that occur once in both are
// fixed points; between them the longest common sequence counts. Its time is bounded, and its
// result depends only on the contents.
func align(a, b []int) []gap { return (&aligner{exact: maxTable}).align(a, b) }

func (al *aligner) align(a, b []int) []gap {
	al.between(a, b, 0, 0)
	var gaps []gap
	at := gap{}
	for _, m := range append(al.matches, match{len(a), len(b)}) {
		if m.a > at.a || m.b > at.b {
			gaps = append(gaps, gap{at.a, m.a, at.b, m.b})
		}
		at = gap{a: m.a + 1, b: m.b + 1}
	}
	return gaps
}

// match is a pair of equal lines.
type match struct{ a, b int }

type aligner struct {
	matches []match
	// exact is the size of a table above which runs of lines that are unique are fixed points.
	exact int
}

// between matches the lines of two stretches that begin at atA and atB.
func (al *aligner) between(a, b []int, atA, atB int) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		al.matches = append(al.matches, match{atA, atB})
		a, b, atA, atB = a[1:], b[1:], atA+1, atB+1
	}
	tail := 0
	for tail < min(len(a), len(b)) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	endA, endB := len(a)-tail, len(b)-tail
	// The remaining stretches neither begin nor end with equal lines.
	a, b = a[:endA], b[:endB]
	if len(a) > 0 && len(b) > 0 {
		al.apart(a, b, atA, atB)
	}
	for i := range tail {
		al.matches = append(al.matches, match{atA + endA + i, atB + endB + i})
	}
}

// apart matches the lines of two stretches that neither begin nor end with equal lines: exactly, or
// if they are long, between fixed points.
func (al *aligner) apart(a, b []int, atA, atB int) {
	fixed := anchors(a, b)
	if len(fixed) == 0 && len(a) > al.exact/(len(b)+1) {
		fixed = slices.DeleteFunc(anchors(runs(a), runs(b)), func(m match) bool { return a[m.a] != b[m.b] })
	}
	if len(fixed) == 0 {
		al.table(a, b, atA, atB)
		return
	}
	from := match{}
	for _, m := range append(fixed, match{len(a), len(b)}) {
		al.between(a[from.a:m.a], b[from.b:m.b], atA+from.a, atB+from.b)
		if m.a < len(a) {
			al.matches = append(al.matches, match{atA + m.a, atB + m.b})
		}
		from = match{m.a + 1, m.b + 1}
	}
}

// anchors returns the longest run of lines that occur once in a and once in b and have the same
// order in both.
func anchors(a, b []int) []match {
	type places struct{ a, b, inA, inB int }
	at := make(map[int]places, len(a))
	for i, line := range a {
		p := at[line]
		p.a, p.inA = i, p.inA+1
		at[line] = p
	}
	for i, line := range b {
		if p, ok := at[line]; ok {
			p.b, p.inB = i, p.inB+1
			at[line] = p
		}
	}
	var unique []match
	for i, line := range a {
		if p := at[line]; p.inA == 1 && p.inB == 1 {
			unique = append(unique, match{i, p.b})
		}
	}
	return increasing(unique)
}

// runs returns a number for each run of eight lines that is equal for equal runs.
func runs(lines []int) []int {
	const length, factor = 8, 1000003
	if len(lines) < length {
		return nil
	}
	numbers := make([]int, len(lines)-length+1)
	for i := range numbers {
		for _, line := range lines[i : i+length] {
			numbers[i] = numbers[i]*factor + line
		}
	}
	return numbers
}

// increasing returns the longest run of matches, sorted by a, that is sorted by
// b too.
func increasing(list []match) []match {
	var ends []int // ends[n]: the match that ends the best run of n+1
	before := make([]int, len(list))
	for i, m := range list {
		n, _ := slices.BinarySearchFunc(ends, m.b, func(end, b int) int { return cmp.Compare(list[end].b, b) })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	run := make([]match, len(ends))
	for n, i := len(ends)-1, ends[len(ends)-1]; n >= 0; n, i = n-1, before[i] {
		run[n] = list[i]
	}
	return run
}

// table matches the longest common sequence of two short stretches.
func (al *aligner) table(a, b []int, atA, atB int) {
	width := len(b) + 1
	if len(a) > maxTable/width || !share(a, b) {
		return
	}
	longest := make([]int32, (len(a)+1)*width)
	for i, line := range slices.Backward(a) {
		for j, other := range slices.Backward(b) {
			if line == other {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			al.matches = append(al.matches, match{atA + i, atB + j})
			i, j = i+1, j+1
		case longest[(i+1)*width+j] >= longest[i*width+j+1]:
			i++
		default:
			j++
		}
	}
}
