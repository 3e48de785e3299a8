package authorship

import (
	"time"

	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// askedTurn is a turn of a session with its prompt. It represents all turns of a replaced commit,
// with the title of its checkpoint, if the checkpoint doesn't distinguish them.
type askedTurn struct {
	session, id string
	prompt      string // empty if it isn't known
	line        int    // where it begins in the transcript
	// from and to are the times of its begin and end, zero if unknown. to is zero while it runs.
	from, to time.Time
	// beside holds the sessions that were at work at the same time.
	beside []string
	// mixed reports that an unknown author changed files before it.
	mixed bool
}

// turn returns an id for all turns that wrote the commit's lines, which its checkpoint doesn't
// distinguish.
func (old *replacedCommit) turn() string { return replacedPrefix + string(old.commit.OID) }

const replacedPrefix = "commit "

// turnOf returns the turn that made the changes to a path that no step records, if the author is a
// session with a running turn.
func (sh *shares) turnOf(by attribution.Author) string {
	for _, c := range sh.sessions {
		if attribution.Author(c.State.ID) == by && workspace.IsBusy(c.State) {
			return c.State.TurnID
		}
	}
	return ""
}

// title returns the prompt of the turn that wrote most of the session's lines; of several the last.
func (a *attributing) title(id string) string {
	most, title := 1, ""
	for _, turn := range a.writers.turns {
		if lines := a.own[id].turns[turn.id]; turn.session == id && turn.prompt != "" && lines >= most {
			most, title = lines, turn.prompt
		}
	}
	return title
}
