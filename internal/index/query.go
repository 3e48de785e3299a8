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
// a prefix of a word. joined are the words with identifiers of several parts as one word each, if
// there are any.
type term struct {
	words, joined []string
	prefix        bool
}

// parse parses a query. Any text is valid.
func parse(text string) []term {
	var terms []term
	add := func(piece string, prefix bool) {
		t := term{prefix: prefix}
		spans := slices.Collect(wordsOf(piece))
		spans = spans[:min(len(spans), mostParts)]
		for _, s := range spans {
			t.words = append(t.words, s.word)
		}
		for rest := spans; len(rest) > 0; {
			parts, whole := joinedFrom(rest)
			if whole != "" {
				t.joined = append(t.joined, whole)
			} else {
				for _, s := range rest[:parts] {
					t.joined = append(t.joined, s.word)
				}
			}
			rest = rest[parts:]
		}
		if len(t.joined) == len(t.words) {
			t.joined = nil
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
		star := ""
		if t.prefix {
			star = "*"
		}
		phrase := func(words []string) string { return `"` + strings.Join(words, " ") + `"` + star } // words have no quotes
		if len(t.joined) > 0 {
			b.WriteString("(" + phrase(t.words) + " OR " + phrase(t.joined) + ")")
		} else {
			b.WriteString(phrase(t.words))
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
	words := slices.Collect(wordsOf(text))
	for _, t := range terms {
		n := 0
		for i := range words {
			parts := t.at(words[i:])
			if parts == 0 {
				continue
			}
			n++
			if len(places) < limit {
				places = append(places, match{words[i].start, words[i+parts-1].end})
			}
		}
		if n > 0 {
			found++
		}
	}
	slices.SortFunc(places, func(a, b match) int { return a.start - b.start })
	return places, found
}

// at returns the number of words at the beginning of words that match the term, 0 if they don't.
func (t term) at(words []span) int {
	if n := t.matching(t.words, words); n > 0 || len(t.joined) == 0 {
		return n
	}
	return t.matching(t.joined, words)
}

// matching returns the number of words at the beginning of words that match the wanted ones, 0 if
// they don't.
func (t term) matching(wanted []string, words []span) int {
	n := 0
	for i, w := range wanted {
		if n == len(words) {
			return 0
		}
		isWord := func(word string) bool {
			return word == w || t.prefix && i == len(wanted)-1 && strings.HasPrefix(word, w)
		}
		if isWord(words[n].word) {
			n++
			continue
		}
		parts, whole := joinedFrom(words[n:])
		if words[n].joined || whole == "" || !isWord(whole) {
			return 0
		}
		n += parts
	}
	return n
}
