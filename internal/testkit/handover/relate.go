package main

import (
	"crypto/sha256"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// relation is whether a session goes on with earlier work.
type relation int

const (
	unrelated relation = iota
	undecided          // the rules find little in common, and the pair counts as neither
	related
)

func (r relation) String() string {
	return [...]string{"unrelated", "undecided", "related"}[r]
}

// Two sessions have a topic in common if they share at least topicWords words that are an eighth of
// the words in the second one's first requests, or words that are a third of these.
const (
	topicWords  = 3
	ofLong      = 8
	firstAsked  = 2 // requests that define a session's topic
	wordLetters = 4
)

var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]{3,}`)

// usual are words that don't indicate a topic.
var usual = strings.Fields(`about above added adding after again agent agents all also analyze another anything appears back because been before being below best both branch branches but call called calls can changed changes change check checks claude clear code commit commits context could create created current currently did different does doing done down each entire ensure even every existing fails failed feature file files find first fix fixes fixed following from function functions further general get gets getting give going good has have here how idea implement implementation implemented implementing into issue issues its just keep know last latest let lets like line lines list local look looking looks main make makes making master maybe merge method more most move much must name need needed needs never new next nothing now okay once one only open other otherwise our out over part parts path plan please point problem project pull push put question read ready really related remove removed review right root run running same section see seems session sessions should show simple since some someone something start started still such sure take task tasks test tests testing text than thank thanks that the their them then there these they thing things think this those through time too try two type types under understand until update updated updates use used user users uses using verify version very want wants was way ways well went were what when where whether which while who why will with without work working works would write yes you your`) //nolint:gochecknoglobals // a read-only table

// topics returns the words of a text that may indicate its topic.
func (l *lexicon) topics(text string) map[string]bool {
	found := map[string]bool{}
	for _, w := range word.FindAllString(text, -1) {
		w = strings.TrimSuffix(strings.ToLower(w), "s")
		if len(w) >= wordLetters && !slices.Contains(usual, w) && !slices.Contains(usual, w+"s") && l.rare(stem(w)) {
			found[w] = true
		}
	}
	return found
}

// goesOn matches the first word of a request that continues earlier work.
var goesOn = regexp.MustCompile(`(?i)^\W*(?:continue|go on|keep going|resume|commit|push|then|and|also|now|same|again|still)\b`)

// first returns the requests that define the topic of a session.
func (t *transcript) first() string {
	list := t.requests()
	return strings.Join(list[:min(len(list), firstAsked)], "\n")
}

// relate reports whether the second session of a pair goes on with the earlier ones, and why: its
// first requests name a path, a file or a number of these, or a word of the branch; it begins with a
// request without a topic of its own; its first files are some that they edited; or they have rare
// words in common. Files that many sessions use are no evidence.
func (l *lexicon) relate(p pair) (_ relation, why string) {
	asked := p.after.first()
	if goesOn.MatchString(p.after.requests()[0]) {
		return related, "goes on"
	}
	had, uses := map[string]bool{}, map[string]bool{}
	addNumbers(uses, asked)
	known, edited := map[string]bool{}, map[string]bool{}
	var texts []string
	for _, t := range p.earlier {
		t.addNumbers(had)
		files, changed := t.known()
		maps.Copy(known, files)
		maps.Copy(edited, changed)
		texts = append(texts, t.requests()...)
	}
	for n := range uses {
		if had[n] {
			return related, "number " + n
		}
	}
	for _, file := range slices.Sorted(maps.Keys(known)) {
		if base := filepath.Base(file); strings.Contains(base, ".") && !l.common(p.after, file) && names(asked, base) {
			return related, "path " + file
		}
	}
	words := l.topics(asked)
	branch := p.before.branch
	topic := branch[strings.LastIndexByte(branch, '/')+1:] // without the user or kind before it
	for _, w := range word.FindAllString(strings.ReplaceAll(topic, "_", "-"), -1) {
		if w = strings.TrimSuffix(strings.ToLower(w), "s"); words[w] {
			return related, "branch " + w
		}
	}
	of := l.topics(strings.Join(slices.AppendSeq(texts, maps.Keys(known)), "\n"))
	var common []string
	for w := range words {
		if of[w] {
			common = append(common, w)
		}
	}
	slices.Sort(common)
	n := len(common)
	if n >= topicWords && n*ofLong >= len(words) || n > 0 && n*topicWords >= len(words) {
		return related, "words " + strings.Join(common, " ")
	}
	some := ""
	for i, file := range p.after.wanted() {
		if !known[file] || l.common(p.after, file) {
			continue
		}
		if i < firstFiles && edited[file] {
			return related, laterFile + file
		}
		some = "file " + file
	}
	switch {
	case some != "":
		return undecided, some
	case n > 1 || len(words) == 0:
		return undecided, "words " + strings.Join(common, " ")
	}
	return unrelated, ""
}

// laterFile begins the reason of a pair that only the files used later show to be related.
const laterFile = "used "

// others returns n first prompts of sessions that have nothing in common with a session and those
// before it on its branch: no file, no number, no rare word, another branch. The choice depends only
// on their ids.
func (l *lexicon) others(all, earlier []*transcript, n int) []*transcript {
	t := earlier[len(earlier)-1]
	var of strings.Builder
	bases := map[string]bool{}
	for _, e := range earlier {
		known, _ := e.known()
		for file := range known {
			bases[filepath.Base(file)] = true
			of.WriteString(file + "\n")
		}
		for _, ev := range e.events {
			if ev.kind == request || ev.kind == reply || ev.kind == pick {
				of.WriteString(ev.text + "\n")
			}
		}
	}
	text := of.String()
	has := setOf(contentWords(text))
	numbers := map[string]bool{}
	addNumbers(numbers, text)
	order := func(o *transcript) string {
		sum := sha256.Sum256([]byte(t.id + o.id))
		return string(sum[:])
	}
	list := slices.Clone(all)
	slices.SortFunc(list, func(a, b *transcript) int { return strings.Compare(order(a), order(b)) })
	var found []*transcript
	for _, o := range list {
		if len(found) == n {
			break
		}
		prompt := o.requests()[0]
		if o.root == t.root && o.branch == t.branch || goesOn.MatchString(prompt) || len(l.topics(prompt)) < topicWords {
			continue
		}
		uses := map[string]bool{}
		addNumbers(uses, prompt)
		shares := slices.ContainsFunc(contentWords(prompt), func(w string) bool { return has[w] && l.rare(w) }) ||
			slices.ContainsFunc(o.wanted(), func(file string) bool { return bases[filepath.Base(file)] && !l.common(o, file) }) ||
			slices.ContainsFunc(slices.Collect(maps.Keys(uses)), func(n string) bool { return numbers[n] })
		if !shares {
			found = append(found, o)
		}
	}
	return found
}
