package authorship

import (
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git/gitdiff"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/provenance"
)

// mostRanges is the length above which an attribution has no ranges of lines.
const mostRanges = 64 << 10

// tally adds up lines.
type tally struct {
	agentLines, agentRemoved, agentReplaced                int
	humanAdded, humanModified, humanRemoved, humanReplaced int
	agentFiles, humanFiles                                 int
	estimated, tooMany                                     bool
	files                                                  []checkpoint.FileAttribution
	turns                                                  map[string]int // lines by turn
}

// lines adds those of a file.
func (a *attributing) lines(path string, lines attribution.Lines) {
	written, removed := map[string]ranges{}, map[string]ranges{}
	var modified ranges
	for _, l := range lines.Added {
		a.addLine(l)
		if l.By != attribution.Person {
			written[string(l.By)] = written[string(l.By)].with(l.Number)
		} else if l.Modified {
			modified = modified.with(l.Number)
		}
	}
	for _, l := range lines.Removed {
		a.removeLine(l.By, l.Modified)
		if l.By != attribution.Person {
			removed[string(l.By)] = removed[string(l.By)].with(l.Number)
		}
	}
	for _, c := range a.sessions {
		id := c.State.ID
		own := a.own[id]
		f := checkpoint.FileAttribution{
			Path: session.Path(path), AgentRanges: written[id].String(),
			ModifiedRanges: modified.String(), RemovedRanges: removed[id].String(),
		}
		if f.AgentRanges+f.ModifiedRanges+f.RemovedRanges != "" {
			own.files = append(own.files, f)
			a.own[id] = own
		}
	}
}

func (a *attributing) addLine(l attribution.Line) {
	switch {
	case l.By != attribution.Person:
		a.total.agentLines++
		own := a.own[string(l.By)]
		own.agentLines++
		if own.turns == nil {
			own.turns = map[string]int{}
		}
		own.turns[l.Turn]++
		a.own[string(l.By)] = own
	case l.Modified:
		a.total.humanModified++
	default:
		a.total.humanAdded++
	}
}

func (a *attributing) removeLine(by attribution.Author, replaced bool) {
	switch {
	case by != attribution.Person && replaced:
		a.total.agentReplaced++
	case by != attribution.Person:
		a.total.agentRemoved++
	case replaced:
		a.total.humanReplaced++
	default:
		a.total.humanRemoved++
	}
}

// estimate adds a file as if one author had done all of it.
func (a *attributing) estimate(f gitdiff.FileDiff, steps []provenance.AuthoredStep, by attribution.Author) {
	a.total.estimated = true
	if len(f.Hunks) > 0 {
		all := attribution.AllBy(by, f.Hunks)
		turn := a.lastTurn(steps, by)
		for i := range all.Added {
			all.Added[i].Turn = turn
		}
		a.lines(f.Path, all)
		return
	}
	a.total.tooMany = true
	for i := range f.Added {
		a.addLine(attribution.Line{By: by, Modified: i < f.Removed})
	}
	for i := range f.Removed {
		a.removeLine(by, i < f.Added)
	}
}

// ranges are lines, from 0, in ascending order.
type ranges []lineRange

// lineRange is from the first to the last of a row of lines.
type lineRange struct{ first, last int }

// with is r and another line.
func (r ranges) with(line int) ranges {
	if n := len(r); n > 0 && r[n-1].last+1 == line {
		r[n-1].last = line
		return r
	}
	return append(r, lineRange{line, line})
}

// String writes the ranges, counted from 1: "1-4,9".
func (r ranges) String() string {
	parts := make([]string, len(r))
	for i, one := range r {
		parts[i] = strconv.Itoa(one.first + 1)
		if one.last > one.first {
			parts[i] += "-" + strconv.Itoa(one.last+1)
		}
	}
	return strings.Join(parts, ",")
}

// rangeLines are the lines of written ranges, from 0, of a file with so many
// lines at most. What is no range is left out: anybody may have written it.
func rangeLines(s string, most int) []int {
	var lines []int
	for part := range strings.SplitSeq(s, ",") {
		from, to, ok := strings.Cut(part, "-")
		if !ok {
			to = from
		}
		first, errA := strconv.Atoi(from)
		last, errB := strconv.Atoi(to)
		if errA != nil || errB != nil || first < 1 || last < first || last > most {
			continue
		}
		for line := first; line <= last; line++ {
			lines = append(lines, line-1)
		}
	}
	return lines
}
