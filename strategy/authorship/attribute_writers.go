package authorship

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// slotWriters holds the turns and writers of a session, and the texts that its edit tools wrote.
type slotWriters struct {
	turns    []checkpoint.Turn
	writers  []checkpoint.Writer
	turnAt   map[string]int
	writerAt map[checkpoint.Writer]int
	// writes is nil until needed.
	writes *transcript.Writes
	// starts are the lines of the transcript at which turns begin, sorted.
	starts []int
}

// writerIndex finds the turns and calls in which sessions wrote lines.
type writerIndex struct {
	w     *workspace.Workspace
	turns []askedTurn // of each session in chronological order
	slots map[string]*slotWriters
}

// of returns the writers of a session, with the texts that its edit tools and those of its
// subagents wrote recently.
func (x *writerIndex) of(ctx context.Context, s *session.State) *slotWriters {
	if w := x.slots[s.ID]; w != nil {
		return w
	}
	w := &slotWriters{turnAt: map[string]int{}, writerAt: map[checkpoint.Writer]int{}}
	first := s.TranscriptStart
	for _, turn := range x.turns {
		if turn.session != s.ID {
			continue
		}
		if turn.line > 0 {
			w.starts = append(w.starts, turn.line)
		}
		if !turn.from.IsZero() { // from a step: a commit may have taken up a part of the turn
			first = min(first, turn.line)
		}
	}
	slices.Sort(w.starts)
	w.writes = tracking.ReadWrites(ctx, x.w, s, first, s.Recorder.Cursor)
	if x.slots == nil {
		x.slots = map[string]*slotWriters{}
	}
	x.slots[s.ID] = w
	return w
}

// writer returns the writer of a line of a session, by its turn and text. The text is nil if
// unknown.
func (x *writerIndex) writer(c Slot, w *slotWriters, names []string, l attribution.Line, text []byte) checkpoint.Writer {
	by := checkpoint.Writer{Turn: checkpoint.NoTurn}
	turn := l.Turn
	if strings.HasPrefix(turn, replacedPrefix) { // the turns of a replaced commit
		turn = ""
	}
	if turn != "" {
		at, known := w.turnAt[turn]
		if !known {
			info := checkpoint.Turn{ID: turn}
			for _, t := range x.turns {
				if t.session == c.State.ID && t.id == turn {
					info.Line, info.Title = t.line, cmp.Or(t.prompt, info.Title)
				}
			}
			at = len(w.turns)
			w.turns, w.turnAt[turn] = append(w.turns, info), at
		}
		by.Turn = at
	}
	if l.Call != "" {
		by.Call, by.Subagent, by.Type = l.Call, l.Subagent, l.Type
		return by
	}
	if text == nil {
		return by
	}
	if l.From != "" {
		names = append(slices.Clip(names), l.From)
	}
	if l.Text != "" {
		text = []byte(l.Text)
	}
	found, ok := w.writes.FindWriter(names, string(text), func(call transcript.Write) bool {
		if call.Subagent != "" {
			return w.isTaskOf(c.State, call.Subagent, turn)
		}
		return turn == "" || w.within(w.turns[by.Turn].Line, call.Line)
	})
	if !ok || !transcript.IsToolID(found.Call) {
		return by
	}
	by.Call = found.Call
	if found.Subagent != "" {
		by.Subagent = found.Subagent
		if task := c.State.Recorder.FindTask(func(t *session.Task) bool { return t.Agent == found.Subagent }); task != nil {
			by.Type = task.Type
		}
	}
	return by
}

// isTaskOf reports whether a subagent may have been at work in a turn of the session.
func (w *slotWriters) isTaskOf(s *session.State, agent, turn string) bool {
	task := s.Recorder.FindTask(func(t *session.Task) bool { return t.Agent == agent })
	return task == nil || turn == "" || task.Turn == "" || task.Turn == turn
}

// within reports whether a line of the transcript is in the turn that begins at start.
func (w *slotWriters) within(start, line int) bool {
	next := slices.IndexFunc(w.starts, func(other int) bool { return other > start })
	return line >= start && (next < 0 || line < w.starts[next])
}

// authoredLines holds the lines that a commit adds to a file, with the data that identifies them in
// a record.
type authoredLines struct {
	// names are the file's names in the session's turns.
	names []string
	diff  git.FileDiff
	lines attribution.Lines
	// texts are the lines of the commit's file, nil if unknown.
	texts     [][]byte
	estimated bool
}

// record returns the attribution of the file for a session's slot, without its path. Only the first
// slot records which unsure lines are not the session's.
func (x *writerIndex) record(ctx context.Context, c Slot, l authoredLines, isFirst bool) checkpoint.FileAttribution {
	id := attribution.Author(c.State.ID)
	var added, own, modified, removed, unsure checkpoint.LineRanges
	written := map[int]checkpoint.LineRanges{}
	var texts [][]byte
	for _, line := range l.lines.Added {
		var text []byte
		if line.Number < len(l.texts) {
			text = l.texts[line.Number]
			texts = append(texts, text)
		}
		added = added.With(line.Number + 1)
		switch line.By {
		case id:
			own = own.With(line.Number + 1)
			if line.Unsure {
				unsure = unsure.With(line.Number + 1)
				continue
			}
			w := x.of(ctx, c.State)
			if by := x.writer(c, w, l.names, line, text); by != (checkpoint.Writer{Turn: checkpoint.NoTurn}) {
				at, known := w.writerAt[by]
				if !known {
					at = len(w.writers)
					w.writers, w.writerAt[by] = append(w.writers, by), at
				}
				written[at] = written[at].With(line.Number + 1)
			}
		case attribution.Person:
			if line.Modified {
				modified = modified.With(line.Number + 1)
			}
			if line.Unsure && isFirst {
				unsure = unsure.With(line.Number + 1)
			}
		}
	}
	for _, line := range l.lines.Removed {
		if line.By == id {
			removed = removed.With(line.Number + 1)
		}
	}
	f := checkpoint.FileAttribution{
		AgentRanges: own.String(), ModifiedRanges: modified.String(), RemovedRanges: removed.String(),
		Written: checkpoint.FormatWritten(written), Unsure: unsure.String(), Estimated: l.estimated,
	}
	if f.AgentRanges+f.ModifiedRanges+f.RemovedRanges+f.Unsure == "" && !l.estimated {
		return f
	}
	f.Blob = l.diff.New
	if all := added.String(); all != f.AgentRanges {
		f.AddedRanges = all
	}
	if len(texts) == len(l.lines.Added) && len(texts) > 0 {
		f.Patch = checkpoint.PatchID(texts)
		prints := make([]uint32, 0, len(texts))
		for _, text := range texts {
			prints = append(prints, checkpoint.Print(text))
		}
		f.Prints = checkpoint.FormatPrints(prints)
	}
	return f
}

// splitLines returns the lines of a content, each with its newline.
func splitLines(content []byte) [][]byte {
	lines := bytes.SplitAfter(content, []byte{'\n'})
	if n := len(lines); n > 0 && len(lines[n-1]) == 0 {
		lines = lines[:n-1]
	}
	return lines
}
