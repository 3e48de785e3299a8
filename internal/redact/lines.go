package redact

import (
	"bytes"
	"slices"

	"github.com/seed-3aff656d/entire/internal/redact/ownrules"
)

// lines locates the lines of matches in a text.
type lines struct {
	text   []byte
	breaks []int

	// The cached allowlist result for a line, for many findings in one long line.
	asked  span
	list   int
	answer bool

	whole map[int]span // the first match of an allowlist in the whole text
}

// lineBreaks appends the indexes of the line breaks of text to breaks.
func lineBreaks(breaks []int, text []byte) []int {
	for i := 0; ; {
		n := bytes.IndexByte(text[i:], '\n')
		if n < 0 {
			return breaks
		}
		breaks = append(breaks, i+n)
		i += n + 1
	}
}

// span is a range of bytes.
type span struct{ begin, end int }

func spanOf(s ownrules.Span) span { return span{s.Begin, s.End} }

// place is the line, or lines, of a match as computed by gitleaks.
type place struct {
	line int // number of the first line
	span
	last bool // the last line, which begins at the start of the text
}

// locate returns the line of the match [begin, end) as gitleaks computes it: a line begins
// with the line break before it, and the line of a match after the last line break begins
// at the start of the text. The results of allowlists depend on this.
func (l *lines) locate(begin, end int) place {
	if len(l.breaks) == 0 {
		return place{span: span{0, len(l.text)}}
	}
	first, _ := slices.BinarySearch(l.breaks, begin+1) // the first break after begin
	if first == len(l.breaks) {
		p := place{line: first, span: span{0, end}, last: true}
		if n := bytes.IndexAny(l.text[end:], "\r\n"); n >= 0 {
			p.end += n
		} else {
			p.end = len(l.text)
		}
		return p
	}
	p := place{line: first, span: span{0, l.breaks[first]}}
	if first > 0 {
		p.begin = l.breaks[first-1]
	}
	if last, _ := slices.BinarySearch(l.breaks, end); last < len(l.breaks) {
		p.end = l.breaks[last]
	}
	p.end = max(p.end, end)
	return p
}
