package authorship

import (
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/provenance"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// askedTurn is a turn of a session with what was asked in it, or all turns of a replaced
// commit with the title of its checkpoint.
type askedTurn struct {
	session, id string
	prompt      string // empty if it isn't known
	line        int    // where it begins in the transcript
	// from is when it began, to when it ended; zero if that isn't known, or it runs.
	from, to time.Time
	// beside are the sessions that were at work at the same time.
	beside []string
	// mixed reports that files were changed before it, it isn't known by whom.
	mixed bool
}

// addTurns adds the turns of a session, that which runs included.
func (x *writerIndex) addTurns(s *session.State, steps []provenance.Step) {
	for _, step := range steps {
		if step.Prompt != "" || step.Line > 0 || !step.Begun.IsZero() {
			x.turns = append(x.turns, askedTurn{session: s.ID, id: step.Turn, prompt: step.Prompt, line: step.Line, from: step.Begun, to: step.At, beside: step.Beside, mixed: step.Mixed})
		}
	}
	if workspace.IsBusy(s) {
		t := s.Recorder.Turn
		x.turns = append(x.turns, askedTurn{session: s.ID, id: s.TurnID, prompt: provenance.TitleOf(s), line: t.Line, from: t.Start, mixed: t.Mixed})
	}
}

// addReplaced adds the turns of replaced commits.
func (x *writerIndex) addReplaced(commits []replacedCommit) {
	for _, old := range commits {
		for _, slot := range old.slots {
			if slot.title != "" {
				x.turns = append(x.turns, askedTurn{session: slot.session, id: old.turn(), prompt: slot.title})
			}
			for _, t := range slot.told.Turns {
				x.turns = append(x.turns, askedTurn{session: slot.session, id: t.ID, prompt: t.Title, line: t.Line})
			}
		}
	}
}

// turn stands for the turns that wrote the commit's lines, which its checkpoint doesn't
// tell apart.
func (old *replacedCommit) turn() string { return replacedPrefix + string(old.commit.OID) }

const replacedPrefix = "commit "

// isReplaced reports whether a turn stands for those of a replaced commit.
func isReplaced(turn string) bool { return strings.HasPrefix(turn, replacedPrefix) }

// turnOf returns the turn that made of a path what no step records, if it was the
// author's.
func (sh *shares) turnOf(by attribution.Author) string {
	for _, c := range sh.sessions {
		if attribution.Author(c.State.ID) == by && workspace.IsBusy(c.State) {
			return c.State.TurnID
		}
	}
	return ""
}

// lastTurn returns the turn of the author's last step, or that which runs.
func (sh *shares) lastTurn(steps []provenance.AuthoredStep, by attribution.Author) string {
	if turn := sh.turnOf(by); turn != "" {
		return turn
	}
	for _, s := range slices.Backward(steps) {
		if attribution.Author(s.By) == by {
			return s.Turn
		}
	}
	return ""
}

// title returns what was asked in the turn that wrote most of the session's lines; of
// equals in the last.
func (a *attributing) title(id string) string {
	most, title := 1, ""
	for _, turn := range a.writers.turns {
		if lines := a.own[id].turns[turn.id]; turn.session == id && turn.prompt != "" && lines >= most {
			most, title = lines, turn.prompt
		}
	}
	return title
}
