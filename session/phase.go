package session

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Phase is the phase of a session.
type Phase string

// The phases, as written in the state file. A session without a phase is Idle.
const (
	Idle   Phase = "idle"
	Active Phase = "active"
	Ended  Phase = "ended"
)

// parsePhase reads a phase as other versions wrote it.
func parsePhase(s string) Phase {
	switch s {
	case "active", "active_committed":
		return Active
	case "ended":
		return Ended
	default:
		return Idle
	}
}

// Event is an event in the life of a session.
type Event string

// The events. TaskStep is the start, a step or the end of a subagent; Complete is the repair of a
// turn that ended before its checkpoints were complete; GitCommit is a commit linked to the
// session.
const (
	Start     Event = "SessionStart"
	TurnStart Event = "TurnStart"
	TurnEnd   Event = "TurnEnd"
	TaskStep  Event = "TaskStep"
	Complete  Event = "TurnComplete"
	GitCommit Event = "GitCommit"
	Stop      Event = "SessionStop"
)

// Action is one part of an event's work. Fire executes the actions in the order
// of the table, and the new phase is saved after them.
type Action string

// The actions.
const (
	Touch             Action = "Touch"             // record the time of the interaction
	BeginTurn         Action = "BeginTurn"         // new turn id, transcript position
	SaveTurn          Action = "SaveTurn"          // turn checkpoint of the changed files
	Finalize          Action = "Finalize"          // complete the checkpoints of the turn
	Condense          Action = "Condense"          // write the session into the commit's checkpoint
	CondenseIfTouched Action = "CondenseIfTouched" // Condense if files are pending; else no share
	ClearEnded        Action = "ClearEnded"        // remove the time of the end
	MarkEnded         Action = "MarkEnded"         // record the time of the end
)

// Step is the next phase, and the actions to execute before it is saved.
type Step struct {
	Next    Phase
	Actions []Action
}

// Rule is one row of the table.
type Rule struct {
	From  Phase
	Event Event
	Step  Step
}

// Rules returns the whole state machine, in the order of its diagram.
func Rules() []Rule {
	return []Rule{
		{Idle, Start, Step{Idle, nil}},
		{Idle, TurnStart, Step{Active, []Action{BeginTurn, Touch}}},
		{Idle, TurnEnd, Step{Idle, []Action{SaveTurn, Finalize}}},
		{Idle, TaskStep, Step{Idle, nil}},
		{Idle, Complete, Step{Idle, []Action{Finalize}}},
		{Idle, GitCommit, Step{Idle, []Action{Condense, Touch}}},
		{Idle, Stop, Step{Ended, []Action{Finalize, MarkEnded, Touch}}},

		{Active, Start, Step{Active, []Action{Finalize}}},
		{Active, TurnStart, Step{Active, []Action{Finalize, BeginTurn, Touch}}},
		{Active, TurnEnd, Step{Idle, []Action{SaveTurn, Finalize, Touch}}},
		{Active, TaskStep, Step{Active, nil}},
		{Active, Complete, Step{Active, []Action{Finalize}}},
		{Active, GitCommit, Step{Active, []Action{Condense, Touch}}},
		{Active, Stop, Step{Ended, []Action{SaveTurn, Finalize, MarkEnded, Touch}}},

		{Ended, Start, Step{Idle, []Action{ClearEnded}}},
		{Ended, TurnStart, Step{Active, []Action{ClearEnded, BeginTurn, Touch}}},
		{Ended, TurnEnd, Step{Ended, []Action{SaveTurn, Finalize}}},
		{Ended, TaskStep, Step{Ended, nil}},
		{Ended, Complete, Step{Ended, []Action{Finalize}}},
		{Ended, GitCommit, Step{Ended, []Action{CondenseIfTouched, Touch}}},
		{Ended, Stop, Step{Ended, nil}},
	}
}

// Transition returns the effect of event on a session in phase from. It is pure; an unknown phase
// counts as Idle and an unknown event changes nothing.
func Transition(from Phase, event Event) Step {
	from = parsePhase(string(from))
	for _, r := range Rules() {
		if r.From == from && r.Event == event {
			return r.Step
		}
	}
	return Step{Next: from}
}

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
