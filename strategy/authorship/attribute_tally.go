package authorship

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// tally counts lines.
type tally struct {
	agentLines, agentRemoved, agentReplaced, unknownLines  int
	humanAdded, humanModified, humanRemoved, humanReplaced int
	agentFiles, humanFiles                                 int
	estimated, tooMany                                     bool
	files                                                  []checkpoint.FileAttribution
	turns                                                  map[string]int // lines by turn
}

// tallies counts the lines of a commit, and those of each of its sessions.
type tallies struct {
	total tally
	own   map[string]tally
}

// lines counts the lines of a file.
func (a *attributing) lines(ctx context.Context, l authoredLines) {
	for _, line := range l.lines.Added {
		a.addLine(line)
	}
	for _, line := range l.lines.Removed {
		a.total.removeLine(line.By, line.Modified)
	}
	// The writers of lines of a session without a slot, and of lines that a conflict brought back,
	// are in the record of a commit that this one copies or folds.
	copied := a.copied[l.diff.Path]
	for i, line := range l.lines.Added {
		isBack := line.By == attribution.Person && line.Number < len(l.texts) && copied[string(bytes.TrimSpace(l.texts[line.Number]))]
		if isBack || line.By != attribution.Person && !a.isSlot(string(line.By)) {
			l.lines.Added[i] = attribution.Line{Number: line.Number, Origin: attribution.Origin{Unsure: true}}
		}
	}
	for i, c := range a.sessions {
		f := a.writers.record(ctx, c, l, i == 0)
		if f.Blob == "" && f.RemovedRanges == "" {
			continue
		}
		f.Path = session.Path(l.diff.Path)
		own := a.own[c.State.ID]
		own.files = append(own.files, f)
		a.own[c.State.ID] = own
	}
}

// addLine counts an added line.
func (t *tallies) addLine(l attribution.Line) {
	if l.By != attribution.Person {
		own := t.own[string(l.By)]
		if !l.Unsure {
			own.agentLines++
		}
		if own.turns == nil {
			own.turns = map[string]int{}
		}
		own.turns[l.Turn]++
		t.own[string(l.By)] = own
	}
	switch {
	case l.Unsure:
		t.total.unknownLines++
	case l.By != attribution.Person:
		t.total.agentLines++
	case l.Modified:
		t.total.humanModified++
	default:
		t.total.humanAdded++
	}
}

// removeLine counts a removed line.
func (t *tally) removeLine(by attribution.Author, replaced bool) {
	switch {
	case by != attribution.Person && replaced:
		t.agentReplaced++
	case by != attribution.Person:
		t.agentRemoved++
	case replaced:
		t.humanReplaced++
	default:
		t.humanRemoved++
	}
}

// estimate counts a file as if one author had made all of its changes.
func (a *attributing) estimate(f git.FileDiff, steps []tracking.AuthoredStep, by attribution.Author) {
	a.total.estimated = true
	if len(f.Hunks) > 0 {
		all := attribution.AllBy(by, f.Hunks)
		turn := a.turnOf(by) // or that of the author's last step
		for i := len(steps) - 1; i >= 0 && turn == ""; i-- {
			if attribution.Author(steps[i].By) == by {
				turn = steps[i].Turn
				break
			}
		}
		for i := range all.Added {
			all.Added[i].Turn = turn
		}
		a.found = append(a.found, authoredLines{names: []string{f.Path}, diff: f, lines: all, estimated: true})
		return
	}
	a.total.tooMany = true
	for i := range f.Added {
		a.addLine(attribution.Line{By: by, Modified: i < f.Removed})
	}
	for i := range f.Removed {
		a.total.removeLine(by, i < f.Added)
	}
}

// rangeLines returns the lines of formatted ranges, from 0. It skips ranges that are invalid or
// extend beyond line most, because the text may come from anywhere.
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
