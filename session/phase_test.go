package session_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/session"
)

func phases() []session.Phase {
	return []session.Phase{session.Idle, session.Active, session.Ended}
}

func events() []session.Event {
	return []session.Event{
		session.Start, session.TurnStart, session.TurnEnd, session.TaskStep, session.Complete, session.GitCommit, session.Stop,
	}
}

func actions() []session.Action {
	return []session.Action{
		session.Touch, session.BeginTurn, session.SaveTurn, session.Finalize,
		session.Condense, session.CondenseIfTouched, session.ClearEnded, session.MarkEnded,
	}
}

// TestMachine repeats the whole machine, so that no row of it changes by accident.
func TestMachine(t *testing.T) {
	t.Parallel()
	type step struct {
		next    session.Phase
		actions []session.Action
	}
	want := map[session.Phase]map[session.Event]step{
		session.Idle: {
			session.Start:     {session.Idle, nil},
			session.TurnStart: {session.Active, []session.Action{session.BeginTurn, session.Touch}},
			session.TurnEnd:   {session.Idle, []session.Action{session.SaveTurn, session.Finalize}},
			session.GitCommit: {session.Idle, []session.Action{session.Condense, session.Touch}},
			session.Complete:  {session.Idle, []session.Action{session.Finalize}},
			session.TaskStep:  {session.Idle, nil},
			session.Stop:      {session.Ended, []session.Action{session.Finalize, session.MarkEnded, session.Touch}},
		},
		session.Active: {
			session.Start:     {session.Active, []session.Action{session.Finalize}},
			session.TurnStart: {session.Active, []session.Action{session.Finalize, session.BeginTurn, session.Touch}},
			session.TurnEnd:   {session.Idle, []session.Action{session.SaveTurn, session.Finalize, session.Touch}},
			session.GitCommit: {session.Active, []session.Action{session.Condense, session.Touch}},
			session.Complete:  {session.Active, []session.Action{session.Finalize}},
			session.TaskStep:  {session.Active, nil},
			session.Stop: {
				session.Ended,
				[]session.Action{session.SaveTurn, session.Finalize, session.MarkEnded, session.Touch},
			},
		},
		session.Ended: {
			session.Start:     {session.Idle, []session.Action{session.ClearEnded}},
			session.TurnStart: {session.Active, []session.Action{session.ClearEnded, session.BeginTurn, session.Touch}},
			session.TurnEnd:   {session.Ended, []session.Action{session.SaveTurn, session.Finalize}},
			session.GitCommit: {session.Ended, []session.Action{session.CondenseIfTouched, session.Touch}},
			session.Complete:  {session.Ended, []session.Action{session.Finalize}},
			session.TaskStep:  {session.Ended, nil},
			session.Stop:      {session.Ended, nil},
		},
	}
	for _, from := range phases() {
		for _, event := range events() {
			t.Run(string(from)+" "+string(event), func(t *testing.T) {
				t.Parallel()
				got := session.Transition(from, event)
				if d := cmp.Diff(want[from][event], step{got.Next, got.Actions}, cmp.AllowUnexported(step{}), cmpopts.EquateEmpty()); d != "" {
					t.Errorf("(-want +got)\n%s", d)
				}
			})
		}
	}
}

func TestRulesNameEveryPhaseAndEventOnce(t *testing.T) {
	t.Parallel()
	seen := map[[2]string]int{}
	for _, r := range session.Rules() {
		seen[[2]string{string(r.From), string(r.Event)}]++
	}
	for _, p := range phases() {
		for _, e := range events() {
			if n := seen[[2]string{string(p), string(e)}]; n != 1 {
				t.Errorf("%s on %s has %d rules", p, e, n)
			}
		}
	}
	if want := len(phases()) * len(events()); len(seen) != want {
		t.Errorf("%d rules, want %d", len(seen), want)
	}
}

