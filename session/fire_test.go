package session_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session"
)

// TestFire runs every row of the table: each action has its effect, in the order of the row,
// and no action is without a row.
func TestFire(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	executed := map[session.Action]bool{}
	for _, rule := range session.Rules() {
		t.Run(string(rule.From)+" "+string(rule.Event), func(t *testing.T) {
			ended := at.Add(-time.Hour)
			s := &session.State{Phase: rule.From, EndedAt: &ended}
			var got []session.Action
			work := func(a session.Action) func(*session.State) error {
				return func(*session.State) error { got = append(got, a); return nil }
			}
			ticks := 0
			next, err := session.Fire(s, rule.Event, session.Work{
				Now:       func() time.Time { ticks++; return at },
				BeginTurn: work(session.BeginTurn), SaveTurn: work(session.SaveTurn),
				Finalize: work(session.Finalize), Condense: work(session.Condense),
			})
			if err != nil || next != rule.Step.Next || s.Phase != rule.From {
				t.Errorf("next %s, phase %s, error %v", next, s.Phase, err)
			}
			var want []session.Action
			for _, a := range rule.Step.Actions {
				executed[a] = true
				switch a {
				case session.Touch, session.MarkEnded, session.ClearEnded: // see below
				case session.CondenseIfTouched:
					want = append(want, session.Condense)
				default:
					want = append(want, a)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("executed (-want +got)\n%s", d)
			}
			has := func(a session.Action) bool { return slices.Contains(rule.Step.Actions, a) }
			if has(session.Touch) != (s.LastInteraction != nil && s.LastInteraction.Equal(at)) {
				t.Errorf("last interaction %v", s.LastInteraction)
			}
			if has(session.ClearEnded) != (s.EndedAt == nil) {
				t.Errorf("ended at %v", s.EndedAt)
			}
			if has(session.MarkEnded) != (s.EndedAt != nil && s.EndedAt.Equal(at)) {
				t.Errorf("ended at %v", s.EndedAt)
			}
		})
	}
	for _, a := range actions() {
		if !executed[a] {
			t.Errorf("no row has %s", a)
		}
	}
}

func TestFireStopsAtError(t *testing.T) {
	t.Parallel()
	failed := errors.New("disk full")
	s := &session.State{Phase: session.Active}
	next, err := session.Fire(s, session.Stop, session.Work{
		SaveTurn: func(*session.State) error { return failed },
		Finalize: func(*session.State) error { t.Error("finalized after an error"); return nil },
	})
	if !errors.Is(err, failed) || next != session.Active || s.EndedAt != nil {
		t.Errorf("next %s, ended %v, error %v", next, s.EndedAt, err)
	}
	if _, err := session.Fire(s, session.GitCommit, session.Work{}); !errors.Is(err, session.ErrNoWork) {
		t.Errorf("without work: %v", err)
	}
}

func TestMayCondense(t *testing.T) {
	t.Parallel()
	for _, phase := range phases() {
		if got, want := session.MayCondense(&session.State{Phase: phase}), phase != session.Ended; got != want {
			t.Errorf("%s without pending files: %v", phase, got)
		}
		if !session.MayCondense(&session.State{Phase: phase, FilesTouched: []string{"a"}}) {
			t.Errorf("%s with pending files: false", phase)
		}
	}
}
