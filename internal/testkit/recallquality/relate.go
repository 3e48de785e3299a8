package main

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

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
func topics(text string, rare func(string) bool) map[string]bool {
	found := map[string]bool{}
	for _, w := range word.FindAllString(text, -1) {
		w = strings.TrimSuffix(strings.ToLower(w), "s")
		if len(w) >= wordLetters && !slices.Contains(usual, w) && !slices.Contains(usual, w+"s") && rare(w) {
			found[w] = true
		}
	}
	return found
}

// goesOn matches the first word of a request that continues earlier work.
var goesOn = regexp.MustCompile(`(?i)^\W*(?:continue|go on|keep going|resume|commit|push|then|and|also|now|same|again|still)\b`)

// related reports whether the second session of a pair continues the first, and why: a file that
// both used, a path or file of the first in the second's first requests, a word of the branch, a
// request without a topic of its own, or rare words in common.
func related(p pair, rare func(string) bool) (_ bool, why string) {
	known, _ := p.before.known()
	for _, file := range p.after.wanted() {
		if known[file] {
			return true, "file " + file
		}
	}
	list := p.after.requests()
	asked := strings.Join(list[:min(len(list), firstAsked)], "\n")
	for file := range known {
		if base := filepath.Base(file); strings.Contains(base, ".") && names(asked, base) {
			return true, "path " + file
		}
	}
	if goesOn.MatchString(list[0]) {
		return true, "goes on"
	}
	words := topics(asked, rare)
	topic := p.before.branch[strings.LastIndexByte(p.before.branch, '/')+1:] // without the user or kind before it
	for _, w := range word.FindAllString(strings.ReplaceAll(topic, "_", "-"), -1) {
		if w = strings.TrimSuffix(strings.ToLower(w), "s"); words[w] {
			return true, "branch " + w
		}
	}
	before := slices.AppendSeq(p.before.requests(), maps.Keys(known))
	of := topics(strings.Join(before, "\n"), rare)
	var common []string
	for w := range words {
		if of[w] {
			common = append(common, w)
		}
	}
	if n := len(common); n >= topicWords && n*ofLong >= len(words) || n > 0 && n*topicWords >= len(words) {
		slices.Sort(common)
		return true, "words " + strings.Join(common, " ")
	}
	return false, ""
}
