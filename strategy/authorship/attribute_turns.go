package authorship

import (
	"time"

	"github.com/seed-3aff656d/entire/strategy/attribution"
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

// turn represents the turns that wrote the commit's lines, which its checkpoint doesn't
// distinguish.
func (old *replacedCommit) turn() string { return replacedPrefix + string(old.commit.OID) }

const replacedPrefix = "commit "

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

// title returns what was asked in the turn that wrote most of the session's lines; of equals in
// the last.
func (a *attributing) title(id string) string {
	most, title := 1, ""
	for _, turn := range a.writers.turns {
		if lines := a.own[id].turns[turn.id]; turn.session == id && turn.prompt != "" && lines >= most {
			most, title = lines, turn.prompt
		}
	}
	return title
}
