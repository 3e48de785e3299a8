package savedcontext

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/memory"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// State reports whether what a fact is about is as it was when a session last recorded it: the
// contents of its files, and for a failed command also HEAD and the files that the sessions of the
// branch changed.
type State string

// The states.
const (
	Unchanged State = "unchanged"
	Outdated  State = "changed"
	NotKnown  State = "unknown"
)

// FactNow is a fact with its present state, empty if it is about no file and no failure.
type FactNow struct {
	memory.Fact

	State State
}

// AboutFile returns what the sessions of the repository decided, tried or were told about a file, by
// its path from the root of the worktree, the latest first.
func AboutFile(ctx context.Context, w *workspace.Workspace, p string) ([]FactNow, error) {
	return factsNow(ctx, w, func(a *atUse) []memory.Fact { return a.memory.ForFile(p) }, func(a *atUse, f memory.Fact) State {
		return a.stateOf(f, p)
	})
}

// AboutCommand returns the corrections of a command and its failure, if no later run passed, the
// latest first.
func AboutCommand(ctx context.Context, w *workspace.Workspace, command string) ([]FactNow, error) {
	return factsNow(ctx, w, func(a *atUse) []memory.Fact { return a.memory.ForCommand(command) }, (*atUse).state)
}

// SearchFacts returns the facts that have all words of a query, the best first, at most limit.
func SearchFacts(ctx context.Context, w *workspace.Workspace, query string, limit int) ([]FactNow, error) {
	a := atUse{w: w}
	var err error
	if a.memory, err = Memory(ctx, w, ""); err != nil {
		return nil, err
	}
	return a.now(a.memory.Search(query, limit), (*atUse).state), nil
}

// factsNow returns the facts that find selects of the repository's memory, the latest first.
func factsNow(ctx context.Context, w *workspace.Workspace, find func(*atUse) []memory.Fact, state func(*atUse, memory.Fact) State) ([]FactNow, error) {
	a := atUse{w: w}
	var err error
	if a.memory, err = Memory(ctx, w, ""); err != nil {
		return nil, err
	}
	list := a.now(find(&a), state)
	slices.SortStableFunc(list, func(x, y FactNow) int { return y.At.Compare(x.At) })
	return list, nil
}

func (a *atUse) now(facts []memory.Fact, state func(*atUse, memory.Fact) State) []FactNow {
	list := make([]FactNow, len(facts))
	for i, f := range facts {
		list[i] = FactNow{Fact: f, State: state(a, f)}
	}
	return list
}

// state returns the state of a fact: Outdated if one of its files changed.
func (a *atUse) state(f memory.Fact) State {
	switch {
	case f.Kind == recall.Failure && (f.Commit == "" || !f.Here):
		return NotKnown
	case f.Kind == recall.Failure && a.stillFails(f):
		return Unchanged
	case f.Kind == recall.Failure:
		return Outdated
	case len(f.Files) == 0:
		return ""
	}
	state := NotKnown
	for _, p := range f.Files {
		switch a.stateOf(f, p) {
		case Outdated:
			return Outdated
		case Unchanged:
			state = Unchanged
		case NotKnown:
		}
	}
	return state
}
