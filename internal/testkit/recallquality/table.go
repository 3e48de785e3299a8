package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
)

// classes are the kinds of statements, in the order of the table.
var classes = []string{"next step", "blocker", "decision", "state", "request", "file", "command", "quote", "other"} //nolint:gochecknoglobals // a read-only table

// half has the pairs used during development, or those held back.
type half struct {
	name   string
	scores []score
}

// table writes both halves side by side.
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
	row("files that B used first and A knew", func(h half) string {
		return fmt.Sprintf("%d of %d", h.sum(func(s score) int { return len(s.known) }), h.sum(func(s score) int { return len(s.wanted) }))
	})
	row("of these, named in what was given", func(h half) string {
		return share(h.sum(func(s score) int { return len(s.named) }), h.sum(func(s score) int { return len(s.known) }))
	})
	row("of these, named in the whole brief", func(h half) string {
		return share(h.sum(func(s score) int { return len(s.inFull) }), h.sum(func(s score) int { return len(s.known) }))
	})
	row("files listed in what was given that B touches (related pairs)", func(h half) string {
		return share(h.sum(func(s score) int { return s.ifRelated(len(s.touched)) }), h.sum(func(s score) int { return s.ifRelated(len(s.listed)) }))
	})
	row("files listed in the whole brief that B touches (related pairs)", func(h half) string {
		return share(h.sum(func(s score) int { return s.ifRelated(len(s.touchedInFull)) }), h.sum(func(s score) int { return s.ifRelated(len(s.listedInFull)) }))
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
	row("tokens of the whole brief, mean (largest)", func(h half) string {
		largest := 0
		for _, s := range h.scores {
			largest = max(largest, s.tokens)
		}
		return fmt.Sprintf("%d (%d)", h.mean(func(s score) int { return s.tokens }), largest)
	})
	row("of these, code", func(h half) string {
		return share(h.sum(func(s score) int { return s.code }), h.sum(func(s score) int { return s.tokens }))
	})
	row("tokens given at the start, mean", func(h half) string { return strconv.Itoa(h.mean(func(s score) int { return s.atStart })) })
	row("related pairs given more than the short form", func(h half) string {
		return share(h.count(func(s score) bool { return s.related && s.total > shortForm }), h.count(func(s score) bool { return s.related }))
	})
	row("of these, pairs without a plan", func(h half) string {
		return share(h.count(func(s score) bool { return s.related && s.pair.kind != planPair && s.total > shortForm }), h.count(func(s score) bool { return s.related && s.pair.kind != planPair }))
	})
	row("unrelated pairs given more than the short form", func(h half) string {
		return share(h.count(func(s score) bool { return !s.related && s.total > shortForm }), h.count(func(s score) bool { return !s.related }))
	})
}

func share(part, whole int) string {
	if whole == 0 {
		return "0 of 0"
	}
	const percent = 100
	return fmt.Sprintf("%d of %d (%d %%)", part, whole, (part*percent+whole/2)/whole)
}

func (s *score) ifRelated(n int) int {
	if s.related {
		return n
	}
	return 0
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

// list writes the statements, or only those that are false.
func list(w io.Writer, s score, all bool) {
	if all {
		fmt.Fprintf(w, "%s %s related=%v %s; given %d tokens, whole %d; known %v named %v\n", s.pair.name, s.pair.kind, s.related, s.why, s.total, s.tokens, s.known, s.inFull)
		for _, file := range s.known {
			if !slices.Contains(s.inFull, file) {
				fmt.Fprintf(w, "  not named: %s\n", file)
			}
		}
		for _, file := range s.listed {
			fmt.Fprintf(w, "  listed, touched=%v: %s\n", slices.Contains(s.touched, file), file)
		}
	}
	for _, v := range s.verdicts {
		switch {
		case v.false != "":
			fmt.Fprintf(w, "%s FALSE %s (%s): %s\n", s.pair.name, v.class, v.false, v.text)
		case all:
			fmt.Fprintf(w, "  true %s: %s\n", v.class, v.text)
		}
	}
}
