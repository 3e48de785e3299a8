package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/strategy/recall/brief"
)

// judged is a gold need of a history, and whether the texts have it.
type judged struct {
	gold
	given, inFull bool
}

// fulfilled is the result for a history.
type fulfilled struct {
	history *history
	given   given
	gold    []judged
	tokens  int
}

// histories repeats the histories in files.
func histories(ctx context.Context, w io.Writer, o options, names []string, read func(string) (*history, error)) (list []fulfilled, err error) {
	for _, name := range names {
		h, err := read(name)
		if err != nil {
			return nil, err
		}
		g, err := h.repeat(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", h.name, err)
		}
		list = append(list, h.judge(g))
	}
	for _, f := range list {
		f.list(w)
	}
	return list, nil
}

// repeat repeats the sessions of a history, and returns what the last is given.
func (h *history) repeat(ctx context.Context, o options) (given, error) {
	r, err := newReplay(ctx, o.program, o.tool, h.sessions)
	if err != nil {
		return given{}, err
	}
	defer r.close()
	var g given
	for i, t := range h.sessions {
		if g, err = r.begin(t, h.kinds[i], i > 0 && h.sessions[i-1].offersPlan()); err != nil {
			return g, err
		}
		if i == len(h.sessions)-1 {
			break
		}
		reason := "prompt_input_exit"
		if h.kinds[i+1] != newPair {
			reason = "clear"
		}
		if err := r.end(t, reason); err != nil {
			return g, err
		}
	}
	if g, err = r.whole(h.sessions[len(h.sessions)-1], g); err != nil {
		return g, err
	}
	g = r.original(g)
	if o.briefs != "" {
		err = g.store(filepath.Join(o.briefs, "histories", h.name+".txt"))
	}
	return g, err
}

// judge compares what the last session is given with what it needs.
func (h *history) judge(g given) fulfilled {
	f := fulfilled{history: h, given: g, tokens: brief.CountTokens(g.text())}
	for _, n := range h.gold {
		f.gold = append(f.gold, judged{n, n.in(g.text()), n.in(g.whole)})
	}
	return f
}

// in reports whether a text has all phrases of what is needed. Of what must not be said, it reports
// whether a line of a section of its kind has one.
func (n gold) in(text string) bool {
	says := func(text, phrase string) bool {
		if n.literal {
			return strings.Contains(text, phrase)
		}
		return has(letters(text), phrase)
	}
	if !n.never {
		return !slices.ContainsFunc(n.phrases, func(p string) bool { return !says(text, p) })
	}
	all, _ := statements(text)
	return slices.ContainsFunc(all, func(s statement) bool {
		of := kindOf(s.section)
		if strings.Contains(s.section, "summary") {
			of = openNeed
		}
		return of == n.kind && slices.ContainsFunc(n.phrases, func(p string) bool { return says(s.text, p) })
	})
}

// asExpected reports whether the text given is full or short as it should be.
func (f fulfilled) asExpected() bool {
	switch f.history.expect {
	case "full":
		return !isPart(f.tokens, brief.CountTokens(f.given.whole))
	case "short":
		return f.tokens <= shortForm
	}
	return true
}

// list writes what is missing, and what must not be said.
func (f fulfilled) list(w io.Writer) {
	if !f.asExpected() {
		fmt.Fprintf(w, "%s: given %d tokens, should be %s\n", f.history.name, f.tokens, f.history.expect)
	}
	for _, j := range f.gold {
		what := strings.Join(j.phrases, " & ")
		switch {
		case j.never && (j.given || j.inFull):
			fmt.Fprintf(w, "%s: says in %s: %s\n", f.history.name, j.kind, what)
		case j.never || j.given:
		case j.inFull:
			fmt.Fprintf(w, "%s: only in the whole brief, %s: %s\n", f.history.name, j.kind, what)
		default:
			fmt.Fprintf(w, "%s: not given, %s: %s\n", f.history.name, j.kind, what)
		}
	}
}

// goldTable writes how much of the needs of histories is given.
func goldTable(w io.Writer, what string, list []fulfilled) {
	fmt.Fprintf(w, "| %d %s | given | in the whole brief |\n| --- | --- | --- |\n", len(list), what)
	var all []judged
	right, expected := 0, 0
	for _, f := range list {
		all = append(all, f.gold...)
		if f.history.expect != "" {
			expected++
			if f.asExpected() {
				right++
			}
		}
	}
	for _, never := range []bool{false, true} {
		for _, kind := range needKinds {
			of := slices.DeleteFunc(slices.Clone(all), func(j judged) bool { return j.kind != kind || j.never != never })
			if len(of) == 0 {
				continue
			}
			count := func(is func(judged) bool) string {
				return share(len(slices.DeleteFunc(slices.Clone(of), func(j judged) bool { return !is(j) })), len(of))
			}
			what := map[bool]string{false: " needed", true: " that must not be said"}[never]
			fmt.Fprintf(w, "| %s%s | %s | %s |\n", kind, what, count(func(j judged) bool { return j.given }), count(func(j judged) bool { return j.inFull }))
		}
	}
	if expected > 0 {
		fmt.Fprintf(w, "| full or short as expected | %s | |\n", share(right, expected))
	}
}
