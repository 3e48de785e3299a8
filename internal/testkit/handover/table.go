package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// classes are the kinds of statements, in the order of the table.
var classes = []string{"next step", "blocker", "decision", "attempt", "rule", "environment", "reference", "earlier session", "state", "request", "file", "command", "quote", "other"} //nolint:gochecknoglobals // a read-only table

// half has the results of the pairs used while building, or of those held out.
type half struct {
	name   string
	scores []score
	others []int // the tokens given after unrelated prompts
}

// table writes the halves side by side.
func table(w io.Writer, halves []half) {
	row := func(name string, cell func(h half) string) {
		fmt.Fprintf(w, "| %s |", name)
		for _, h := range halves {
			fmt.Fprintf(w, " %s |", cell(h))
		}
		fmt.Fprintln(w)
	}
	row("", func(h half) string { return h.name })
	row("---", func(half) string { return "---" })
	row("pairs: clear, plan, new, cut", func(h half) string {
		return fmt.Sprintf("%d: %d, %d, %d, %d", len(h.scores), h.kinds(clearPair), h.kinds(planPair), h.kinds(newPair), h.kinds(cutPair))
	})
	row("of these: related, undecided, unrelated", func(h half) string {
		return fmt.Sprintf("%d, %d, %d", h.count(is(related)), h.count(is(undecided)), h.count(is(unrelated)))
	})
	for _, kind := range needKinds {
		row(kind+" needed: given", func(h half) string {
			return share(h.sum(func(s score) int { return s.given1(kind, func(n needed) bool { return n.given }) }), h.needed(kind))
		})
		row(kind+" needed: in the whole brief", func(h half) string {
			return share(h.sum(func(s score) int { return s.given1(kind, func(n needed) bool { return n.inFull }) }), h.needed(kind))
		})
		row(kind+" given: needed", func(h half) string { return h.precision(kind, func(s score) []item { return s.items }) })
		row(kind+" in the whole brief: needed", func(h half) string { return h.precision(kind, func(s score) []item { return s.itemsInFull }) })
	}
	whole := func(r relation) func(h half) string {
		return func(h half) string {
			return share(h.count(func(s score) bool { return s.relation == r && s.full() }), h.count(is(r)))
		}
	}
	row("related pairs given only the short form of a longer brief", func(h half) string {
		return share(h.count(func(s score) bool { return s.missed() }), h.count(is(related)))
	})
	row("of these, related by their first requests", func(h half) string {
		shown := func(s score) bool { return s.relation == related && !strings.HasPrefix(s.why, laterFile) }
		return share(h.count(func(s score) bool { return shown(s) && s.missed() }), h.count(shown))
	})
	row("of these, pairs without a plan", func(h half) string {
		typed := func(s score) bool { return s.relation == related && s.pair.kind != planPair }
		return share(h.count(func(s score) bool { return typed(s) && s.missed() }), h.count(typed))
	})
	row("undecided pairs given more than the short form", whole(undecided))
	row("unrelated pairs given more than the short form", whole(unrelated))
	row("unrelated prompts given more than the short form", func(h half) string {
		n := 0
		for _, tokens := range h.others {
			if tokens > shortForm {
				n++
			}
		}
		return share(n, len(h.others))
	})
	for _, class := range classes {
		row("false: "+class, func(h half) string {
			wrong, all := 0, 0
			for _, s := range h.scores {
				for _, v := range s.verdicts {
					if v.class != class {
						continue
					}
					all++
					if v.false != "" {
						wrong++
					}
				}
			}
			return fmt.Sprintf("%d of %d", wrong, all)
		})
	}
	row("tokens at the start, given, whole brief: mean", func(h half) string {
		return fmt.Sprintf("%d, %d, %d", h.mean(func(s score) int { return s.atStart }), h.mean(func(s score) int { return s.total }), h.mean(func(s score) int { return s.tokens }))
	})
	row("the same: largest", func(h half) string {
		return fmt.Sprintf("%d, %d, %d", h.largest(func(s score) int { return s.atStart }), h.largest(func(s score) int { return s.total }), h.largest(func(s score) int { return s.tokens }))
	})
	row("ms of the hooks of the start: median (95 of 100); of the processor", func(h half) string {
		return h.took(func(s score) time.Duration { return s.given.atStart.elapsed }) + "; " + h.took(func(s score) time.Duration { return s.given.atStart.processor })
	})
	row("ms of the hook of the prompt: the same", func(h half) string {
		return h.took(func(s score) time.Duration { return s.given.atPrompt.elapsed }) + "; " + h.took(func(s score) time.Duration { return s.given.atPrompt.processor })
	})
}

