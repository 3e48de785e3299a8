package index

import (
	"slices"
	"strings"
	"unicode"
)

const (
	// mostTerms is the maximum number of terms of a query, mostParts that of words of a
	// term.
	mostTerms = 24
	mostParts = 24
)

// term is a word or phrase of a query: consecutive words. If prefix is set, the last one is
// a prefix of a word.
type term struct {
	words  []string
	prefix bool
}

// parse parses a query. Any text is valid.
func parse(text string) []term {
	var terms []term
	add := func(piece string, prefix bool) {
		t := term{prefix: prefix}
		for s := range wordsOf(piece) {
			if len(t.words) < mostParts {
				t.words = append(t.words, s.word)
			}
		}
		known := func(o term) bool { return t.prefix == o.prefix && slices.Equal(t.words, o.words) }
		if len(t.words) > 0 && len(terms) < mostTerms && !slices.ContainsFunc(terms, known) {
			terms = append(terms, t)
		}
	}
	for text != "" {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if phrase, found := strings.CutPrefix(text, `"`); found {
			inner, rest, closed := strings.Cut(phrase, `"`)
			star := closed && strings.HasPrefix(rest, "*")
			add(inner, star)
			text = rest
			continue
		}
		end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
		if end < 0 {
			end = len(text)
		}
		add(text[:end], strings.HasSuffix(text[:end], "*"))
		text = text[end:]
	}
	return terms
}

// expression returns the terms as an FTS5 query on the columns of the wanted kinds, or all
// if there are none.
func expression(terms []term, wanted []Kind) string {
	var b strings.Builder
	if len(wanted) > 0 {
		b.WriteByte('{')
		for i, k := range wanted {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(k.String())
		}
		b.WriteString("} : ")
	}
	b.WriteByte('(')
	for i, t := range terms {
		if i > 0 {
			b.WriteString(" AND ")
		}
		b.WriteString(`"` + strings.Join(t.words, " ") + `"`) // words have no quotes
		if t.prefix {
			b.WriteByte('*')
		}
	}
	b.WriteByte(')')
	return b.String()
}

// match is the position of a term in a text, in bytes.
type match struct{ start, end int }

// find returns the positions of the terms in a text, at most limit, and the number of terms
// found.
func find(text string, terms []term, limit int) (places []match, found int) {
	var words []span
	for s := range wordsOf(text) {
		words = append(words, s)
	}
	for _, t := range terms {
		n := 0
		for i := 0; i+len(t.words) <= len(words); i++ {
			if !t.at(words[i:]) {
				continue
			}
			n++
			if len(places) < limit {
				places = append(places, match{words[i].start, words[i+len(t.words)-1].end})
			}
		}
		if n > 0 {
			found++
		}
	}
	slices.SortFunc(places, func(a, b match) int { return a.start - b.start })
	return places, found
}

// at reports whether words begins with the term.
func (t term) at(words []span) bool {
	for i, w := range t.words {
		last := t.prefix && i == len(t.words)-1
		if words[i].word != w && (!last || !strings.HasPrefix(words[i].word, w)) {
			return false
		}
	}
	return true
}
