package main

import "github.com/seed-3aff656d/entire/internal/testkit"

// unit is the quantity with which a row is compared.
type unit string

const (
	perVersion unit = "v"
	perStatus  unit = "s"
	perOne     unit = "one" // the same hook with little history
	perBlame   unit = "git blame -M -C"
	perByte    unit = "KB"
	perMega    unit = "MB"
	perSecond  unit = "seconds" // of a command that runs once
)

// row is a line of the table.
type row struct {
	Name   string
	Unit   unit
	Budget float64 // 0: none
	// Command reports whether the row is a command, not a hook.
	Command bool

	samples []sample
	base    []float64 // the unit, measured with each sample
	baseCPU []float64 // its CPU time, if the unit is the same hook or git's own command
	value   float64   // of a row that isn't a time
	slack   float64   // added to the budget
	slowest []*row    // the rows of which this one shows the slowest
}

func (r *row) add(s sample, base float64) {
	r.samples = append(r.samples, s)
	if r.Unit != perOne {
		r.base = append(r.base, base)
	}
}

// times returns the times of all samples in ms.
func (r *row) times() []float64 {
	times := make([]float64, len(r.samples))
	for i, s := range r.samples {
		times[i] = s.ms
	}
	return times
}

func (r *row) ms() float64 { return testkit.Median(r.times()) }

func (r *row) cpu() float64 {
	times := make([]float64, len(r.samples))
	for i, s := range r.samples {
		times[i] = s.cpu
	}
	return testkit.Median(times)
}

func (r *row) ratio() float64 {
	if base := testkit.Median(r.base); base > 0 {
		return r.ms() / base
	}
	return 0
}

// peak returns the peak memory of all samples in KiB.
func (r *row) peak() int64 {
	var most int64
	for _, s := range r.samples {
		most = max(most, s.kib)
	}
	return most
}

// measured has the rows to which a play adds its measurements.
type measured struct {
	// rows receive the measurements, by hook; bases are the rows that are compared with them.
	rows, bases map[string]*row
	idle        bool    // record nothing
	status      float64 // the unit s, measured in this turn
}

// takeOf records the measurements of a process that isn't a hook.
func (m *measured) takeOf(r *row, s sample, v float64) {
	if !m.idle {
		r.add(s, v)
	}
}
