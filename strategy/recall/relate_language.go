package recall

import "unicode"

// language is a language or a script, empty if unknown.
type language string

// script is a group of scripts.
type script int

const (
	otherScript script = iota
	latin
	cyrillic
	unseparated // words are not separated by spaces
)

func scriptOf(r rune) script {
	switch {
	case unicode.Is(unicode.Latin, r):
		return latin
	case unicode.Is(unicode.Cyrillic, r):
		return cyrillic
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer):
		return unseparated
	default:
		return otherScript
	}
}

// findLanguage returns the language of a text by its stop words, or "unseparated" or
// "other" for scripts other than Latin and Cyrillic. A text with too few stop words has
// none.
func (t *textWords) findLanguage() language {
	const least, share = 2, 4
	switch {
	case t.scripts[unseparated]*share > t.scripts[latin]:
		return "unseparated"
	case t.scripts[otherScript] > t.scripts[latin]:
		return "other"
	}
	counts := map[language]int{}
	for _, w := range t.all {
		for _, l := range t.lexicon.stop[w] {
			counts[l]++
		}
	}
	best := language("")
	for l, n := range counts {
		if n > counts[best] || n == counts[best] && l < best {
			best = l
		}
	}
	if counts[best] < least {
		return ""
	}
	return best
}
