package redact

import (
	"cmp"
	"slices"
	"strings"
)

// Hit is a part of a text that redaction replaces.
type Hit struct {
	Rule       string
	Start, End int // in bytes
}

// CheckText lists the parts of s that Text would replace.
func (r *Redactor) CheckText(s string) []Hit { return r.check([]byte(s), wholeText) }

// CheckLine lists the parts of a line of JSON that Line would replace.
func (r *Redactor) CheckLine(line []byte) []Hit { return r.check(line, stringsOfLine) }

func (r *Redactor) check(text []byte, split func([]byte, []segment) []segment) []Hit {
	if len(text) < shortestText {
		return nil
	}
	w := writer{rules: make(map[string]string)}
	var hits []Hit
	var gone []span // the replaced parts of the original text
	for range maxRounds {
		w.labels = w.labels[:0]
		w.segs = split(text, w.segs[:0])
		spans := w.secretSpans(r, text)
		if len(spans) == 0 {
			break
		}
		slices.SortFunc(w.labels, func(x, y label) int { return cmp.Compare(x.at, y.at) })
		original := origins(spans, gone)
		for i, s := range spans {
			hits = append(hits, Hit{w.ruleAt(s, text), original[i].begin, original[i].end})
		}
		gone = merge(append(gone, original...))
		text = replace(text, spans)
	}
	slices.SortFunc(hits, func(x, y Hit) int { return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(y.End, x.End)) })
	kept, end := hits[:0], -1
	for _, h := range hits {
		if h.End > end {
			kept, end = append(kept, h), h.End
		}
	}
	return kept
}

// ruleAt returns the rule that found the secret in a span of text. A span found because the
// same secret occurs elsewhere has that secret's rule.
func (w *writer) ruleAt(s span, text []byte) string {
	i, _ := slices.BinarySearchFunc(w.labels, s.begin, func(l label, at int) int { return cmp.Compare(l.at, at) })
	if i < len(w.labels) && w.labels[i].at < s.end {
		return w.labels[i].rule
	}
	if rule, ok := w.rules[string(text[s.begin:s.end])]; ok {
		return rule
	}
	if rule, ok := w.rules[strings.TrimSpace(string(unescape(nil, text[s.begin:s.end])))]; ok {
		return rule
	}
	return "same-secret"
}

// origins maps spans of a text to spans of the original text, whose spans in gone were
// replaced by marks. Both lists are ordered and disjoint.
func origins(spans, gone []span) []span {
	out := make([]span, len(spans))
	shift, next := 0, 0 // offset in the original minus that in the text
	at := func(pos int, last bool) int {
		for next < len(gone) && pos >= gone[next].begin-shift+len(Mark) {
			shift += gone[next].end - gone[next].begin - len(Mark)
			next++
		}
		if next < len(gone) && pos > gone[next].begin-shift {
			if last {
				return gone[next].end
			}
			return gone[next].begin
		}
		return pos + shift
	}
	for i, s := range spans {
		out[i].begin = at(s.begin, false)
		out[i].end = at(s.end, true)
	}
	return out
}
