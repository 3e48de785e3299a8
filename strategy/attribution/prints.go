package attribution

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/linediff"
)

// PrintedLine is a line of a file that is known by its fingerprint. Number counts from 1.
type PrintedLine struct {
	Number int
	Print  uint32
	// Letters is the number of letters and digits of a line that can identify its writer, 0 for a line
	// that many files have, such as a bracket.
	Letters int
}

// Identifying returns the number of letters and digits of a line that can identify its writer, 0 if
// many files have the line.
func Identifying(line string) int {
	line = strings.TrimSpace(line)
	if !Significant([]byte(line)) || isCommon(line) {
		return 0
	}
	return linediff.Letters(line)
}

// Followed is a line of a record that another commit adds. Number is the record's number of the line,
// 0 if no line was found, and Letters are those of the identifying lines found around it and of itself.
type Followed struct{ Number, Letters int }

const (
	// leastCopied is the number of identifying letters that two files of different names, or single
	// lines of one file, must share. It is git's for copied lines.
	leastCopied = 40
	// leastSingle is the least number of letters of a single line that other lines of the file confirm,
	// leastWhole that of a record that is found whole.
	leastSingle = 6
	leastWhole  = 10
)

// Evidence is what is known about a record and a commit besides their lines in one file.
type Evidence struct {
	// SameName reports that both files have the same name, in any folder, or that the commit renames the
	// record's file.
	SameName bool
	// Confirmed reports that the commit has lines of the checkpoint, in this file or another one.
	Confirmed bool
}

// AllLetters is more than the letters of any lines: the evidence of equal files.
const AllLetters = 1 << 30

// FollowPrints finds lines that a record has in the lines that a commit adds, and returns one
// Followed for each of these. The Letters of was are ignored. A line that the commit's parent had, given
// by had, identifies nothing.
//
// Lines belong together if they follow one another in both. Such a run is found if its identifying
// lines have 20 letters and digits; 10, if all lines of the record are found; or six, if 40 are found in
// the file or the checkpoint is confirmed. If the record is one of a file of another name, a run needs 40,
// unless at least half of the record's lines are found with 40 letters, or all of them and the checkpoint is
// confirmed.
func FollowPrints(was, now []PrintedLine, had map[uint32]bool, e Evidence) []Followed {
	found := make([]Followed, len(now))
	pairs := pairPrints(was, now)
	if len(pairs) == 0 {
		return found
	}
	inWas, inNow := countPrints(was), countPrints(now)
	letters := func(m match) int {
		if p := now[m.b].Print; had[p] || inNow[p] > inWas[p] {
			return 0
		}
		return now[m.b].Letters
	}
	all, lines := 0, 0
	for _, m := range pairs {
		if n := letters(m); n > 0 {
			all, lines = all+n, lines+1
		}
	}
	least := linediff.LeastMoved
	switch {
	case e.SameName && (e.Confirmed || all >= leastCopied):
		least = leastSingle
	case e.SameName && len(pairs) == len(was):
		least = leastWhole
	case e.SameName, e.Confirmed && len(pairs) == len(was):
	case 2*lines < len(was) || all < leastCopied: //nolint:mnd // half
		least = leastCopied
	}
	for len(pairs) > 0 {
		end, sum := 1, letters(pairs[0])
		for ; end < len(pairs) && follows(was, now, pairs[end-1], pairs[end]); end++ {
			sum += letters(pairs[end])
		}
		if sum >= least {
			for _, m := range pairs[:end] {
				found[m.b] = Followed{was[m.a].Number, sum}
			}
		}
		pairs = pairs[end:]
	}
	return found
}

// follows reports whether the lines of m are directly after those of before, in both files.
func follows(was, now []PrintedLine, before, m match) bool {
	return m.a == before.a+1 && m.b == before.b+1 &&
		was[m.a].Number == was[before.a].Number+1 && now[m.b].Number == now[before.b].Number+1
}

// pairPrints pairs equal lines, in the order of now: those in the same order in both, then those that
// were moved, if both have the line once more.
func pairPrints(was, now []PrintedLine) []match {
	a, b := make([]int, len(was)), make([]int, len(now))
	for i, l := range was {
		a[i] = int(l.Print)
	}
	for i, l := range now {
		b[i] = int(l.Print)
	}
	var pairs, unpaired []match
	at := gap{}
	for _, g := range append(align(a, b), gap{len(a), len(a), len(b), len(b)}) {
		for i := at.bEnd; i < g.b; i++ {
			pairs = append(pairs, match{at.aEnd + i - at.bEnd, i})
		}
		for i := g.b; i < g.bEnd; i++ {
			unpaired = append(unpaired, match{-1, i})
		}
		at = g
	}
	places := map[int][]int{} // of unpaired lines of a
	isPaired := make([]bool, len(a))
	for _, m := range pairs {
		isPaired[m.a] = true
	}
	for i, line := range a {
		if !isPaired[i] {
			places[line] = append(places[line], i)
		}
	}
	left := map[int]int{} // unpaired lines of b
	for _, m := range unpaired {
		left[b[m.b]]++
	}
	for _, m := range unpaired {
		if from := places[b[m.b]]; len(from) == 1 && left[b[m.b]] == 1 {
			pairs = append(pairs, match{from[0], m.b})
		}
	}
	slices.SortFunc(pairs, func(m, n match) int { return m.b - n.b })
	return pairs
}

func countPrints(lines []PrintedLine) map[uint32]int {
	n := make(map[uint32]int, len(lines))
	for _, l := range lines {
		n[l.Print]++
	}
	return n
}
