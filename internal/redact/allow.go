package redact

import (
	"bytes"
	"slices"
	"strings"
)

// candidate is a match that is checked against the allowlists.
type candidate struct {
	secret, match, line []byte
	where               place
}

// isAllowed reports whether allowlist i allows the candidate.
func (r *finder) isAllowed(i int, c *candidate, l *lines) bool {
	list := &allowlists[i]
	if len(list.stopwords) > 0 && hasStopword(list.stopwords, string(bytes.ToLower(c.secret))) {
		return true
	}
	if list.expr == "" {
		return false
	}
	switch list.target {
	case targetSecret:
		return len(c.secret) > 0 && r.allowed[i].get(list.expr).Match(c.secret)
	case targetMatch:
		return len(c.match) > 0 && r.allowed[i].get(list.expr).Match(c.match)
	case targetLine:
	}
	// A long line may hold many candidates, so the last result is cached.
	if c.where.last {
		return r.textAllowed(i, c, l)
	}
	if l.asked == c.where.span && l.list == i {
		return l.answer
	}
	l.asked, l.list, l.answer = c.where.span, i, false
	possible := len(list.needs) == 0 || slices.ContainsFunc(list.needs, func(s string) bool {
		return bytes.Contains(c.line, []byte(s))
	})
	if possible && len(c.line) > 0 {
		l.answer = r.allowed[i].get(list.expr).Match(c.line)
	}
	return l.answer
}

// textAllowed is isAllowed for a candidate on the last line. That line begins at the start
// of the text, see locate, and its end differs between candidates, so the text is searched
// once.
func (r *finder) textAllowed(i int, c *candidate, l *lines) bool {
	first, known := l.whole[i]
	if !known {
		if loc := r.allowed[i].get(allowlists[i].expr).FindIndex(l.text); loc != nil {
			first = span{loc[0], loc[1]}
		}
		if l.whole == nil {
			l.whole = make(map[int]span)
		}
		l.whole[i] = first
	}
	return first.end > 0 && first.end <= c.where.end
}

// hasStopword reports whether one of the sorted words is in s. Because no word is part of
// another, the only word that can be a prefix of a text is the last one that is not
// greater.
func hasStopword(words []string, s string) bool {
	for i := range len(s) {
		at, exact := slices.BinarySearch(words, s[i:])
		if exact || at > 0 && strings.HasPrefix(s[i:], words[at-1]) {
			return true
		}
	}
	return false
}
