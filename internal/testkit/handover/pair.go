package main

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"
)

// pair is a session B and what came before it in its folder.
type pair struct {
	name, kind string
	// before is A, the last session that ended before B began. A pair of one session, cut in two,
	// has its first part.
	before *transcript
	// earlier are the last sessions of B's branch that ended before B began, the oldest first, and A.
	earlier []*transcript
	// begun are all sessions of the folder that began before B; those that had ended come last, in
	// the order of their ends.
	begun []*transcript
	after *transcript
}

// The kinds of pairs.
const (
	clearPair = "clear" // the person cleared the context
	planPair  = "plan"  // an accepted plan began with a cleared context
	newPair   = "new"   // another start
	cutPair   = "cut"   // one session, cut in two
)

const (
	ofBranch      = 5 // sessions of a branch whose contents a later one may need
	longestGap    = 24 * time.Hour
	onSameBranch  = 7 * longestGap
	overlap       = time.Minute // lines written after the next session began
	shortName     = 8
	acceptedPlan  = "Implement the following plan"
	cutSessionTag = "ffffffff"
)

// held reports whether a pair is held out: developers count it, and don't read it.
func (p pair) held() bool {
	sum := sha256.Sum256([]byte(p.after.id))
	return sum[0]%2 == 1
}

// folder has the sessions of one working tree, in the order of their start.
type folder struct {
	sessions []*transcript
	pairs    map[*transcript]pair
	cuts     map[*transcript][]pair
}

// folders returns the sessions of a sample by their working tree, the largest first.
func (s sample) folders() []*folder {
	by := map[string]*folder{}
	var list []*folder
	for _, t := range s.sessions {
		f, ok := by[t.root]
		if !ok {
			f = &folder{pairs: map[*transcript]pair{}, cuts: map[*transcript][]pair{}}
			by[t.root] = f
			list = append(list, f)
		}
		f.sessions = append(f.sessions, t)
	}
	for _, f := range list {
		for i, t := range f.sessions {
			f.pair(i)
			f.cuts[t] = f.cut(i)
		}
	}
	slices.SortStableFunc(list, func(a, b *folder) int { return len(b.sessions) - len(a.sessions) })
	return list
}

// ended returns the sessions that ended before a session began, in the order of their ends.
func (f *folder) ended(after *transcript) []*transcript {
	var list []*transcript
	for _, t := range f.sessions {
		if t != after && after.began.Sub(t.ended) > -overlap {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, byEnd)
	return list
}

// begun returns the sessions that began before another, as they were then; those that had ended come
// last.
func (f *folder) begun(after *transcript) []*transcript {
	ended := f.ended(after)
	var list []*transcript
	for _, t := range f.sessions {
		if t == after || !t.began.Before(after.began) || slices.Contains(ended, t) {
			continue
		}
		if so := read(t.lines[:t.before(after.began)]); len(so.events) > 0 {
			so.root = t.root
			list = append(list, so)
		}
	}
	return append(list, ended...)
}

// of returns the last sessions of a branch that ended before a session began.
func (f *folder) of(branch string, after *transcript) []*transcript {
	list := slices.DeleteFunc(f.ended(after), func(t *transcript) bool { return t.branch != branch })
	return list[max(len(list)-ofBranch, 0):]
}

func byEnd(a, b *transcript) int { return a.ended.Compare(b.ended) }

// pair adds the pair of a session, if one came before it.
func (f *folder) pair(i int) {
	after := f.sessions[i]
	ended := f.ended(after)
	// After a longer time, only a session of the same branch came before.
	before := lastOf(ended, func(t *transcript) bool {
		gap := after.began.Sub(t.ended)
		return gap < longestGap || gap < onSameBranch && t.branch == after.firstBranch
	})
	if before == nil {
		return
	}
	kind := newPair
	switch first := after.requests()[0]; {
	case strings.HasPrefix(first, acceptedPlan) && (after.source == "clear" || after.source == ""):
		kind = planPair
	case after.source == "clear" || after.cleared:
		kind = clearPair
	}
	earlier := slices.DeleteFunc(f.of(after.firstBranch, after), func(t *transcript) bool { return t == before })
	f.pairs[after] = pair{short(before.id) + "→" + short(after.id), kind, before, append(earlier, before), f.begun(after), after}
}

// lastOf returns the last session for which a function returns true, nil if there is none.
func lastOf(list []*transcript, is func(*transcript) bool) *transcript {
	for _, t := range slices.Backward(list) {
		if is(t) {
			return t
		}
	}
	return nil
}

// cut returns the pairs of a compacted session.
func (f *folder) cut(i int) []pair {
	var list []pair
	t := f.sessions[i]
	for i, line := range t.lines {
		r, ok := parse(line)
		if !ok || r.Type != "system" || r.Subtype != "compact_boundary" {
			continue
		}
		before, after := read(t.lines[:i]), read(t.lines[i:])
		if len(before.requests()) > 0 && len(after.requests()) > 0 && after.root != "" {
			after.root = before.root
			after.id = cutSessionTag + after.id[min(len(after.id), shortName):]
			list = append(list, pair{fmt.Sprintf("%s cut %d", short(t.id), i), cutPair, before, append(f.of(t.firstBranch, t), before), append(f.begun(t), before), after})
		}
	}
	return list
}

// step is the begin or the end of a session.
type step struct {
	session *transcript
	begins  bool
}

// steps returns the begins and ends of sessions in the order of time. A session begins after those
// that are before it by the rule of pairs have ended.
func (f *folder) steps() []step {
	type timed struct {
		step
		at time.Time
	}
	list := make([]timed, 0, len(f.sessions)+len(f.sessions))
	for _, t := range f.sessions {
		ended := t.ended.Add(-overlap)
		if ended.Before(t.began) {
			ended = t.began
		}
		list = append(list, timed{step{t, true}, t.began}, timed{step{t, false}, ended})
	}
	slices.SortStableFunc(list, func(a, b timed) int { return a.at.Compare(b.at) })
	steps := make([]step, len(list))
	for i, s := range list {
		steps[i] = s.step
	}
	return steps
}

func short(id string) string { return id[:min(len(id), shortName)] }
