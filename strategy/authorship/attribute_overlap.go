package authorship

import (
	"context"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/attribution"
)

// evidence is how much shows that a session wrote a line.
type evidence int

const (
	noEvidence evidence = iota
	// rewrote: an edit tool wrote the whole file with the line, which may have been there.
	rewrote
	// wrote: an edit put the line there, or a command has its text.
	wrote
)

// splitOverlaps gives the lines of turns that overlapped with a turn of another session to the
// one whose calls wrote them: a step holds what both made of the file until then. A line of which
// that isn't certain is marked as unsure. The texts are the file's lines.
func (a *attributing) splitOverlaps(ctx context.Context, path string, lines []attribution.Line, texts [][]byte) {
	if len(a.pending) < 2 { //nolint:mnd // nobody else was at work
		return
	}
	rivals := map[askedTurn][]askedTurn{}
	for i := range lines {
		l := &lines[i]
		turn, ok := a.writers.turn(string(l.By), l.Turn)
		if !ok || l.Call != "" || l.Unsure || l.Number >= len(texts) {
			continue
		}
		others, known := rivals[turn]
		if !known {
			others = a.writers.overlapping(turn)
			rivals[turn] = others
		}
		if len(others) > 0 {
			a.settle(ctx, path, l, turn, others, string(texts[l.Number]))
		}
	}
}

// settle decides which of turns at the same time wrote a line that was found in one of them.
func (a *attributing) settle(ctx context.Context, path string, l *attribution.Line, found askedTurn, others []askedTurn, text string) {
	best, most, several := found, noEvidence, false
	for _, turn := range append([]askedTurn{found}, others...) {
		i := slices.IndexFunc(a.pending, func(s *session.State) bool { return s.ID == turn.session })
		switch e := a.writers.evidence(ctx, a.pending[i], turn, path, text); {
		case e > most:
			best, most, several = turn, e, false
		case e == most && turn.session != best.session:
			several = true
		}
	}
	isSlot := slices.ContainsFunc(a.sessions, func(c Slot) bool { return c.State.ID == best.session })
	if most == noEvidence || several || !isSlot {
		l.Origin = attribution.Origin{Unsure: true}
		return
	}
	l.By, l.Turn = attribution.Author(best.session), best.id
}

// turn returns what is known of a session's turn; false if it isn't known when it began.
func (x *writerIndex) turn(session, id string) (askedTurn, bool) {
	if session == "" {
		return askedTurn{}, false
	}
	for _, t := range x.turns {
		if t.session == session && t.id == id && !t.from.IsZero() {
			return t, true
		}
	}
	return askedTurn{}, false
}

// overlapping returns the turns of other sessions that ran at the same time.
func (x *writerIndex) overlapping(turn askedTurn) []askedTurn {
	before := func(a, b time.Time) bool { return b.IsZero() || a.Before(b) }
	var found []askedTurn
	for _, t := range x.turns {
		if t.session != turn.session && !t.from.IsZero() && before(t.from, turn.to) && before(turn.from, t.to) {
			found = append(found, t)
		}
	}
	return found
}

// evidence returns how much shows that a session wrote a line of a file in a turn.
func (x *writerIndex) evidence(ctx context.Context, s *session.State, turn askedTurn, path, text string) evidence {
	if !attribution.Significant([]byte(text)) {
		return noEvidence
	}
	w := x.of(ctx, s)
	within := func(call transcript.Write) bool {
		if call.Subagent != "" {
			return w.isTaskOf(s, call.Subagent, turn.id)
		}
		return w.within(turn.line, call.Line)
	}
	part := func(call transcript.Write) bool { return !call.Whole && within(call) }
	if _, ok := w.writes.FindPart(path, text, part); ok {
		return wrote
	}
	if _, ok := w.writes.FindCommand(text, within); ok {
		return wrote
	}
	if _, ok := w.writes.Find(path, text, within); ok {
		return rewrote
	}
	return noEvidence
}
