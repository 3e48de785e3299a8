package tracking

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// TurnSteps returns the steps of a turn, oldest first: the contents that persons had given its
// files before it, those that its calls and others gave them in it, and those that it left. What
// persons wrote in a file between two calls, before the first or after the last one, is theirs, if
// no command of the turn can have written it.
func TurnSteps(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, turn StepTurn) []Step {
	made := madeBy(ctx, w, s, turn)
	before := StepBefore(ctx, w, s, n, turn)
	sides := turnSides{w: w, s: s, turn: turn, made: made, before: before, at: made.Begun}
	sides.first = Step{At: made.Begun, Turn: s.TurnID, By: byPerson, Raw: true}
	known := ReadSteps(ctx, w, s, n)
	if turn.Work != nil {
		for _, p := range turn.Touched[:min(len(turn.Touched), mostBefore)] {
			sides.file(ctx, p, known)
		}
	}
	unsure := made
	unsure.Unsure, unsure.Paths, unsure.Blobs = true, nil, nil
	for _, p := range turn.Touched {
		blob := UnknownBlob
		if e, ok := turn.Entries[p]; ok {
			blob = e.OID
		}
		switch {
		case turn.Entries[p].Mode == git.ModeModule, sides.ended[p]:
		case sides.unsure[p], slices.Contains(s.Recorder.Turn.Unsure, p), turn.Unsure[p] && !sides.sure[p]:
			unsure.add(p, blob)
		default:
			made.add(p, blob)
		}
	}
	if first := sides.first; len(first.Paths) > 0 {
		first.Early = before.Early
		for i, p := range before.Paths {
			if !sides.begun[p] {
				first.add(p, before.Blobs[i])
			}
		}
		before = first
	}
	moved, before := splitMoved(ctx, w, s, n, before, turn.Base.Tree)
	steps := append([]Step{moved, before}, sides.steps...)
	return append(steps, unsure, made)
}

// madeBy returns the step of a turn, without paths.
func madeBy(ctx context.Context, w *workspace.Workspace, s *session.State, turn StepTurn) Step {
	since := s.Recorder.Turn.Start
	var beside []string
	if !since.IsZero() {
		// Sessions that were active during the turn count even if they have nothing pending.
		for _, o := range append(w.OtherPendingSessions(ctx, s.ID), w.Sessions.RestingSince(since)...) {
			worked := o.Phase == session.Active || o.LastInteraction != nil && o.LastInteraction.After(since)
			if o.ID != s.ID && worked && w.OwnsSession(o) {
				beside = append(beside, o.ID)
			}
		}
	}
	at := w.Env.Now().UTC()
	if !turn.End.IsZero() {
		at = turn.End.UTC().Add(-1)
	}
	return Step{
		At: at, Begun: since.UTC(), Turn: s.TurnID, Line: s.Recorder.Turn.Line, Prompt: TitleOf(s),
		Beside: beside, Mixed: s.Recorder.Turn.Mixed, By: byAgent, Raw: turn.Raw,
	}
}

// turnSides separates what others wrote in a turn's files from what its calls wrote.
type turnSides struct {
	w    *workspace.Workspace
	s    *session.State
	turn StepTurn
	made Step
	// before has the contents that persons had given files before the turn, first those of begun.
	before, first Step
	at            time.Time // of the last step
	steps         []Step
	// begun are the files whose contents before the turn's first call are known from that call,
	// ended those of which the last step is among steps; unsure and sure are the files of which the
	// turn's last step may, or can't, have lines of others.
	begun, ended, unsure, sure map[string]bool
}

// file adds the steps of a file that the turn left: the calls of edit tools show the contents
// before and after them.
func (t *turnSides) file(ctx context.Context, path string, known []Step) {
	work := t.turn.Work
	states := work.read().States([]string{path}, work.has)
	var last *string
	var from *transcript.FileState
	if len(states) == 0 {
		if work.reach(work.read().Commands(nil, nil, work.has), path) != reached {
			return
		}
		before, ok := t.contentFrom(ctx, work.names(path), known)
		if !ok {
			return
		}
		last = &before
	}
	for i := range states {
		st := &states[i]
		switch {
		case st.Before == nil:
		case i == 0:
			t.beforeFirst(ctx, path, known, st)
		case last != nil && *last != *st.Before:
			t.between(path, *last, from, st)
		}
		last, from = st.After, st
	}
	if last != nil {
		t.afterLast(ctx, path, *last, from)
	}
}

