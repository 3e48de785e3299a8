package testkit

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// Measurement is the TB of a program that measures. A failure ends the function that Do runs.
type Measurement struct {
	Progress io.Writer
	err      error
}

// Do runs f and returns the failure that ended it, or nil.
func (m *Measurement) Do(f func()) error {
	done := make(chan struct{})
	go func() { // Fatalf ends only this goroutine, and deferred calls still run
		defer close(done)
		f()
	}()
	<-done
	return m.err
}

// Helper is part of TB.
func (m *Measurement) Helper() {}

// Logf reports progress.
func (m *Measurement) Logf(format string, args ...any) { fmt.Fprintf(m.Progress, format+"\n", args...) }

// Fatalf ends the measurement.
func (m *Measurement) Fatalf(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format, args...)
	}
	runtime.Goexit()
}

// Must ends the measurement on an error.
func (m *Measurement) Must(err error) {
	if err != nil {
		m.Fatalf("%w", err)
	}
}

// Median returns the median of values, 0 for none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2 //nolint:mnd // half
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2 //nolint:mnd // mean of two
}

// PeakMemory returns the peak memory of an exited process in KiB.
func PeakMemory(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin": // in bytes
		return usage.Maxrss >> 10
	default:
		return usage.Maxrss
	}
}

// PrintJSON writes v as indented JSON.
func PrintJSON(out io.Writer, v any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// PrintTable writes lines as a table in Markdown with aligned columns. The second line aligns a
// column to the right by a colon at its end.
func PrintTable(out io.Writer, lines [][]string) {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, text := range line {
			widths[i] = max(widths[i], len(text))
		}
	}
	for _, line := range lines {
		for i, text := range line {
			pad := strings.Repeat(" ", widths[i]-len(text))
			if strings.HasSuffix(lines[1][i], ":") {
				text, pad = pad+text, ""
			}
			fmt.Fprintf(out, "| %s%s ", text, pad)
		}
		fmt.Fprintln(out, "|")
	}
}
