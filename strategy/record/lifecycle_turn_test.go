package record

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session"
)

// TestLeaveUnclosed checks that no edit is lost when no hook can close the turns.
func TestLeaveUnclosed(t *testing.T) {
	t.Parallel()
	var s session.State
	var want, got []string
	for i := range 2 * mostUnclosed {
		name := fmt.Sprintf("file %d", i)
		want = append(want, name)
		s.TurnID = fmt.Sprintf("turn %d", i)
		s.Recorder.Turn.Edits = []string{name}
		leaveUnclosed(&s)
	}
	for _, turn := range s.Recorder.Unclosed {
		got = append(got, turn.Edits...)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("edits (-want +got)\n%s", d)
	}
	if n := len(s.Recorder.Unclosed); n != mostUnclosed {
		t.Errorf("%d unclosed turns, want %d", n, mostUnclosed)
	}
}
