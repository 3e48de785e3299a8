package redact

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/redact/ownrules"
)

const (
	// maxRounds bounds how often a text is searched again after secrets in it
	// were replaced: what is left may read as a secret anew.
	maxRounds = 8
	// minShared is the length from which a secret is replaced wherever it
	// is, not only where it was found.
	minShared = prefixLen
	// minKeyLine is the length from which a line of a secret of many lines is
	// replaced where it is alone.
	minKeyLine = 16
)

// segment is a part of a text that is searched by itself.
type segment struct {
	span
	escaped bool // it is the inside of a JSON string with escapes

	// Other segments, counted from 1; 0 for none.
	name   int32 // the string that names this one
	before int32 // the string before it in an array
}

// read returns the segment's text without escapes. It may use buf.
func (g segment) read(text, buf []byte) []byte {
	if !g.escaped {
		return text[g.begin:g.end]
	}
	return unescape(buf[:0], text[g.begin:g.end])
}

// wholeText takes a text for one segment.
func wholeText(text []byte, segs []segment) []segment {
	return append(segs, segment{span: span{0, len(text)}})
}

// rewrite returns text, which it leaves alone, with the secrets in its segments
// replaced, and whether there were any.
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

// writer holds buffers for one text after another.
type writer struct {
	segs  []segment
	buf   []byte
	kinds map[string]*seenName // of the names that were seen
	last  [lastKinds]*seenName // those seen last, see kindOf

	clean cleanTexts

	// For Check: where the rules found what, in the text. nil if not wanted.
	labels []label
	rules  map[string]string // by secret
}

// label is the rule that found something at a place.
type label struct {
	at   int
	rule string
}

// maxKept is the size of buffer that is kept for the next text.
const maxKept = 1 << 20

// secretSpans lists what is to be replaced in text, in order and disjoint.
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
		// An ordinary word is a secret only behind the name of a password.
		named := f.Rule == ownrules.Rules[ownrules.RuleName].ID || f.Rule == ownrules.Rules[ownrules.RuleURL].ID
		if !named || ownrules.HasMixture([]byte(f.Secret)) {
			secrets.add(f.Secret)
		}
		w.label(w.segs[i], text, f)
	}
	for i, g := range w.segs {
		if r.isStopped() {
			return nil
		}
		if g.name > 0 || g.before > 0 {
			for _, f := range w.named(r, i, text) {
				add(i, &f)
			}
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
	var spans []span
	for i, g := range w.segs {
		said := merge(secrets.in(w.read(g, text), found[i]))
		if g.escaped {
			said = escapedSpans(text[g.begin:g.end], said)
		}
		for _, s := range said {
			spans = append(spans, span{g.begin + s.begin, g.begin + s.end})
		}
	}
	return merge(spans)
}

// label notes which rule found a secret of a segment, where that is asked for.
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

// findOnce lists the secrets in a text, encoded ones included, unless it remembers that
// there are none.
func (w *writer) findOnce(r *Redactor, said []byte) []Finding {
	slot := w.clean.slot(said)
	if slot.holds(said) {
		return nil
	}
	found := append(r.find(said, nil), r.findDecoded(said, maxDecode)...)
	if len(found) == 0 && !r.isStopped() {
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

// prefixLen is how much of a needle is looked up at once.
const prefixLen = 8

// needles are the secrets of a text, to be found wherever they are. One pass
// over the text finds all of them, in time that hardly depends on how many they are.
type needles struct {
	pairs    [1 << 16 / 64]uint64 // the first two bytes of the needles
	known    map[string]bool
	byPrefix map[string]*group
}

// group is the needles that begin with the same bytes.
type group struct {
	list []string
	// Once sorted: for each needle the longest other one that it begins with, -1
	// if there is none.
	shorter []int
}

// add adds a secret and, if it has many lines, each line.
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
		if line = strings.TrimSpace(line); len(line) >= minKeyLine {
			n.add(line)
		}
	}
}

// in adds the places of the needles in text to spans. Of several needles in one
// place it adds the longest.
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

// longest is the length of the longest needle that text begins with, 0 if there is
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
	// Needles that text begins with are not greater than text, and of those that
	// are not greater the last one is such a needle or begins with it.
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
