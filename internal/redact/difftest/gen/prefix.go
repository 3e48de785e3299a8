package main

import (
	"regexp/syntax"
	"slices"
)

const (
	maxSequences = 48 // ways to begin that are told apart
	maxPositions = 48 // bytes of a beginning that are looked at
	maxLiteral   = 16
)

// sequence is one way in which a match can begin: a class for each byte.
type sequence struct {
	classes []class
	done    bool // anything may come after
}

// sequences lists the ways in which a match of re can begin. Every match fits
// one of them; not everything that fits one is a match.
func sequences(re *syntax.Regexp) []sequence {
	stop := []sequence{{done: true}}
	switch re.Op {
	case syntax.OpLiteral:
		var s sequence
		for _, r := range re.Rune {
			c, ok := ofRune(r, re.Flags)
			if !ok {
				s.done = true
				break
			}
			s.classes = append(s.classes, c)
		}
		return []sequence{s}
	case syntax.OpCharClass:
		c, ok := ofRanges(re.Rune)
		if !ok {
			return stop
		}
		return []sequence{{classes: []class{c}}}
	case syntax.OpCapture:
		return sequences(re.Sub[0])
	case syntax.OpConcat:
		return chain(re.Sub)
	case syntax.OpAlternate:
		var all []sequence
		for _, sub := range re.Sub {
			all = append(all, sequences(sub)...)
		}
		if len(all) > maxSequences {
			return stop
		}
		return all
	case syntax.OpQuest:
		all := append(sequences(re.Sub[0]), sequence{})
		if re.Flags&syntax.NonGreedy != 0 || len(all) > maxSequences {
			return stop
		}
		return all
	case syntax.OpPlus:
		return unfinished(sequences(re.Sub[0]))
	case syntax.OpRepeat:
		if re.Min == 0 {
			return stop
		}
		subs := slices.Repeat([]*syntax.Regexp{re.Sub[0]}, min(re.Min, maxPositions))
		if re.Min == re.Max {
			return chain(subs)
		}
		return unfinished(chain(subs))
	case syntax.OpStar, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return stop
	default: // empty-width
		return []sequence{{}}
	}
}

func unfinished(all []sequence) []sequence {
	for i := range all {
		all[i].done = true
	}
	return all
}

// chain is sequences of a concatenation.
func chain(subs []*syntax.Regexp) []sequence {
	all := []sequence{{}}
	for _, sub := range subs {
		next := sequences(sub)
		var longer []sequence
		for _, s := range all {
			if s.done || len(s.classes) >= maxPositions {
				s.done = true
				longer = append(longer, s)
				continue
			}
			for _, n := range next {
				longer = append(longer, sequence{slices.Concat(s.classes, n.classes), n.done})
			}
		}
		if len(longer) > maxSequences {
			return unfinished(all)
		}
		all = longer
	}
	return all
}

// literal returns the longest run of fixed bytes in s and where it begins.
func (s sequence) literal() (text string, off int) {
	run := ""
	for i, c := range s.classes {
		b, ok := c.single()
		if !ok {
			run = ""
			continue
		}
		run += string(rune(b))
		if len(run) > len(text) && len(run) <= maxLiteral {
			text, off = run, i+1-len(run)
		}
	}
	return text, off
}

// edge describes what empty-width tests a match can begin with.
type edge int

const (
	edgeNone  edge = iota
	edgeWord       // every match begins with \b
	edgeOther      // some do, or there are other tests
)

// leading finds the empty-width tests at the beginning of re.
func leading(re *syntax.Regexp) edge {
	switch re.Op {
	case syntax.OpWordBoundary:
		return edgeWord
	case syntax.OpNoWordBoundary, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText:
		return edgeOther
	case syntax.OpCapture:
		return leading(re.Sub[0])
	case syntax.OpConcat:
		for i, sub := range re.Sub {
			e := leading(sub)
			if e != edgeNone && i > 0 { // not at the beginning of every match
				return edgeOther
			}
			if e != edgeNone {
				return e
			}
			if shortest, _ := lengths(sub); shortest > 0 {
				return edgeNone
			}
		}
		return edgeNone
	case syntax.OpAlternate, syntax.OpQuest, syntax.OpStar, syntax.OpPlus, syntax.OpRepeat:
		for _, sub := range re.Sub {
			if leading(sub) != edgeNone {
				return edgeOther
			}
		}
	}
	return edgeNone
}

// anchored reports whether re tests for the beginning of the text anywhere.
func anchored(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpBeginText:
		return true
	}
	return slices.ContainsFunc(re.Sub, anchored)
}
