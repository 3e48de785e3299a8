package query_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/query"
)

func TestPhases(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	end := start.Add(time.Hour)
	living, dead := session.Process{PID: 1, Start: 7}, session.Process{PID: 2, Start: 7}
	states := map[string]struct {
		state session.State
		want  query.Phase
	}{
		"turn-runs":             {session.State{Phase: session.Active, Recorder: session.Recorder{Agent: living}}, query.Active},
		"turn-of-unknown-agent": {session.State{Phase: session.Active}, query.Active},
		"between-turns":         {session.State{Phase: session.Idle, Recorder: session.Recorder{Agent: living}}, query.Idle},
		"without-phase":         {session.State{}, query.Idle},
		"killed-in-a-turn":      {session.State{Phase: session.Active, Recorder: session.Recorder{Agent: dead}}, query.Gone},
		"killed-between-turns":  {session.State{Phase: session.Idle, Recorder: session.Recorder{Agent: dead}}, query.Gone},
		"ended":                 {session.State{Phase: session.Ended, EndedAt: &end, Recorder: session.Recorder{Agent: dead}}, query.Ended},
		"ended-by-its-time":     {session.State{EndedAt: &end}, query.Ended},
	}
	box := gittest.New(t)
	repo := box.Open(box.Init("repo"))
	store := session.Open(repo.CommonDir)
	want := map[string]query.Phase{}
	for id, c := range states {
		c.state.ID, c.state.StartedAt, c.state.WorktreePath = id, start, repo.Root
		if err := store.Save(&c.state); err != nil {
			t.Fatal(err)
		}
		want[id] = c.want
	}
	reader := query.SessionReader{Repo: repo, Alive: func(pid int, _ uint64) bool { return pid == 1 }, Locate: git.Locate{}}
	reader.Index = func(context.Context) (*index.Reader, error) { return nil, index.ErrLost }
	all, err := reader.List(t.Context(), query.SessionFilter{})
	if err != nil || len(all.Unread) > 0 {
		t.Fatal(err, all.Unread)
	}
	list := all.Sessions
	got := map[string]query.Phase{}
	for _, s := range list {
		got[s.ID] = s.Phase
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("phases (-want +got):\n%s", diff)
	}
	for _, s := range list[:2] { // the ended sessions were active last
		if !s.LastActive.Equal(end) {
			t.Errorf("%s was active at %v, and is listed before others", s.ID, s.LastActive)
		}
	}
	if found, err := reader.Find(t.Context(), "turn"); err != nil || len(found) != 2 {
		t.Errorf("sessions that begin with turn: %v, %v", found, err)
	}
	if found, err := reader.Find(t.Context(), "tur"); err != nil || len(found) != 0 {
		t.Errorf("three characters name %v, %v", found, err)
	}
}
