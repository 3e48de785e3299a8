package redact

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
	"github.com/seed-3aff656d/entire/internal/redact/ownrules"
)

const (
	// maxRounds is the maximum number of searches of a text. It is searched again after a
	// replacement, because the remaining text may match as a secret.
	maxRounds = 8
	// minShared is the minimum length of a secret that is replaced everywhere, not only
	// where it was found.
	minShared = prefixLen
	// minKeyLine is the minimum length of a line of a multi-line secret that is replaced on
	// its own.
	minKeyLine = 16
)

// segment is a part of a text that is searched separately.
type segment struct {
	span
	escaped bool // the inside of a JSON string with escapes

	// Other segments, counted from 1; 0 for none.
	name   int32 // the string that names this one
	before int32 // the previous string in an array
	next   int32 // the string that goes on with the text of this one
	prev   int32 // the string whose text this one goes on with
}

// read returns the segment's text without escapes. It may use buf.
func (g segment) read(text, buf []byte) []byte {
	if !g.escaped {
		return text[g.begin:g.end]
	}
	return unescape(buf[:0], text[g.begin:g.end])
}

// wholeText splits a text into one segment.
func wholeText(text []byte, segs []segment) []segment {
	return append(segs, segment{span: span{0, len(text)}})
}

// rewrite returns text with the secrets in its segments replaced, and whether there were
// any. It does not modify text.
func (r *Redactor) rewrite(text []byte, split func([]byte, []segment) []segment) (out []byte, changed bool) {
	w := r.writers.Get().(*writer) //nolint:errcheck // the pool holds nothing else
	defer r.writers.Put(w)
	for range maxRounds {
		w.segs = split(text, w.segs[:0])
		spans := w.secretSpans(r, text)
		if len(spans) == 0 || r.isStopped() {
			break
		}
		text, changed = replace(text, spans), true
	}
	return text, changed
}

// writer holds reusable buffers for the search of one text at a time.
type writer struct {
	segs  []segment
	buf   []byte
	kinds map[string]*seenName // by name
	last  [lastKinds]*seenName // the most recent ones, see kindOf

	clean      cleanTexts
	remembered int // changes of the memory when clean was filled

	// For Check: the positions of the findings and their rules. nil if not needed.
	labels []label
	rules  map[string]string // by secret
}

// label is the rule of a finding at a position.
type label struct {
	at   int
	rule string
}

// maxKept is the maximum size of a buffer that is kept for the next text.
const maxKept = 1 << 20

// secretSpans lists the spans to replace in text, ordered and disjoint.
func (w *writer) secretSpans(r *Redactor, text []byte) []span {
	var found map[int][]span // by segment
	var secrets *needles
	add := func(i int, f *Finding) {
		if ownrules.IsTrivial(f.Secret) {
			return
		}
		if found == nil {
			found, secrets = make(map[int][]span), new(needles)
		}
		found[i] = append(found[i], span{f.Start, f.End})
		if f.Rule != worktreeValues && r.memory.add(f.Secret) {
			w.clean = cleanTexts{} // it may be in texts that were clean
		}
		// An ordinary word is a secret only after the name of a password.
		named := f.Rule == ownrules.Rules[ownrules.RuleName].ID || f.Rule == ownrules.Rules[ownrules.RuleURL].ID
		if !named || ownrules.HasMixture([]byte(f.Secret)) {
			secrets.add(f.Secret)
		}
		w.label(w.segs[i], text, f)
	}
	if n := r.memory.changes(); n != w.remembered {
		w.clean, w.remembered = cleanTexts{}, n
	}
	w.chain(text)
	for i, g := range w.segs {
		if r.isStopped() {
			return nil
		}
		if g.name > 0 || g.before > 0 {
			for _, f := range w.named(r, i, text) {
				add(i, &f)
			}
		}
		if g.prev > 0 {
			continue // found with the first string of its chain
		}
		if g.next > 0 {
			w.findChain(r, text, i, add)
			continue
		}
		if g.end-g.begin < shortestText {
			continue
		}
		for _, f := range w.findOnce(r, w.read(g, text)) {
			add(i, &f)
		}
	}
	if found == nil {
		return nil
	}
	return w.allSpans(r, text, found, secrets)
}

// allSpans returns the found spans of each segment, and those of the same secrets elsewhere, as
// spans of text.
func (w *writer) allSpans(r *Redactor, text []byte, found map[int][]span, secrets *needles) []span {
	var spans []span
	for i, g := range w.segs {
		if r.isStopped() {
			return nil
		}
		plain := w.read(g, text)
		said := merge(append(secrets.in(plain, found[i]), secrets.inDecoded(plain, maxDecode)...))
		if g.escaped {
			said = escapedSpans(text[g.begin:g.end], said)
		}
		for _, s := range said {
			spans = append(spans, span{g.begin + s.begin, g.begin + s.end})
		}
	}
	return merge(spans)
}

// label records the rule that found a secret of a segment, if labels are needed.
func (w *writer) label(g segment, text []byte, f *Finding) {
	if w.rules == nil {
		return
	}
	w.rules[f.Secret] = f.Rule
	at := f.Start
	if g.escaped {
		at = escapedSpans(text[g.begin:g.end], []span{{f.Start, f.End}})[0].begin
	}
	w.labels = append(w.labels, label{g.begin + at, f.Rule})
}

