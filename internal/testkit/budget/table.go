package main

import (
	"io"
	"slices"
	"strconv"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// result is a row in printed form.
type result struct {
	Name     string  `json:"name"`
	Slowest  string  `json:"slowest,omitempty"`
	Runs     int     `json:"runs,omitempty"`
	Median   float64 `json:"median"`
	In       string  `json:"in"`                      // ms, KB, MB or seconds
	Best     float64 `json:"fastest_ratio,omitempty"` // ratio of the fastest runs
	CPU      float64 `json:"cpu_ms,omitempty"`
	CPURatio float64 `json:"cpu_ratio,omitempty"` // least affected by other work on the machine
	Unit     string  `json:"unit,omitempty"`
	UnitMS   float64 `json:"unit_ms,omitempty"`
	Ratio    float64 `json:"ratio,omitempty"`
	Budget   float64 `json:"budget,omitempty"`
	Over     bool    `json:"over"`
	PeakMB   float64 `json:"peak_mb,omitempty"`
	Git      int     `json:"git_processes"`
	HasGit   bool    `json:"-"`
	absolute bool
}

const mib = 1 << 10 // in KiB

func (r *row) result() result {
	if r.Unit == perByte || r.Unit == perMega || r.Unit == perSecond {
		limit := r.Budget
		if limit > 0 {
			limit += r.slack
		}
		out := result{Name: r.Name, Median: r.value, In: string(r.Unit), Budget: limit, Over: limit > 0 && r.value > limit, absolute: true}
		if len(r.slowest) == 1 { // the row of the process with the peak memory
			out.Slowest = r.slowest[0].Name
		}
		return out
	}
	p := r // the row with the shown numbers
	for i, other := range r.slowest {
		if i == 0 || other.ratio() > p.ratio() {
			p = other
		}
	}
	out := result{
		Name: r.Name, Runs: len(p.samples), Median: p.ms(), In: "ms", CPU: p.cpu(), Unit: string(r.Unit), UnitMS: testkit.Median(p.base), Ratio: p.ratio(),
		Budget: r.Budget, Over: r.Budget > 0 && p.ratio() > r.Budget, PeakMB: float64(p.peak()) / mib,
	}
	// The ratio of the fastest times of both sides approximates the ratio on an idle machine.
	if len(p.samples) > 0 && len(p.base) > 0 {
		out.Best = slices.Min(p.times()) / slices.Min(p.base)
	}
	if base := testkit.Median(p.baseCPU); base > 0 {
		out.CPURatio = p.cpu() / base
	}
	for _, s := range p.samples {
		out.Git, out.HasGit = max(out.Git, s.git), out.HasGit || s.logged
	}
	if p != r {
		out.Slowest = p.Name
	}
	return out
}

func (b *bench) printTable(out io.Writer) {
	lines := make([][]string, 0, len(b.table)+2)
	lines = append(lines,
		[]string{"what", "median", "unit", "ratio", "budget", "", "fastest", "CPU", "CPU ratio", "peak MB", "git"},
		[]string{"---", "---:", "---:", "---:", "---:", "---", "---:", "---:", "---:", "---:", "---:"},
	)
	for _, r := range b.table {
		lines = append(lines, r.result().cells())
	}
	testkit.PrintTable(out, lines)
}

func (r result) cells() []string {
	number := func(v float64, digits int, more string) string {
		if v == 0 {
			return ""
		}
		return strconv.FormatFloat(v, 'f', digits, 64) + more
	}
	name, verdict, git := r.Name, "ok", ""
	if r.Slowest != "" {
		name += " (" + r.Slowest + ")"
	}
	switch {
	case r.Budget == 0:
		verdict = ""
	case r.Over:
		verdict = "over"
	}
	if r.HasGit {
		git = strconv.Itoa(r.Git)
	}
	if r.absolute {
		return []string{name, number(r.Median, 1, " "+r.In), "", "", number(r.Budget, 0, " "+r.In), verdict, "", "", "", ""}
	}
	budget := ""
	if r.Budget > 0 {
		budget = strconv.FormatFloat(r.Budget, 'f', -1, 64) + " " + r.Unit
	}
	return []string{
		name, number(r.Median, 1, " ms"), number(r.UnitMS, 1, " ms"), number(r.Ratio, 2, ""), //nolint:mnd // digits
		budget, verdict, number(r.Best, 2, ""), number(r.CPU, 1, " ms"), number(r.CPURatio, 2, ""), number(r.PeakMB, 0, ""), git,
	}
}
