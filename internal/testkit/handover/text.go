package main

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// lexicon has how many sessions of a sample use a word in their conversation.
type lexicon struct {
	sessions int
	counts   map[string]int
	roots    map[string]int // the sessions of a folder
	files    map[string]int // the sessions that read or edited a file, by its folder's root and path
}

// newLexicon counts the words and files of sessions.
func newLexicon(sessions []*transcript) *lexicon {
	l := &lexicon{len(sessions), map[string]int{}, map[string]int{}, map[string]int{}}
	for _, t := range sessions {
		l.roots[t.root]++
		seen := map[string]bool{}
		for _, e := range t.events {
			if e.kind == request || e.kind == reply {
				for _, w := range contentWords(e.text) {
					seen[w] = true
				}
			}
		}
		for w := range seen {
			l.counts[w]++
		}
		known, _ := t.known()
		for file := range known {
			l.files[t.root+"\x00"+file]++
		}
	}
	return l
}

const (
	tenth      = 10
	leastCount = 2
)

// rare reports whether at most a tenth of the sessions use a word.
func (l *lexicon) rare(w string) bool { return l.counts[w] <= max(l.sessions/tenth, leastCount) }

// common reports whether more than a tenth of the sessions of a folder use a file, as they do a
// changelog.
func (l *lexicon) common(t *transcript, file string) bool {
	return l.files[t.root+"\x00"+file] > max(l.roots[t.root]/tenth, leastCount)
}

// weight returns how much a word tells about the topic of a text.
func (l *lexicon) weight(w string) float64 {
	return math.Log(float64(l.sessions+1) / float64(l.counts[w]+1))
}

var contentWord = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*(?:[./-][A-Za-z0-9_]+)*`)

// contentWords returns the words of a text without those that have no meaning of their own, in
// lower case, without endings.
func contentWords(text string) []string {
	var list []string
	for _, w := range contentWord.FindAllString(text, -1) {
		if w = stem(strings.ToLower(w)); len(w) > leastCount && !grammar[w] {
			list = append(list, w)
		}
	}
	return list
}

func stem(w string) string {
	const short = 5
	for _, end := range []string{"ing", "ed", "es", "s"} {
		if rest, ok := strings.CutSuffix(w, end); ok && len(rest) >= short-len(end)/leastCount {
			return strings.TrimSuffix(rest, "e")
		}
	}
	return strings.TrimSuffix(w, "e")
}

// grammar has stems of words without a meaning of their own.
var grammar = func() map[string]bool { //nolint:gochecknoglobals // a read-only table
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`a about above after again all also am an and any are as at be because been before being below between both but by can could did do does doing don down during each few for from further get got had has have having he her here hers him his how i if in into is it its itself just let lets like ll me more most my need no nor not now of off ok okay on once one only or other our ours out over own please re s same she should so some such t than that the their them then there these they thing this those through to too under until up us ve very want was we well were what when where which while who why will with would yes you your make sure instead use using`) {
		m[stem(w)] = true
	}
	return m
}()

// unit is a sentence with its words.
type unit struct {
	text  string
	words map[string]bool
}

var (
	sentenceEnd = regexp.MustCompile(`[.!?:;](?:\s+|$)|\n`)
	fenced      = regexp.MustCompile("(?s)```.*?(?:```|$)")
	listMark    = regexp.MustCompile(`^[\s>*#|-]*(?:\d+[.)]\s+)?`)
)

// units returns the sentences of a text, without code in fences.
func units(text string) []unit {
	var list []unit
	text = fenced.ReplaceAllString(text, "\n")
	at := 0
	add := func(s string) {
		s = strings.TrimSpace(listMark.ReplaceAllString(s, ""))
		if words := contentWords(s); len(words) > 0 {
			list = append(list, unit{s, setOf(words)})
		}
	}
	for _, m := range sentenceEnd.FindAllStringIndex(text, -1) {
		add(text[at:m[1]])
		at = m[1]
	}
	add(text[at:])
	return list
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, w := range list {
		set[w] = true
	}
	return set
}

// pool has sentences by their words.
type pool struct {
	list []unit
	by   map[string][]int
}

func newPool(list []unit) *pool {
	p := &pool{list, map[string][]int{}}
	for i, u := range list {
		for w := range u.words {
			p.by[w] = append(p.by[w], i)
		}
	}
	return p
}

const leastShared = 3

// find returns the sentence that has the largest part of the weight of another's words, and that
// part; it is 0 if there is none with three words of it, one of them rare.
func (l *lexicon) find(p *pool, words map[string]bool) (best unit, part float64) {
	all := 0.0
	shared, weight, rare := map[int]int{}, map[int]float64{}, map[int]bool{}
	for w := range words {
		x := l.weight(w)
		all += x
		for _, i := range p.by[w] {
			shared[i]++
			weight[i] += x
			rare[i] = rare[i] || l.rare(w)
		}
	}
	for _, i := range slices.Sorted(maps.Keys(shared)) {
		if shared[i] >= min(leastShared, len(words)) && rare[i] && weight[i]/all > part {
			best, part = p.list[i], weight[i]/all
		}
	}
	return best, part
}