// findOnce lists the secrets in a text, including encoded ones, unless the cache of clean
// texts has it.
func (w *writer) findOnce(r *Redactor, said []byte) []Finding {
	slot := w.clean.slot(said)
	var sum textSum
	if slot == nil {
		if sum = w.clean.sum(said); w.clean.holdsLong(sum) {
			return nil
		}
	} else if slot.holds(said) {
		return nil
	}
	found := append(r.find(said, nil), r.findDecoded(said, maxDecode)...)
	switch {
	case len(found) > 0 || r.isStopped():
	case slot == nil:
		w.clean.setLong(sum)
	default:
		slot.set(said)
	}
	return found
}

func (w *writer) read(g segment, text []byte) []byte {
	said := g.read(text, w.buf)
	if g.escaped && cap(said) <= maxKept {
		w.buf = said
	}
	return said
}

// merge sorts spans and joins those that overlap or touch.
func merge(spans []span) []span {
	slices.SortFunc(spans, func(x, y span) int { return cmp.Compare(x.begin, y.begin) })
	var out []span
	for _, s := range spans {
		if n := len(out); n > 0 && s.begin <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, s.end)
			continue
		}
		out = append(out, s)
	}
	return out
}

// replace returns a copy of text with a mark for each span.
func replace(text []byte, spans []span) []byte {
	out := make([]byte, 0, len(text)+len(spans)*len(Mark))
	from := 0
	for _, s := range spans {
		out = append(append(out, text[from:s.begin]...), Mark...)
		from = s.end
	}
	return append(out, text[from:]...)
}

// prefixLen is the length of the prefix by which needles are looked up.
const prefixLen = 8

// needles are the secrets of a text, to find all their occurrences. One pass over the text
// finds all of them, in time nearly independent of their number.
type needles struct {
	pairs    [1 << 16 / 64]uint64 // the first two bytes of the needles
	known    map[string]bool
	byPrefix map[string]*group
}

// group holds the needles with the same prefix.
type group struct {
	list []string
	// Once sorted: for each needle the index of the longest other one that is a prefix of
	// it, -1 if there is none.
	shorter []int
}

// add adds a secret and, if it has several lines, each long enough line.
func (n *needles) add(s string) {
	if len(s) < minShared || n.known[s] {
		return
	}
	if n.byPrefix == nil {
		n.byPrefix, n.known = make(map[string]*group), make(map[string]bool)
	}
	n.known[s] = true
	pair := int(s[0])<<8 | int(s[1])
	n.pairs[pair>>6] |= 1 << (pair & 63)
	g := n.byPrefix[s[:prefixLen]]
	if g == nil {
		g = new(group)
		n.byPrefix[s[:prefixLen]] = g
	}
	g.list, g.shorter = append(g.list, s), nil
	if !strings.Contains(s, "\n") {
		return
	}
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimSpace(line); len(line) >= minKeyLine && hasKeyLine(line) {
			n.add(line)
		}
	}
}

// hasKeyLine reports whether a line of a multi-line secret has a run of base64 digits that is long enough
// for a key's.
func hasKeyLine(line string) bool {
	for i := 0; i+minKeyLine <= len(line); i++ {
		end := chars.RunEnd([]byte(line), i, minKeyLine, chars.IsBase64)
		if end-i == minKeyLine {
			return true
		}
		i = end
	}
	return false
}

// in appends the spans of the needles in text to spans. Of several needles at one position
// it appends the longest.
func (n *needles) in(text []byte, spans []span) []span {
	for i := 0; i+prefixLen <= len(text); i++ {
		pair := int(text[i])<<8 | int(text[i+1])
		if n.pairs[pair>>6]>>(pair&63)&1 == 0 {
			continue
		}
		if g := n.byPrefix[string(text[i:i+prefixLen])]; g != nil {
			if length := g.longest(text[i:]); length > 0 {
				spans = append(spans, span{i, i + length})
			}
		}
	}
	return spans
}

// longest returns the length of the longest needle that is a prefix of text, 0 if there is
// none.
func (g *group) longest(text []byte) int {
	if g.shorter == nil {
		slices.Sort(g.list)
		g.shorter = make([]int, len(g.list))
		for i, s := range g.list {
			k := i - 1
			for k >= 0 && !strings.HasPrefix(s, g.list[k]) {
				k = g.shorter[k]
			}
			g.shorter[i] = k
		}
	}
	// Needles that are a prefix of text are not greater than text, and the last needle that
	// is not greater than text is the longest such prefix or begins with it.
	k, exact := slices.BinarySearchFunc(g.list, text, compareNeedle)
	if !exact {
		k--
	}
	if k < 0 {
		return 0
	}
	shared := 0
	for shared < min(len(g.list[k]), len(text)) && g.list[k][shared] == text[shared] {
		shared++
	}
	for k >= 0 && len(g.list[k]) > shared {
		k = g.shorter[k]
	}
	if k < 0 {
		return 0
	}
	return len(g.list[k])
}

// compareNeedle compares s with text.
func compareNeedle(s string, text []byte) int {
	text = text[:min(len(text), len(s)+1)]
	switch {
	case s < string(text):
		return -1
	case s > string(text):
		return 1
	}
	return 0
}
