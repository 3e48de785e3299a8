package recall

import (
	_ "embed"
	"slices"
	"strings"
	"unicode"
)

// words.txt holds the word lists, one per line, each preceded by its name.
//
//go:embed words.txt
var wordLists string

// The lists that do not belong to a language.
const (
	commonList   = "common"   // words that could occur in most requests to an agent
	continueList = "continue" // words that ask to continue
	hereList     = "here"     // phrases that ask to continue the work of the current branch
	presentList  = "present"  // phrases for the current branch
	confirmList  = "confirm"  // words that only confirm or choose
)

// lexicon holds the word lists for one verdict.
type lexicon struct {
	stop                          map[string][]language
	common, continues, confirming map[string]bool
	// phrases are the entries of continueList with several words, here those of hereList,
	// present those of presentList.
	phrases, here, present []string
}

func newLexicon() *lexicon {
	l := &lexicon{stop: map[string][]language{}, common: map[string]bool{}, continues: map[string]bool{}, confirming: map[string]bool{}}
	for line := range strings.Lines(wordLists) {
		name, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for w := range strings.FieldsSeq(list) {
			switch name {
			case commonList:
				l.common[stemmed(w)] = true
			case continueList:
				if strings.Contains(w, "_") {
					l.phrases = append(l.phrases, strings.ReplaceAll(w, "_", " "))
				} else {
					l.continues[w] = true
				}
			case hereList:
				l.here = append(l.here, strings.ReplaceAll(w, "_", " "))
			case presentList:
				l.present = append(l.present, strings.ReplaceAll(w, "_", " "))
			case confirmList:
				l.confirming[w] = true
			default:
				l.stop[w] = append(l.stop[w], language(name))
			}
		}
	}
	return l
}

// continuing reports whether a prompt asks to continue: whether its first words, or all
// words of a short prompt, include a word or phrase for that. Phrases such as "the pull
// request" or "the tests" refer to the current branch, and count only if the work was done
// on it.
func (l *lexicon) continuing(t *textWords, sameBranch bool) bool {
	const few, first = 10, 4
	begin := t.all
	if len(begin) > few {
		begin = begin[:first]
	}
	for _, w := range begin {
		if l.continues[w] {
			return true
		}
	}
	if hasPhrase(begin, l.phrases) || sameBranch && hasPhrase(begin, l.here) {
		return true
	}
	for _, w := range begin { // scripts that don't separate words
		for known := range l.continues {
			if scriptOf([]rune(known)[0]) == unseparated && strings.Contains(w, known) {
				return true
			}
		}
	}
	return false
}

func hasPhrase(words, phrases []string) bool {
	line := " " + strings.Join(words, " ") + " "
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(line, " "+p+" ") })
}

// confirms reports whether a prompt only confirms or chooses: it has few words, all of them
// in the list, numbers or single letters.
func (l *lexicon) confirms(t *textWords) bool {
	const few = 5
	if len(t.all)+len(t.numbers) == 0 || len(t.all) > few || len(t.paths)+len(t.identifiers) > 0 {
		return false
	}
	for _, w := range t.all {
		const letter = 1
		if !l.confirming[w] && !isNumber(w) && len(w) > letter {
			return false
		}
	}
	return true
}

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
