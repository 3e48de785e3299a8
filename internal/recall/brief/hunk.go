package brief

import (
	"fmt"
	"slices"
	"strings"
)

// The bounds of a comparison: beyond, what differs counts as one change, which
// no brief has room for anyway.
const (
	maxEdits   = 600
	aroundHunk = 3 // unchanged lines around a change
	maxGone    = 6 // removed lines that are shown of a run
)

// hunk is a change with the lines around it, as in a unified diff.
type hunk struct {
	from, to [2]int // the first line of both from 0, and how many
	lines    []string
}

// String is the hunk with its head, each line with its end.
func (h *hunk) String() string {
	return fmt.Sprintf("@@ -%s +%s @@\n%s", extent(h.from), extent(h.to), strings.Join(h.lines, ""))
}

// extent is where lines are: the line before, where there are none.
func extent(e [2]int) string {
	if e[1] == 0 {
		return fmt.Sprintf("%d,0", e[0])
	}
	return fmt.Sprintf("%d,%d", e[0]+1, e[1])
}

// edit is a run of lines that differ: those of a from i to before k, of b from
// j to before l.
type edit struct{ i, k, j, l int }

// hunks compares two texts by lines.
func hunks(before, now string) []hunk {
	a, b := splitLines(before), splitLines(now)
	edits := compareLines(a, b)
	var list []hunk
	for n := 0; n < len(edits); {
		m := n + 1
		for m < len(edits) && edits[m].i-edits[m-1].k <= 2*aroundHunk {
			m++
		}
		list = append(list, makeHunk(a, b, edits[n:m]))
		n = m
	}
	return list
}

func makeHunk(a, b []string, edits []edit) hunk {
	first, last := edits[0], edits[len(edits)-1]
	lead, trail := min(aroundHunk, first.i), min(aroundHunk, len(a)-last.k)
	h := hunk{
		from: [2]int{first.i - lead, last.k + trail - first.i + lead},
		to:   [2]int{first.j - lead, last.l + trail - first.j + lead},
	}
	at := first.i - lead
	for _, e := range edits {
		h.add(" ", a[at:e.i])
		gone := a[e.i:e.k]
		if len(gone) > maxGone+1 {
			h.add("-", gone[:maxGone])
			h.lines = append(h.lines, fmt.Sprintf("\\ %d more removed lines\n", len(gone)-maxGone))
		} else {
			h.add("-", gone)
		}
		h.add("+", b[e.j:e.l])
		at = e.k
	}
	h.add(" ", a[at:at+trail])
	return h
}

func (h *hunk) add(mark string, lines []string) {
	for _, line := range lines {
		if !strings.HasSuffix(line, "\n") {
			line += "\n\\ No newline at end of file\n"
		}
		h.lines = append(h.lines, mark+line)
	}
}

// splitLines splits a text after each line end.
func splitLines(text string) []string {
	return slices.Collect(strings.Lines(text))
}

// compareLines finds what differs, in the order of lines: the shortest way from
// a to b, as Myers finds it, if it has at most maxEdits lines.
func compareLines(a, b []string) []edit {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(x) == 0 && len(y) == 0 {
		return nil
	}
	trace := furthest(x, y)
	if trace == nil {
		return []edit{{i: head, k: head + len(x), j: head, l: head + len(y)}}
	}
	list := backtrack(trace, len(x), len(y))
	for n := range list {
		e := &list[n]
		e.i, e.k, e.j, e.l = e.i+head, e.k+head, e.j+head, e.l+head
	}
	return list
}

// furthest is, for each number d of changed lines, how far on each diagonal k
// from -d to d one gets in x with them, up to the end of both; nil if that takes
// too many.
func furthest(x, y []string) [][]int {
	reach := []int{0}
	var trace [][]int
	for d := 0; d <= min(maxEdits, len(x)+len(y)); d++ {
		next := make([]int, 2*d+1)
		for k := -d; k <= d; k += 2 {
			i := step(reach, d, k)
			for j := i - k; i < len(x) && j < len(y) && x[i] == y[j]; j++ {
				i++
			}
			next[k+d] = i
			if i >= len(x) && i-k >= len(y) {
				return append(trace, next)
			}
		}
		trace, reach = append(trace, next), next
	}
	return nil
}

// step is where the dth change leads to on diagonal k, from what d-1 reached.
func step(reach []int, d, k int) int {
	if d == 0 {
		return 0
	}
	if down(reach, d, k) {
		return reach[k+1+d-1]
	}
	return reach[k-1+d-1] + 1
}

// down says that the way to diagonal k is an added line, not a removed one.
func down(reach []int, d, k int) bool {
	return k == -d || k != d && reach[k-1+d-1] < reach[k+1+d-1]
}

// backtrack makes the edits of the way that was found.
func backtrack(trace [][]int, i, j int) []edit {
	var list []edit
	for d := len(trace) - 1; d > 0; d-- {
		k, reach := i-j, trace[d-1]
		var e edit
		if down(reach, d, k) {
			pi := reach[k+1+d-1]
			pj := pi - k - 1
			e = edit{i: pi, k: pi, j: pj, l: pj + 1}
		} else {
			pi := reach[k-1+d-1]
			pj := pi - k + 1
			e = edit{i: pi, k: pi + 1, j: pj, l: pj}
		}
		i, j = e.i, e.j
		if n := len(list) - 1; n >= 0 && list[n].i == e.k && list[n].j == e.l {
			list[n].i, list[n].j = e.i, e.j
			continue
		}
		list = append(list, e)
	}
	slices.Reverse(list)
	return list
}
