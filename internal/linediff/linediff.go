// Package linediff compares two texts by lines.
package linediff

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Op is a run of lines.
type Op struct {
	Kind  Kind
	Lines int
}

// Kind is the effect of a diff on lines. It is the first byte of such lines in a unified diff.
type Kind byte

// The kinds.
const (
	Kept    Kind = ' '
	Removed Kind = '-'
	Added   Kind = '+'
)

// Effort bounds the time of a comparison.
type Effort int

// The efforts. Up to a number of lines that occur in both texts the result is the shortest diff;
// above, it is the best one found within a time limit.
const (
	Thorough Effort = iota // for commands: 20,000 lines, 2 seconds
	Quick                  // for hooks: 4,000 lines, 20 milliseconds
)

// maxLines is the number of lines between the first and the last difference above which all of them
// count as replaced. Each takes about 100 bytes of memory.
const maxLines = 400_000

// Compare returns the runs of lines that turn a into b, in order: removed lines before added lines,
// and no two consecutive runs of one kind. Only the lines between the first and the last difference
// take memory.
func Compare(a, b string, effort Effort) []Op {
	head := commonHead(a, b)
	tail := commonTail(a[head:], b[head:])
	var ops script
	ops.add(Kept, Count(a[:head]))
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if n, m := Count(x), Count(y); n == 0 || m == 0 || n+m > maxLines {
		ops.add(Removed, n)
		ops.add(Added, m)
	} else {
		ops.compare(x, y, effort)
	}
	ops.add(Kept, Count(a[len(a)-tail:]))
	return ops
}

// WholeLines returns text with a newline at its end, or text itself if it is empty.
func WholeLines(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

// Count returns the number of lines of a text; the last one may lack its newline.
func Count(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// Totals returns the number of added and removed lines.
func Totals(ops []Op) (added, removed int) {
	for _, op := range ops {
		switch op.Kind {
		case Added:
			added += op.Lines
		case Removed:
			removed += op.Lines
		case Kept:
		}
	}
	return added, removed
}

type script []Op

func (s *script) add(kind Kind, lines int) {
	switch last := len(*s) - 1; {
	case lines == 0:
	case last >= 0 && (*s)[last].Kind == kind:
		(*s)[last].Lines += lines
	default:
		*s = append(*s, Op{kind, lines})
	}
}

// compare adds the difference of two texts. A line that only one of them has is never a kept line,
// so only the other lines are compared.
func (s *script) compare(a, b string, effort Effort) {
	d := diffmatchpatch.New()
	x, y, _ := d.DiffLinesToRunes(a, b)
	inX, atX := shared(x, y)
	inY, atY := shared(y, x)
	d.DiffTimeout = 0
	exact, longest := 20_000, 2*time.Second //nolint:mnd // as documented at the efforts
	if effort == Quick {
		exact, longest = 4000, 20*time.Millisecond //nolint:mnd // as documented
	}
	if len(inX)+len(inY) > exact {
		d.DiffTimeout = longest
	}
	i, j := 0, 0 // lines consumed of x and y
	for _, part := range d.DiffMainRunes(inX, inY, false) {
		n := utf8.RuneCountInString(part.Text)
		switch part.Type {
		case diffmatchpatch.DiffDelete:
			atX = atX[n:]
		case diffmatchpatch.DiffInsert:
			atY = atY[n:]
		case diffmatchpatch.DiffEqual:
			for k := range n {
				s.add(Removed, atX[k]-i)
				s.add(Added, atY[k]-j)
				s.add(Kept, 1)
				i, j = atX[k]+1, atY[k]+1
			}
			atX, atY = atX[n:], atY[n:]
		}
	}
	s.add(Removed, len(x)-i)
	s.add(Added, len(y)-j)
}

// shared returns the lines that the other text has, too, and their numbers from 0.
func shared(lines, other []rune) (in []rune, at []int) {
	has := make(map[rune]struct{}, len(other))
	for _, line := range other {
		has[line] = struct{}{}
	}
	for n, line := range lines {
		if _, ok := has[line]; ok {
			in, at = append(in, line), append(at, n)
		}
	}
	return in, at
}

// commonHead returns the length of the complete lines at the beginning of both texts.
func commonHead(a, b string) int {
	n, limit := 0, min(len(a), len(b))
	for n < limit && a[n] == b[n] {
		n++
	}
	if n == len(a) && n == len(b) {
		return n
	}
	return strings.LastIndexByte(a[:n], '\n') + 1
}

// commonTail returns the length of the complete lines at the end of both texts.
func commonTail(a, b string) int {
	n, limit := 0, min(len(a), len(b))
	for n < limit && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	// The tail begins after a newline in both texts, or is a whole text.
	for ; n > 0; n-- {
		if startsLine(a, len(a)-n) && startsLine(b, len(b)-n) {
			break
		}
	}
	return n
}

func startsLine(text string, at int) bool { return at == 0 || text[at-1] == '\n' }

// LeastMoved is the minimum number of letters and digits in a block of lines that counts as moved:
// shorter ones may be equal by chance. Git has the same limit.
const LeastMoved = 20

// Letters returns the number of letters and digits in a text.
func Letters(text string) int {
	n := 0
	for _, c := range text {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			n++
		}
	}
	return n
}