func TestPhasesOfOtherVersions(t *testing.T) {
	t.Parallel()
	for phase, means := range map[session.Phase]session.Phase{
		"": session.Idle, "idle": session.Idle, "active": session.Active, "active_committed": session.Active,
		"ended": session.Ended, "ENDED": session.Idle, "paused": session.Idle, "active\n": session.Idle,
	} {
		t.Run(string(phase), func(t *testing.T) {
			t.Parallel()
			for _, event := range events() {
				if d := cmp.Diff(session.Transition(means, event), session.Transition(phase, event)); d != "" {
					t.Errorf("%s is not taken for %s:\n%s", event, means, d)
				}
			}
		})
	}
}

func TestUnknownEventChangesNothing(t *testing.T) {
	t.Parallel()
	for _, from := range phases() {
		for _, event := range []session.Event{"", "stop", "SessionPaused"} {
			if got := session.Transition(from, event); got.Next != from || len(got.Actions) > 0 {
				t.Errorf("%s on %q: %+v", from, event, got)
			}
		}
	}
}

// TestMachineProperties walks the machine at random. It always returns a known phase, only a
// stop ends a session and only its agent resumes it, and a commit never begins or ends a turn.
func TestMachineProperties(t *testing.T) {
	t.Parallel()
	names := make([]string, 0, len(events()))
	for _, e := range events() {
		names = append(names, string(e))
	}
	rapid.Check(t, func(t *rapid.T) {
		phase := session.Phase(rapid.OneOf(
			rapid.SampledFrom([]string{"", "idle", "active", "active_committed", "ended"}), rapid.String(),
		).Draw(t, "phase"))
		list := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(names), rapid.String()), 1, 40).Draw(t, "events")
		for _, name := range list {
			event := session.Event(name)
			step := session.Transition(phase, event)
			checkStep(t, session.Transition(phase, "").Next, event, step)
			phase = step.Next
		}
	})
}

func checkStep(t *rapid.T, from session.Phase, event session.Event, step session.Step) {
	if !slices.Contains(phases(), step.Next) {
		t.Fatalf("%s on %s: unknown phase %q", from, event, step.Next)
	}
	for i, a := range step.Actions {
		if !slices.Contains(actions(), a) || slices.Contains(step.Actions[:i], a) {
			t.Fatalf("%s on %s: action %q unknown or twice", from, event, a)
		}
	}
	has := func(a session.Action) bool { return slices.Contains(step.Actions, a) }
	left, ended := from == session.Ended && step.Next != session.Ended, from != session.Ended && step.Next == session.Ended
	switch {
	case ended && (event != session.Stop || !has(session.MarkEnded)):
		t.Fatalf("%s ended by %s with %v", from, event, step.Actions)
	case left && (event != session.Start && event != session.TurnStart || !has(session.ClearEnded)):
		t.Fatalf("taken up by %s with %v", event, step.Actions)
	case step.Next == session.Active && from != session.Active && event != session.TurnStart:
		t.Fatalf("%s made active by %s", from, event)
	case event == session.GitCommit && step.Next != from:
		t.Fatalf("%s made a session in %s %s", event, from, step.Next)
	case from == session.Active && step.Next != session.Active && !has(session.SaveTurn):
		t.Fatalf("%s loses the turn of %s", event, from)
	}
}

// TestTurnsAlternate checks a property that the strategy relies on: the actions of a session's
// whole life save each turn that was begun.
func TestTurnsAlternate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		phase, open := session.Idle, false
		for _, event := range rapid.SliceOf(rapid.SampledFrom(events())).Draw(t, "events") {
			step := session.Transition(phase, event)
			for _, a := range step.Actions {
				switch a {
				case session.BeginTurn:
					open = true
				case session.SaveTurn:
					open = false
				default:
				}
			}
			if phase = step.Next; phase != session.Active && open {
				t.Fatalf("after %s the session is %s with a turn open", event, phase)
			}
		}
	})
}