func is(r relation) func(s score) bool { return func(s score) bool { return s.relation == r } }

// given1 returns how many needs of a kind a related pair was given.
func (s score) given1(kind string, has func(needed) bool) int {
	n := 0
	for _, need := range s.needs {
		if s.relation == related && need.kind == kind && has(need) {
			n++
		}
	}
	return n
}

func (h half) needed(kind string) int {
	return h.sum(func(s score) int { return s.given1(kind, func(needed) bool { return true }) })
}

// precision returns how many of the items listed in related pairs were needed.
func (h half) precision(kind string, of func(score) []item) string {
	useful, all := 0, 0
	for _, s := range h.scores {
		if s.relation != related {
			continue
		}
		for _, i := range of(s) {
			if i.kind == kind {
				all++
				if i.useful {
					useful++
				}
			}
		}
	}
	return share(useful, all)
}

func share(part, whole int) string {
	if whole == 0 {
		return "0 of 0"
	}
	const percent = 100
	return fmt.Sprintf("%d of %d (%d %%)", part, whole, (part*percent+whole/2)/whole)
}

func (h half) kinds(kind string) int {
	return h.count(func(s score) bool { return s.pair.kind == kind })
}

func (h half) count(is func(score) bool) int {
	return h.sum(func(s score) int {
		if is(s) {
			return 1
		}
		return 0
	})
}

func (h half) sum(of func(score) int) int {
	n := 0
	for _, s := range h.scores {
		n += of(s)
	}
	return n
}

func (h half) mean(of func(score) int) int { return h.sum(of) / max(len(h.scores), 1) }

func (h half) largest(of func(score) int) int {
	n := 0
	for _, s := range h.scores {
		n = max(n, of(s))
	}
	return n
}

// took returns the median and the 95th percentile of durations.
func (h half) took(of func(score) time.Duration) string {
	var list []time.Duration
	for _, s := range h.scores {
		if d := of(s); d > 0 {
			list = append(list, d)
		}
	}
	if len(list) == 0 {
		return "none"
	}
	slices.Sort(list)
	const most, percent = 95, 100
	return strconv.FormatInt(list[len(list)/2].Milliseconds(), 10) + " (" + strconv.FormatInt(list[len(list)*most/percent].Milliseconds(), 10) + ")"
}

// list writes the false statements of a pair, and if all is set what it needed and was given.
func list(w io.Writer, s score, all bool) {
	mark := func(is bool, yes, no string) string {
		if is {
			return yes
		}
		return no
	}
	if all {
		fmt.Fprintf(w, "%s %s %s %s; given %d tokens, whole %d\n", s.pair.name, s.pair.kind, s.relation, s.why, s.total, s.tokens)
		for _, n := range s.needs {
			fmt.Fprintf(w, "  %s %s needed (%s): %s\n     because: %s\n", s.pair.name, n.kind, mark(n.given, "given", mark(n.inFull, "whole", "MISSED")), n.text, n.why)
		}
		for _, i := range s.itemsInFull {
			fmt.Fprintf(w, "  %s listed %s (%s): %s\n", s.pair.name, i.kind, mark(i.useful, "needed", "NOT needed"), i.text)
		}
	}
	for _, v := range s.verdicts {
		if v.false != "" {
			fmt.Fprintf(w, "%s FALSE %s (%s): %s\n", s.pair.name, v.class, v.false, v.text)
		}
	}
}
