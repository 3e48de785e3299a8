package git

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Progress is the progress of a git process that transfers objects or checks out files.
type Progress struct {
	// Stage is git's name of the stage, such as "Receiving objects".
	Stage string
	// Done and Total count objects or files; Total is 0 if git doesn't report it.
	Done, Total int64
	// Bytes is the number of bytes transferred, 0 if git doesn't report it.
	Bytes int64
}

// ProgressFlag returns the flag of fetch, push and checkout that turns their progress reports on or
// off.
func (r *Repo) ProgressFlag() string {
	if r.Progress == nil {
		return "--no-progress"
	}
	return "--progress"
}

// progressLine matches the lines that git writes repeatedly to show progress:
// "remote: Counting objects: 12", "Receiving objects:  45% (9/20), 1.21 MiB | 3.10 MiB/s".
var progressLine = sync.OnceValue(func() *regexp.Regexp { //nolint:gochecknoglobals // compiled once, when it is needed
	return regexp.MustCompile(`^(?:remote: )?([A-Z][A-Za-z ]+): +(?:\d+% \((\d+)/(\d+)\)|(\d+))(?:, ([\d.]+) (bytes|KiB|MiB|GiB))?(?: *[,|]|$)`)
})

// parseProgress parses a line of git's stderr.
func parseProgress(line string) (Progress, bool) {
	const stage, done, total, alone, amount, unit = 1, 2, 3, 4, 5, 6
	m := progressLine().FindStringSubmatch(strings.TrimRight(line, " "))
	if m == nil {
		return Progress{}, false
	}
	number := func(text string) int64 {
		n, _ := strconv.ParseInt(text, 10, 64) // digits, or nothing
		return n
	}
	p := Progress{Stage: m[stage], Done: number(m[done] + m[alone]), Total: number(m[total])}
	if m[amount] != "" {
		n, _ := strconv.ParseFloat(m[amount], 64)
		shift := map[string]int64{"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
		p.Bytes = int64(n * float64(shift[m[unit]]))
	}
	return p, true
}

// progressReader removes the progress from git's stderr, and reports it.
type progressReader struct {
	report func(Progress)
	rest   []byte // an incomplete line
}

// take adds p to the incomplete line, reports the progress and returns the other lines.
func (r *progressReader) take(p []byte) (other []byte) {
	r.rest = append(r.rest, p...)
	for {
		end := bytes.IndexAny(r.rest, "\r\n")
		if end < 0 {
			return other
		}
		line := r.rest[:end+1]
		// Git's notes beside its progress are neither reported nor kept.
		note := strings.TrimPrefix(string(line), "remote: ")
		rest, isTotal := strings.CutPrefix(note, "Total ")
		isNote := isTotal && strings.HasPrefix(strings.TrimLeft(rest, "0123456789"), " (") ||
			strings.HasPrefix(note, "Delta compression using ")
		if at, ok := parseProgress(string(r.rest[:end])); ok {
			r.report(at)
		} else if !isNote {
			other = append(other, line...)
		}
		r.rest = r.rest[end+1:]
	}
}
