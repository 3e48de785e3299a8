package query

import (
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// Others finds the other repositories that turns changed, by the states of the sessions of a repository. It
// reads each state once. It is not safe for concurrent use.
type Others struct {
	store  *session.Store
	states map[string][]session.Other
}

// NewOthers returns an Others that reads the states of a repository.
func NewOthers(repo *git.Repo) *Others {
	return &Others{store: session.Open(repo.CommonDir), states: map[string][]session.Other{}}
}

// In returns the names of the other repositories that a session changed in the turn with these lines of
// its transcript.
func (o *Others) In(id string, first, last int) []string {
	return o.names(id, func(t session.ChangedTurn) bool { return t.Line >= first && t.Line <= last })
}

func (o *Others) names(id string, is func(session.ChangedTurn) bool) []string {
	others, known := o.states[id]
	if !known {
		if s, err := o.store.Load(id); err == nil {
			others = s.Recorder.Others
		}
		o.states[id] = others
	}
	var names []string
	for _, other := range others {
		if slices.ContainsFunc(other.Turns, is) {
			names = append(names, filepath.Base(other.Root))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// othersOf returns the other repositories that the session of a checkpoint had changed: those in its metadata, and
// those that its turn changed later.
func othersOf(repo *git.Repo, m checkpoint.SessionMeta) []string {
	names := slices.Clone(m.OtherRepositories)
	if m.TurnID != "" {
		names = append(names, NewOthers(repo).names(m.SessionID, func(t session.ChangedTurn) bool { return t.ID == m.TurnID })...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
