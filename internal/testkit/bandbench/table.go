package main

import (
	"cmp"
	"io"
	"slices"
	"strconv"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// cell has the measurements of one tool for one row.
type cell struct {
	ms   []float64
	peak int64 // KiB
	size bool  // the values are MB, not ms
}

// table has the measurements.
type table struct {
	order []string                    // of the rows
	cells map[string]map[string]*cell // by row and tool
}

func (t *table) cell(row, tool string) *cell {
	if t.cells[row] == nil {
		t.cells[row] = map[string]*cell{}
		t.order = append(t.order, row)
	}
	if t.cells[row][tool] == nil {
		t.cells[row][tool] = &cell{}
	}
	return t.cells[row][tool]
}

// budget is the limit of a row of ours: a multiple of another cell, plus a constant.
type budget struct {
	row, tool string // the other cell; row "" is the same row
	times     float64
	more      float64 // ms
	text      string
}

// result is a row in printed form.
type result struct {
	Name   string             `json:"name"`
	In     string             `json:"in"` // ms or MB
	Median map[string]float64 `json:"median"`
	PeakMB map[string]float64 `json:"peak_mb,omitempty"`
	Budget string             `json:"budget,omitempty"`
	// Ratio is the ratio of our time to the cell of the budget; Limit is the budget in ms.
	Ratio float64 `json:"ratio,omitempty"`
	Limit float64 `json:"limit_ms,omitempty"`
	Over  bool    `json:"over"`
}

func (t *table) results() []result {
	budgets := map[string]budget{
		rowFirst:   {tool: restic, times: 0.4, text: "0.4 restic"},
		rowChanged: {tool: walk, times: 1.4, text: "1.4 walks"},
		rowRestore: {tool: walk, times: 1, more: 200, text: "a walk + 200 ms"},
		rowModules: {tool: cpA, times: 1.2, text: "1.2 cp -a"},
		rowLate:    {row: rowEarly, tool: ours, times: 1.2, text: "1.2 of the first"}, //nolint:mnd // as fast, give or take
	}
	list := make([]result, 0, len(t.order))
	for _, row := range t.order {
		r := result{Name: row, In: "ms", Median: map[string]float64{}, PeakMB: map[string]float64{}}
		for tool, c := range t.cells[row] {
			r.Median[tool] = testkit.Median(c.ms)
			if c.peak > 0 {
				r.PeakMB[tool] = float64(c.peak) / (1 << 10)
			}
			if c.size {
				r.In = "MB"
			}
		}
		limit, ok := budgets[row]
		r.Budget = limit.text
		c := t.cells[cmp.Or(limit.row, row)][limit.tool]
		if ok && c != nil && len(c.ms) > 0 && t.cells[row][ours] != nil {
			base := testkit.Median(c.ms)
			r.Ratio, r.Limit = r.Median[ours]/base, base*limit.times+limit.more
			r.Over = r.Median[ours] > r.Limit
		}
		list = append(list, r)
	}
	return list
}

func (t *table) printTable(out io.Writer) {
	tools := []string{ours, walk, restic, borg, cpA, cpAL}
	results := t.results()
	lines := make([][]string, 0, len(results)+2)
	lines = append(lines,
		slices.Concat([]string{"what"}, tools, []string{"ratio", "budget", "", "peak MB"}),
		slices.Concat([]string{"---"}, slices.Repeat([]string{"---:"}, len(tools)), []string{"---:", "---", "---", "---:"}),
	)
	for _, r := range results {
		medians := make([]string, len(tools))
		for i, tool := range tools {
			medians[i] = number(r.Median[tool], 0, " "+r.In)
		}
		verdict := ""
		switch {
		case r.Limit == 0:
		case r.Over:
			verdict = "over"
		default:
			verdict = "ok"
		}
		rest := []string{number(r.Ratio, 2, ""), r.Budget, verdict, number(r.PeakMB[ours], 0, "")} //nolint:mnd // digits
		lines = append(lines, slices.Concat([]string{r.Name}, medians, rest))
	}
	testkit.PrintTable(out, lines)
}

func number(v float64, digits int, unit string) string {
	if v == 0 {
		return ""
	}
	if v < 10 && digits == 0 { //nolint:mnd // small ones with a digit more
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + unit
}
