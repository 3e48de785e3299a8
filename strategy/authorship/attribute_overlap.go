package authorship

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/attribution"
)

// evidence measures how strongly calls show that a session wrote a line.
type evidence int

const (
	noEvidence evidence = iota
	// rewrote: an edit tool wrote the whole file with the line, which may have existed before.
	rewrote
	// wrote: an edit inserted the line, or a command has its text.
	wrote
)

// splitOverlaps assigns the lines of turns that overlapped with a turn of another session to the
// session whose calls wrote them: a step contains the changes of both. Uncertain lines are marked
// as unsure.
func (a *attributing) splitOverlaps(ctx context.Context, found authoredLines) { //nolint:gocognit // one pass over the lines
	before := func(a, b time.Time) bool { return b.IsZero() || a.Before(b) }
	rivals := map[[2]string][]askedTurn{} // turns of other sessions that ran at the same time
	former := map[[2]string][]askedTurn{} // other turns of the same session
	for i := range found.lines.Added {
		l := &found.lines.Added[i]
		if l.By == attribution.Person || l.Call != "" || l.Unsure || l.Number >= len(found.texts) {
			continue
		}
		n := slices.IndexFunc(a.writers.turns, func(t askedTurn) bool {
			return t.session == string(l.By) && t.id == l.Turn && !t.from.IsZero()
		})
		if n < 0 {
			continue
		}
		turn := a.writers.turns[n]
		key := [2]string{turn.session, turn.id}
		others, known := rivals[key]
		if !known {
			for _, t := range a.writers.turns {
				if t.session != turn.session && !t.from.IsZero() && before(t.from, turn.to) && before(turn.from, t.to) {
					others = append(others, t)
				}
			}
			for _, t := range a.writers.turns { // an unproven line may be an unclosed turn's
				if t.session == turn.session && t.id != turn.id && !t.from.IsZero() && t.line > 0 {
					former[key] = append(former[key], t)
				}
			}
			// Sessions whose turn ended without a detected change have a turn without an id.
			for _, id := range turn.beside {
				if !slices.ContainsFunc(others, func(t askedTurn) bool { return t.session == id }) {
					others = append(others, askedTurn{session: id})
				}
			}
			rivals[key] = others
		}
		if l.Unproven {
			others = append(slices.Clip(others), former[key]...)
		}
		if len(others) > 0 || l.Unproven {
			a.settle(ctx, found.names, l, turn, others, cmp.Or(l.Text, string(found.texts[l.Number])))
		}
	}
}

// settle decides which of several concurrent turns wrote a line that was found in one of them.
func (a *attributing) settle(ctx context.Context, names []string, l *attribution.Line, found askedTurn, others []askedTurn, text string) {
	if l.From != "" {
		names = append(slices.Clip(names), l.From)
	}
	unproven := l.Unproven
	l.Unproven = false
	best, most, several := found, noEvidence, false
	for i, turn := range append([]askedTurn{found}, others...) {
		s := a.session(turn.session)
		if s == nil || unproven && i == 0 && a.predates(ctx, found, names, text) {
			continue // a call that has the line only moved it
		}
		switch e := a.writers.evidence(ctx, s, turn, names, text); {
		case turn.id == "" && e < wrote:
		case e > most:
			best, most, several = turn, e, false
		case e == most && turn.session != best.session:
			several = true
		}
	}
	hasChange := func(t askedTurn) bool { return t.id != "" }
	mayBeOthers := unproven || found.mixed || slices.ContainsFunc(others, hasChange) || a.predates(ctx, found, names, text)
	if most == noEvidence && !mayBeOthers {
		return // the other turns changed nothing, as far as is known
	}
	if most == noEvidence || several || !a.isSlot(best.session) {
		l.Origin = attribution.Origin{Unsure: true}
		return
	}
	l.By, l.Turn = attribution.Author(best.session), best.id
}

// predates reports whether a line was in the file before the turn can have written it, according to
// the turn's own calls.
func (a *attributing) predates(ctx context.Context, turn askedTurn, names []string, text string) bool {
	s := a.session(turn.session)
	if s == nil || !attribution.Significant([]byte(text)) {
		return false
	}
	w := a.writers.of(ctx, s)
	return w.writes.Predates(names, text, func(call transcript.Write) bool { return w.isIn(s, turn, call) },
		func(command string) bool { return a.mayChange(command, names) })
}

// isSlot reports whether the session has a slot in the commit's checkpoint.
func (a *attributing) isSlot(session string) bool {
	return slices.ContainsFunc(a.sessions, func(c Slot) bool { return c.State.ID == session })
}

// session returns the state of a session, nil if it can't be read.
func (a *attributing) session(id string) *session.State {
	known := func(s *session.State) bool { return s.ID == id }
	for _, list := range [][]*session.State{a.pending, a.resting} {
		if i := slices.IndexFunc(list, known); i >= 0 {
			return list[i]
		}
	}
	s, err := a.w.Sessions.Load(id)
	if err != nil {
		return nil
	}
	a.resting = append(a.resting, s)
	return s
}

// evidence returns the evidence that a session wrote a line of a file in a turn.
func (x *writerIndex) evidence(ctx context.Context, s *session.State, turn askedTurn, names []string, text string) evidence {
	if !attribution.Significant([]byte(text)) {
		return noEvidence
	}
	w := x.of(ctx, s)
	within := func(call transcript.Write) bool { return w.isIn(s, turn, call) }
	part := func(call transcript.Write) bool { return !call.Whole && within(call) }
	if _, ok := w.writes.FindPart(names, text, part); ok {
		return wrote
	}
	if _, ok := w.writes.FindCommand(text, within); ok {
		return wrote
	}
	if _, ok := w.writes.Find(names, text, within); ok {
		return rewrote
	}
	return noEvidence
}

// isIn reports whether a call belongs to a turn of the session.
func (w *slotWriters) isIn(s *session.State, turn askedTurn, call transcript.Write) bool {
	if turn.id == "" {
		return true
	}
	if call.Subagent != "" {
		return w.isTaskOf(s, call.Subagent, turn.id)
	}
	// If the next turn had no detected change, only its prompt is known.
	return w.within(turn.line, call.Line) && !w.writes.IsBehindNextPrompt(turn.line, call.Line)
}