// beforeFirst adds the steps of a file before the turn's first edit of it.
func (t *turnSides) beforeFirst(ctx context.Context, path string, known []Step, st *transcript.FileState) {
	if t.isKnown(ctx, path, known, *st.Before) {
		return
	}
	work := t.turn.Work
	commands := work.read().Commands(nil, st, work.has)
	switch able := work.reach(commands, path); {
	case able == unreached && len(t.made.Beside) == 0 && !t.made.Begun.IsZero():
		if blob, err := t.w.Repo.WriteBlob([]byte(*st.Before)); err == nil {
			mark(&t.begun, path)
			t.first.add(path, blob)
		}
	case able == unreached:
		t.add(path, *st.Before, st, t.others())
	case able == reached:
		before, ok := t.contentBefore(ctx, path, known)
		if explained, judged := work.Explained(commands, []string{path}, before, *st.Before); ok && judged {
			t.split(path, explained, *st.Before, st)
		}
	}
}

// between adds the steps of a file between two edits, of which the first left the content last.
func (t *turnSides) between(path, last string, from, st *transcript.FileState) {
	work := t.turn.Work
	commands := work.read().Commands(from, st, work.has)
	able := work.reach(commands, path)
	if able == reachable {
		return
	}
	t.add(path, last, from, t.made)
	if able == unreached {
		t.add(path, *st.Before, st, t.others())
		return
	}
	explained, _ := work.Explained(commands, []string{path}, last, *st.Before)
	t.split(path, explained, *st.Before, st)
}

// afterLast adds the steps of a file after the turn's last edit of it, which left the content last. If
// from is nil there was no edit, and last is the content before the turn.
func (t *turnSides) afterLast(ctx context.Context, path, last string, from *transcript.FileState) {
	work := t.turn.Work
	now, ok := t.turn.content(ctx, t.w, path)
	if !ok {
		return
	}
	if from != nil && now == last {
		mark(&t.sure, path)
		return
	}
	commands := work.read().Commands(from, nil, work.has)
	able := work.reach(commands, path)
	names := []string{path}
	if from == nil {
		names = work.names(path)
	}
	explained, judged := work.Explained(commands, names, last, now)
	isUnsure := t.turn.Unsure[path] || able == reachable && from != nil && !t.ranLast(path, from)
	if from != nil && (judged || able == unreached || isUnsure) {
		t.add(path, last, from, t.made)
	}
	switch {
	case judged && explained == now:
		mark(&t.sure, path)
	case judged:
		t.add(path, explained, nil, t.made)
		mark(&t.unsure, path)
	case from == nil:
	case able == unreached:
		t.left(path, t.others())
	case isUnsure:
		mark(&t.unsure, path)
	}
}

// split adds the steps of commands that gave a file a content, and of others who may have written the
// lines that explained, what Explained returned for it, doesn't have.
func (t *turnSides) split(path, explained, now string, at *transcript.FileState) {
	if explained != "" {
		t.add(path, explained, at, t.made)
	}
	if explained != now {
		t.add(path, now, at, t.doubtful())
	}
}

// contentFrom returns the content from which commands made that of a file without a state in the turn:
// under its first name the content before the turn, or, under any name but the last one, that which an
// edit left.
func (t *turnSides) contentFrom(ctx context.Context, names []string, known []Step) (string, bool) {
	work := t.turn.Work
	for _, name := range slices.Backward(names[:len(names)-1]) {
		if states := work.read().States([]string{name}, work.has); len(states) > 0 {
			if last := states[len(states)-1].After; last != nil {
				return *last, true
			}
			return "", false
		}
	}
	return t.contentBefore(ctx, names[0], known)
}

