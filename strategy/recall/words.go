package recall

import (
	"maps"
	"strings"
	"unicode"
)

// Words finds the words of texts.
type Words struct{ lexicon *lexicon }

// NewWords reads the word lists.
func NewWords() Words { return Words{theLexicon()} }

// Of returns the words of a text that have a meaning of their own, in lower case and without endings,
// with its identifiers and the names of files.
func (w Words) Of(text string) map[string]bool {
	found := w.All(text)
	maps.DeleteFunc(found, func(word string, _ bool) bool { return w.lexicon.common[word] })
	return found
}

// All returns the words of Of, and those that could occur in most requests to an agent.
func (w Words) All(text string) map[string]bool {
	t := w.lexicon.parse(text[:min(len(text), maxPrompt)])
	found := map[string]bool{}
	for _, words := range [][]string{t.words, t.identifiers, t.paths} {
		for _, word := range words {
			found[word] = true
		}
	}
	return found
}

// NamesSubject reports whether a request names what it is about: it is a plan, or has at least three
// words with a meaning of their own, or a file or an identifier. "commit this" and "yes" do not.
func (w Words) NamesSubject(request string) bool {
	const least = 3
	l := w.lexicon
	t := l.parse(request[:min(len(request), maxPrompt)])
	return IsPlan(request) || len(t.paths)+len(t.identifiers) > 0 || len(t.words) >= least && !l.confirms(t)
}

// Supports returns a function that reports whether a source has what a statement says: all of its
// paths, identifiers and numbers, and two thirds of its other words. What a source supports may still be
// wrong; what it doesn't support was made up.
func Supports(source string) func(statement string) bool {
	l := theLexicon()
	has := map[string]bool{}
	for rest := source; rest != ""; {
		piece := rest[:min(len(rest), maxPrompt)]
		if at := strings.LastIndexAny(piece, " \n"); at > 0 && len(piece) < len(rest) {
			piece = piece[:at]
		}
		rest = rest[len(piece):]
		for w := range l.parse(piece).counts {
			has[w] = true
		}
		for _, n := range numbersIn(piece) {
			has[n] = true
		}
	}
	return func(statement string) bool {
		t := l.parse(statement[:min(len(statement), maxPrompt)])
		for _, list := range [][]string{t.paths, t.identifiers, t.hashes, numbersIn(statement)} {
			for _, w := range list {
				if !has[w] {
					return false
				}
			}
		}
		const share, of = 2, 3
		found := 0
		for _, w := range t.words {
			if has[w] {
				found++
			}
		}
		return found*of >= share*len(t.words)
	}
}

func numbersIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsDigit(r) })
}
