package main

import (
	"fmt"
	"io"
	"strings"
)

// table writes what was measured, as Markdown.
func table(w io.Writer, results []result) error {
	fmt.Fprintln(w, "| session | pair | files changed before | read or edited after | of them known before | named | held | edited after: named, held | tokens | of the peak | statements | false |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|---|")
	var sum result
	tokens, wrong := 0, 0
	edits := [3]int{}
	for _, r := range results {
		named, held := count(r.edited, r.named), count(r.edited, r.held)
		fmt.Fprintf(w, "| %s | %s | %d | %d | %d | %d | %d | %d: %d, %d | %d | %s | %d | %d |\n", r.pair.name, r.pair.kind, r.changed, len(r.files),
			len(r.known), len(r.named), len(r.held), len(r.edited), named, held, r.brief.Tokens, share(r), r.claims, len(r.false))
		sum.changed += r.changed
		sum.files = append(sum.files, r.files...)
		sum.known, sum.named, sum.held = append(sum.known, r.known...), append(sum.named, r.named...), append(sum.held, r.held...)
		sum.claims += r.claims
		tokens, wrong = tokens+r.brief.Tokens, wrong+len(r.false)
		edits[0], edits[1], edits[2] = edits[0]+len(r.edited), edits[1]+named, edits[2]+held
	}
	fmt.Fprintf(w, "| all | %d | %d | %d | %d | %d | %d | %d: %d, %d | %d on average | | %d | %d |\n", len(results), sum.changed, len(sum.files),
		len(sum.known), len(sum.named), len(sum.held), edits[0], edits[1], edits[2], tokens/len(results), sum.claims, wrong)
	for _, r := range results {
		for _, text := range r.false {
			fmt.Fprintf(w, "\nfalse in %s (%s): %s", r.pair.name, r.pair.kind, strings.TrimSpace(text))
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d false statements", wrong)
	}
	return nil
}

// count is how many of the items are in the list.
func count(items, list []string) int {
	n := 0
	for _, item := range items {
		for _, other := range list {
			if item == other {
				n++
			}
		}
	}
	return n
}

func share(r result) string {
	if r.peak == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(r.brief.Tokens)/float64(r.peak))
}
