package tracking

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

func TestChangesDuringTurn(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	bash := transcript.Call{Tool: "Bash", Start: at(1000), End: at(2000)}
	open := transcript.Call{Tool: "Bash", Start: at(5000), Open: true}
	untimed := transcript.Call{Tool: "Bash"}
	timed := session.Turn{Start: start, Timed: true, Calls: []transcript.Call{bash, open}}
	for name, tc := range map[string]struct {
		turn session.Turn
		ms   int
		want bool
	}{
		"before the turn":                      {timed, -1, false},
		"in the turn, no tool running":         {timed, 3000, false},
		"while a tool ran":                     {timed, 1500, true},
		"just before it, clocks differ":        {timed, 960, true},
		"just after it":                        {timed, 2040, true},
		"well after it":                        {timed, 2060, false},
		"a call without a result is open":      {timed, 600_000, true},
		"at the very beginning, without times": {session.Turn{Start: start}, 0, true},
		"no usable times":                      {session.Turn{Start: start, Calls: []transcript.Call{bash}}, 3000, true},
		"a call without a time":                {session.Turn{Start: start, Timed: true, Calls: []transcript.Call{untimed}}, 3000, true},
		"no tool that writes":                  {session.Turn{Start: start, Timed: true}, 3000, false},
		"no turn":                              {session.Turn{}, 3000, false},
	} {
		if got := (&TurnChanges{Turn: tc.turn, Repo: &git.Repo{}}).During(at(tc.ms)); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestKnownFilesRoundTrip(t *testing.T) {
	t.Parallel()
	entries := []git.StatusEntry{
		{Index: '?', Worktree: '?', Path: "new\nname"},
		{Index: ' ', Worktree: 'D', Path: "gone"},
		{Index: ' ', Worktree: 'M', Path: "changed"},
		{Index: 'D', Worktree: ' ', Path: "removed"},
	}
	want := map[string]bool{"?new\nname": true, "Dgone": true, "Dremoved": true}
	if diff := cmp.Diff(want, decodeKnown(EncodeKnown((&TurnChanges{}).After(nil, entries)))); diff != "" {
		t.Error(diff)
	}
	later := (&TurnChanges{known: want}).After([]string{"gone", "new\nname"}, []git.StatusEntry{{Index: '?', Worktree: '?', Path: "gone"}})
	if diff := cmp.Diff(map[string]bool{"?gone": true, "Dremoved": true}, later); diff != "" {
		t.Error(diff)
	}
	if got := decodeKnown(nil); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}
