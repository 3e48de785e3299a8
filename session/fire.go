package session

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrNoWork means that an event was fired without a function for one of its actions.
var ErrNoWork = errors.New("no work for the action")

// Work holds the functions for those actions of the table that do more than change the state. Only
// those for the actions of the fired event must be set.
type Work struct {
	Now       func() time.Time
	BeginTurn func(*State) error
	SaveTurn  func(*State) error
	Finalize  func(*State) error
	Condense  func(*State) error
}

// Fire executes the actions for event on s, in the order of the table, up to the first that fails.
// It returns the next phase, which the caller sets after its own part of the event. The error is
// that of the failed action.
func Fire(s *State, event Event, w Work) (Phase, error) {
	step := Transition(s.Phase, event)
	for _, action := range step.Actions {
		// No other code executes an action.
		var do func(*State) error
		switch action {
		case Touch:
			now := w.Now()
			s.LastInteraction = &now
			continue
		case MarkEnded:
			now := w.Now()
			s.EndedAt = &now
			continue
		case ClearEnded:
			s.EndedAt = nil
			continue
		case BeginTurn:
			do = w.BeginTurn
		case SaveTurn:
			do = w.SaveTurn
		case Finalize:
			do = w.Finalize
		case Condense, CondenseIfTouched:
			// MayCondense checked the condition when the share was decided. By now the commit's
			// message names the checkpoint.
			do = w.Condense
		}
		if do == nil {
			return s.Phase, fmt.Errorf("%s: %w", action, ErrNoWork)
		}
		if err := do(s); err != nil {
			return s.Phase, err
		}
	}
	return step.Next, nil
}

// MayCondense reports whether a commit can have a share of the session: an ended
// session has one only if it has files pending.
func MayCondense(s *State) bool {
	return !slices.Contains(Transition(s.Phase, GitCommit).Actions, CondenseIfTouched) || len(s.FilesTouched) > 0
}
