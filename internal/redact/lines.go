package redact

import (
	"bytes"
	"slices"

	"github.com/seed-3aff656d/entire/internal/redact/ownrules"
)

// lines finds the lines of a text in which something matched.
type lines struct {
	text   []byte
	breaks []int

	// The last result for a line, for many findings in one long line.
	asked  span
	list   int
	answer bool

	whole map[int]span // the first match of an allowlist in the whole text
}

// lineBreaks adds the places of the line breaks of text to breaks.
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

// place is the line, or lines, of a match as gitleaks reckons them.
type place struct {
	line int // number of the first line
	span
	last bool // it is the last line, which begins where the text does
}

// locate finds the line of the match [begin, end) the way gitleaks does. Its
// lines begin with the line break before them, and behind the last line break
// it takes the whole text for the line. Allowlists depend on it.
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
