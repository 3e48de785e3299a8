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
	history *history
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

// histories repeats the histories of a folder.
func histories(ctx context.Context, w io.Writer, o options) (list []fulfilled, err error) {
	names, err := filepath.Glob(filepath.Join(o.histories, "*.txt"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		h, err := readHistory(name)
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
	r, err := newReplay(ctx, o.program, h.sessions)
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
	if g.whole, err = r.whole(); err != nil {
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
		f.gold = append(f.gold, judged{h, n, n.in(g.text()), n.in(g.whole)})
	}
	return f
}

// in reports whether a text has all phrases of what is needed. Of what must not be said, it reports
// whether a line of a section of its kind has one.
func (n gold) in(text string) bool {
	if !n.never {
		return !slices.ContainsFunc(n.phrases, func(p string) bool { return !has(letters(text), p) })
	}
	all, _ := statements(text)
	return slices.ContainsFunc(all, func(s statement) bool {
		of := kindOf(s.section)
		if strings.Contains(s.section, "summary") {
			of = openNeed
		}
		return of == n.kind && slices.ContainsFunc(n.phrases, func(p string) bool { return has(letters(s.text), p) })
	})
}

// asExpected reports whether the text given is full or short as it should be.
func (f fulfilled) asExpected() bool {
	if f.history.expect == "short" {
		return f.tokens <= shortForm
	}
	return !isPart(f.tokens, brief.CountTokens(f.given.whole))
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
		case !j.never && !j.inFull:
			fmt.Fprintf(w, "%s: not in %s: %s\n", f.history.name, j.kind, what)
		case !j.never && !j.given:
			fmt.Fprintf(w, "%s: only in the whole brief, %s: %s\n", f.history.name, j.kind, what)
		}
	}
}

// goldTable writes how much of the needs of histories is given.
func goldTable(w io.Writer, list []fulfilled) {
	fmt.Fprintf(w, "| %d histories | given | in the whole brief |\n| --- | --- | --- |\n", len(list))
	for _, never := range []bool{false, true} {
		for _, kind := range needKinds {
			all, short, whole := 0, 0, 0
			for _, f := range list {
				for _, j := range f.gold {
					if j.kind != kind || j.never != never {
						continue
					}
					all++
					if j.given {
						short++
					}
					if j.inFull {
						whole++
					}
				}
			}
			if all > 0 {
				what := map[bool]string{false: " needed", true: " that must not be said"}[never]
				fmt.Fprintf(w, "| %s%s | %s | %s |\n", kind, what, share(short, all), share(whole, all))
			}
		}
	}
	right := 0
	for _, f := range list {
		if f.asExpected() {
			right++
		}
	}
	fmt.Fprintf(w, "| full or short as expected | %s | |\n", share(right, len(list)))
}
