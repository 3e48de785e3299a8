package recall

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// words.txt holds the word lists, one per line, each preceded by its name. An entry with
// underscores is a phrase.
//
//go:embed words.txt
var wordLists string

// The lists; any other has the words of a language that have no meaning of their own.
const (
	commonList     = "common"   // words that could occur in most requests to an agent
	fillerList     = "filler"   // words before what a prompt asks for
	continueList   = "continue" // starts of prompts that ask to continue
	beforeList     = "before"   // phrases for what the agent did or said before
	hereList       = "here"     // phrases for the work of the current branch
	presentList    = "present"  // phrases for the current branch
	backList       = "back"     // words that refer back
	stillList      = "still"    // words for what was so before
	beginList      = "begin"    // words that refer back at the start of a prompt
	pronounList    = "pronoun"
	lastList       = "last" // pronouns at the end of a prompt
	beforeLastList = "preposition"
	endList        = "end"     // what is asked for at the end of a turn
	askingList     = "asking"  // words that begin a question
	confirmList    = "confirm" // words that only confirm or choose
	goList         = "go"      // words that only confirm together with one of confirmList
	yesList        = "yes"     // first words of replies
	planList       = "plan"    // nouns for a plan
	stepList       = "step"    // nouns for a part of a plan, before a number
	requestList    = "request" // words that a prompt about a pull request has
	thingList      = "thing"   // common words for what a request may be about
	wideList       = "wide"    // words of requests that are about more than one piece of work
	greetingList   = "greeting"
	failList       = "fail"  // words for a failure
	carryList      = "carry" // words of a request to carry out a plan
)

// lexicon holds the word lists. It is not changed.
type lexicon struct {
	// frequent has the words of common that are not stemmed.
	stop, common, frequent map[string]bool
	// lists are the other lists by name, phrases their entries with several words.
	lists   map[string]map[string]bool
	phrases map[string][]string
}

var theLexicon = sync.OnceValue(newLexicon) //nolint:gochecknoglobals // made once, when it is needed

func newLexicon() *lexicon {
	l := &lexicon{stop: map[string]bool{}, common: map[string]bool{}, frequent: map[string]bool{}, lists: map[string]map[string]bool{}, phrases: map[string][]string{}}
	for line := range strings.Lines(wordLists) {
		name, list, _ := strings.Cut(strings.TrimSpace(line), ": ")
		words := l.stop
		switch name {
		case commonList:
			words = l.common
		case fillerList, continueList, beforeList, hereList, presentList, backList, stillList, beginList, pronounList, lastList, beforeLastList, endList, askingList,
			confirmList, goList, yesList, planList, stepList, requestList, thingList, wideList, greetingList, failList, carryList:
			words = map[string]bool{}
			l.lists[name] = words
		}
		for w := range strings.FieldsSeq(list) {
			switch {
			case name == commonList:
				words[stemmed(w)], l.frequent[w] = true, true
			case strings.Contains(w, "_"):
				l.phrases[name] = append(l.phrases[name], strings.ReplaceAll(w, "_", " "))
			default:
				words[w] = true
				switch name {
				case fillerList, continueList, backList, stillList, beginList, yesList, confirmList:
					l.common[stemmed(w)] = true
				}
			}
		}
	}
	return l
}

// knows reports whether a word is in a list of words that occur in any text.
func (l *lexicon) knows(w string) bool {
	return l.stop[w] || l.frequent[w] || l.lists[backList][w] || l.lists[stillList][w]
}

// The numbers of words up to which phrases and words anywhere in a prompt count; in a longer one
// only those at its start do.
const (
	short = 12
	begin = 6
)

// asked returns the words of a prompt without those before what it asks for.
func (l *lexicon) asked(t *textWords) []string {
	words := t.all
	for len(words) > 1 && l.lists[fillerList][words[0]] {
		words = words[1:]
	}
	return words
}

// head returns all words of a short prompt, or those at its start.
func head(words []string) []string {
	if len(words) <= short {
		return words
	}
	return words[:begin]
}

// beginsWith reports whether the words begin with an entry of a list.
func (l *lexicon) beginsWith(words []string, list string) bool {
	if len(words) == 0 {
		return false
	}
	line := strings.Join(words[:min(len(words), begin)], " ") + " "
	return l.lists[list][words[0]] || slices.ContainsFunc(l.phrases[list], func(p string) bool { return strings.HasPrefix(line, p+" ") })
}

// has reports whether the words have an entry of a list.
func (l *lexicon) has(words []string, list string) bool {
	line := " " + strings.Join(words, " ") + " "
	return slices.ContainsFunc(words, func(w string) bool { return l.lists[list][w] }) ||
		slices.ContainsFunc(l.phrases[list], func(p string) bool { return strings.Contains(line, " "+p+" ") })
}

