package main

import (
	"fmt"
	"strings"
	"time"
)

// pair is a session and a later one.
type pair struct {
	name, kind    string
	before, after *transcript
}

// The kinds of pairs.
const (
	clearPair = "clear" // the person cleared the context
	planPair  = "plan"  // an accepted plan began with a cleared context
	newPair   = "new"   // another start
	cutPair   = "cut"   // one session, cut in two
)

const (
	longestGap = 24 * time.Hour
	overlap    = time.Minute // lines written after the next session began
	shortName  = 8
)

// pairs returns the pairs of a sample: each session with the last one that ended before it, on the
// same branch in the same folder, at most a day earlier; then long sessions, cut at each
// compaction.
func (s sample) pairs() []pair {
	list := s.following(func(before, after *transcript) bool { return before.branch == after.firstBranch })
	for _, t := range s.sessions {
		list = append(list, cut(t)...)
	}
	return list
}

// following returns each session with the last one that ended before it in the same folder, at most
// a day earlier, and for which may returns true.
func (s sample) following(may func(before, after *transcript) bool) []pair {
	var list []pair
	for i, after := range s.sessions {
		var before *transcript
		for _, t := range s.sessions[:i] {
			gap := after.began.Sub(t.ended)
			if t.root == after.root && may(t, after) && gap > -overlap && gap < longestGap && (before == nil || t.ended.After(before.ended)) {
				before = t
			}
		}
		if before == nil {
			continue
		}
		kind := newPair
		switch first := after.requests()[0]; {
		case strings.HasPrefix(first, "Implement the following plan") && (after.source == "clear" || after.source == ""):
			kind = planPair
		case after.source == "clear" || after.cleared:
			kind = clearPair
		}
		list = append(list, pair{short(before.id) + "→" + short(after.id), kind, before, after})
	}
	return list
}

// cut returns the pairs of a compacted session.
func cut(t *transcript) []pair {
	var list []pair
	for i, line := range t.lines {
		r, ok := parse(line)
		if !ok || r.Type != "system" || r.Subtype != "compact_boundary" {
			continue
		}
		before, after := read(t.lines[:i]), read(t.lines[i:])
		if len(before.requests()) > 0 && len(after.requests()) > 0 && after.root != "" {
			after.root = before.root
			list = append(list, pair{fmt.Sprintf("%s cut %d", short(t.id), i), cutPair, before, after})
		}
	}
	return list
}

func short(id string) string { return id[:min(len(id), shortName)] }