// contentBefore returns the content that a file had before the turn, empty if it didn't exist; false if
// that is unknown.
func (t *turnSides) contentBefore(ctx context.Context, path string, known []Step) (string, bool) {
	blob, _, found := lastStep(append(slices.Clone(known), t.before), path)
	if !found {
		e, exists, err := t.w.Lookup(ctx, t.turn.Base.Tree, path)
		if err != nil || !exists {
			return "", err == nil
		}
		blob = e.OID
	}
	if blob == GoneBlob || blob == UnknownBlob {
		return "", blob == GoneBlob
	}
	object, err := t.w.Repo.ReadWithin(ctx, string(blob), largestBefore)
	return strings.ReplaceAll(string(object.Data), "\r\n", "\n"), err == nil && !workspace.IsOpaque(object.Data)
}

// ranLast reports whether a command after a state of a file may have made the file's last change, by
// its time. Without times in the transcript any may have.
func (t *turnSides) ranLast(path string, from *transcript.FileState) bool {
	info, err := os.Lstat(filepath.Join(t.w.Repo.Root, filepath.FromSlash(path)))
	if _, isLate := t.turn.Late[path]; isLate || err != nil || !t.s.Recorder.Turn.Timed {
		return true
	}
	ran := func(c transcript.Write) bool {
		return t.turn.Work.has(c) && c.Ran(disk.Changed(info), coarse)
	}
	return len(t.turn.Work.read().Commands(from, nil, ran)) > 0
}

// others returns a step of persons in the turn. If other sessions were at work, it may be theirs,
// which their calls show.
func (t *turnSides) others() Step {
	if len(t.made.Beside) > 0 {
		return t.doubtful()
	}
	return Step{By: byPerson, Turn: t.made.Turn}
}

// doubtful returns a step of the turn with lines that may be others'.
func (t *turnSides) doubtful() Step {
	by := t.made
	by.Unsure = true
	return by
}

// add adds a step with a content of a file at a call's result, or if that is nil, at
// the end of the turn.
func (t *turnSides) add(path, content string, at *transcript.FileState, by Step) {
	blob, err := t.w.Repo.WriteBlob([]byte(content))
	if err != nil {
		return // it is less exact
	}
	if at != nil && at.Done().UTC().After(t.at) {
		t.at = at.Done().UTC()
	}
	by.At, by.Raw, by.Paths, by.Blobs = t.at, true, nil, nil
	if at == nil || by.At.After(t.made.At) {
		by.At = t.made.At
	}
	by.add(path, blob)
	t.steps = append(t.steps, by)
}

// left adds the last step of a file, which others changed after the turn's last call.
func (t *turnSides) left(path string, by Step) {
	e, ok := t.turn.Entries[path]
	if !ok {
		return
	}
	by.At, by.Raw, by.Paths, by.Blobs = t.made.At, t.made.Raw, nil, nil
	by.add(path, e.OID)
	t.steps = append(t.steps, by)
	mark(&t.ended, path)
}

// isKnown reports whether a content is that of the path's last step, or of the commit that the turn
// is based on.
func (t *turnSides) isKnown(ctx context.Context, path string, known []Step, content string) bool {
	blob, _, found := lastStep(known, path)
	if !found {
		e, _, err := t.w.Lookup(ctx, t.turn.Base.Tree, path)
		if err != nil {
			return false
		}
		blob = e.OID
	}
	return blob == t.w.Repo.Format.HashBlob([]byte(content)) || blob == GoneBlob && content == ""
}

// content returns the content that the turn left in a file, with line ends as the client shows
// them; false if it is too large or can't be read.
func (turn StepTurn) content(ctx context.Context, w *workspace.Workspace, path string) (string, bool) {
	data, kind := changedFile(w, path, time.Time{})
	if late, ok := turn.Late[path]; ok {
		object, err := w.Repo.ReadWithin(ctx, string(late), largestBefore)
		if late == UnknownBlob || late != GoneBlob && err != nil {
			return "", false
		}
		data, kind = object.Data, fileRead
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n"), kind != fileSkipped && !workspace.IsOpaque(data)
}

// mark adds a path to a set.
func mark(set *map[string]bool, path string) {
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[path] = true
}