// continuing reports whether a prompt asks to continue: whether it begins with a word or phrase
// for that, ends with "commit" or the like, has a phrase for what the agent did or said before, or
// is short and names nothing, or hardly anything and refers back. topical reports whether the work
// of the branch is that of the context, about the number of names and words of the prompt that say
// what it is about, unknown those of them that the context lacks.
func (l *lexicon) continuing(t *textWords, topical bool, about, unknown int) bool {
	const few, bare = 2, 3 // names and words; words that leave no room for a subject
	asked, isShort := l.asked(t), len(t.all) <= short
	switch {
	case l.beginsWith(asked, continueList), l.beginsWith(t.all, continueList):
		return true
	case isShort && l.has(t.all[len(t.all)-1:], endList) && !l.has(t.all[:1], askingList) && !slices.Contains(t.all, "a"):
		return true
	case l.has(head(t.all), beforeList):
		return true
	case topical && (l.has(head(t.all), hereList) || l.has(head(t.all), presentList)):
		return true
	case isShort && unknown <= few && l.back(t) > 0:
		return true
	case isShort && about == 0 && !l.has(t.all, greetingList) && !l.has(t.all, wideList) && (len(t.all) <= bare || !l.has(t.all[:1], askingList)):
		return topical || !l.has(t.all, thingList) && !slices.ContainsFunc(t.all, isArticle)
	case isShort && (unknown == 0 || len(t.all) <= bare) && l.has(t.all, stillList):
		return true
	}
	return len(t.all) <= begin && slices.ContainsFunc(t.all, func(w string) bool { // scripts that don't separate words
		first, _ := utf8.DecodeRuneInString(w)
		if scriptOf(first) != unseparated {
			return false
		}
		for known := range l.lists[continueList] {
			if first, _ := utf8.DecodeRuneInString(known); scriptOf(first) == unseparated && strings.Contains(w, known) {
				return true
			}
		}
		return false
	})
}

// back returns how many signs of reference to something before a prompt has, up to two: a first
// word such as "and" and, if it is short, a word such as "still" and a pronoun for which it has no
// noun.
func (l *lexicon) back(t *textWords) int {
	n := 0
	if l.beginsWith(t.all, beginList) {
		n++
	}
	if last := len(t.all) - 1; last >= 0 && last < short {
		const early = 4 // words before which a prompt has no noun
		at := slices.IndexFunc(t.all, func(w string) bool { return l.lists[pronounList][w] })
		isNew := slices.ContainsFunc(t.all[:max(at, 0)], isArticle) || at < 0 && slices.ContainsFunc(t.all, isArticle)
		pronoun := at >= 0 && !isNew && (at < early || at == last) ||
			l.lists[lastList][t.all[last]] && (!isNew || last > 0 && l.lists[beforeLastList][t.all[last-1]])
		if pronoun && !l.has(t.all[:1], askingList) {
			n++
		}
		if l.has(t.all, backList) {
			n++
		}
	}
	return min(n, 2)
}

func isArticle(w string) bool { return w == "a" || w == "an" }

// asksForPlan reports whether a prompt refers to a plan or to its steps.
func (l *lexicon) asksForPlan(t *textWords) bool {
	for i, w := range t.all {
		before := t.all[max(i-4, 0):i]
		switch {
		case l.lists[planList][w] && slices.ContainsFunc(before, func(w string) bool { return w == "the" || w == "your" || w == "that" || w == "this" }):
			return true
		case isNumber(w) && i > 0 && l.lists[stepList][t.all[i-1]]:
			return true
		}
	}
	return l.has(t.all, planList) && l.beginsWith(t.all, yesList) || slices.ContainsFunc(l.phrases[planList], func(p string) bool {
		return strings.Contains(" "+strings.Join(t.all, " ")+" ", " "+p+" ")
	})
}

// asksToCarryOut reports whether a prompt asks to carry something out that it need not name: it has
// a word for that, no "don't", and does not ask for a new plan.
func (l *lexicon) asksToCarryOut(t *textWords) bool {
	isNew := func(i int) bool { return i > 0 && l.lists[planList][t.all[i]] && isArticle(t.all[i-1]) }
	for i, w := range t.all {
		if w == "don't" || isNew(i) {
			return false
		}
	}
	return l.has(t.all, carryList)
}

// confirms reports whether a prompt only confirms or chooses: it has few words, all of them
// in the lists, numbers or single letters.
func (l *lexicon) confirms(t *textWords) bool {
	const few = 8
	if len(t.all)+len(t.numbers) == 0 || len(t.all) > few || len(t.paths)+len(t.identifiers) > 0 {
		return false
	}
	sure := len(t.numbers) > 0
	for _, w := range t.all {
		const letter = 1
		confirming := l.lists[confirmList][w] || isNumber(w) || len(w) == letter
		if !confirming && !l.lists[goList][w] {
			return false
		}
		sure = sure || confirming
	}
	return sure
}

// chooses reports whether a prompt begins with a reply: with yes, with no and a comma, or, if the
// agent offered alternatives, with the number of one.
func (l *lexicon) chooses(lower string, options bool) bool {
	lower = strings.TrimSpace(lower)
	word := lower
	if i := strings.IndexFunc(lower, func(r rune) bool { return strings.ContainsRune(" ,.:;!)\n", r) }); i >= 0 {
		word = lower[:i]
	}
	after := strings.TrimPrefix(lower, word)
	if word == "option" {
		word, after, _ = strings.Cut(strings.TrimSpace(after), " ")
		return options && (isNumber(strings.Trim(word, ",.:")) || len(strings.Trim(word, ",.:")) == 1) || after == "" && options
	}
	comma := strings.HasPrefix(after, ",") || strings.HasPrefix(after, "!") || after == ""
	switch {
	case l.lists[yesList][word]:
		return true
	case l.lists[confirmList][word]:
		return comma && !isNumber(word) && word != ""
	case isNumber(word) && len(word) < 3:
		return options && (comma || strings.HasPrefix(after, " but") || strings.HasPrefix(after, ")") || strings.HasPrefix(after, ":") || strings.HasPrefix(after, " and"))
	}
	return false
}

// script is a group of scripts.
type script int

const (
	separated   script = iota
	unseparated        // words are not separated by spaces
)

func scriptOf(r rune) script {
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer) {
		return unseparated
	}
	return separated
}
