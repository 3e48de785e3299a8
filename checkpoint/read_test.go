package checkpoint_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
)

// TestSessionsAreSortedByLines reads checkpoints whose slots record the authorship of
// the commit in different ways.
func TestSessionsAreSortedByLines(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	ours := func(lines int) string { return fmt.Sprintf(`{"agent_lines":9,"session_lines":%d}`, lines) }
	theirs := func(lines int) string { return fmt.Sprintf(`{"agent_lines":%d}`, lines) }
	type slot struct {
		attribution string
		hour        int
	}
	for name, c := range map[string]struct {
		slots []slot
		want  []int
	}{
		"most lines first":                  {[]slot{{ours(2), 1}, {ours(5), 1}, {ours(0), 1}}, []int{1, 0, 2}},
		"a session without lines has none":  {[]slot{{ours(0), 1}, {ours(1), 1}}, []int{1, 0}},
		"of equals the later":               {[]slot{{ours(2), 3}, {ours(2), 1}, {ours(2), 2}}, []int{0, 2, 1}},
		"of equals at one time the last":    {[]slot{{ours(2), 1}, {ours(2), 1}}, []int{1, 0}},
		"of other versions their own lines": {[]slot{{theirs(3), 1}, {theirs(1), 2}}, []int{0, 1}},
		"without attribution the later":     {[]slot{{"", 2}, {"", 1}}, []int{0, 1}},
		"what can't be read says nothing":   {[]slot{{`{"session_lines":"x","agent_lines":7}`, 1}, {ours(1), 1}}, []int{1, 0}},
	} {
		tree := f.git.Format.EmptyTree()
		for i, s := range c.slots {
			m := checkpoint.SessionMeta{SessionID: fmt.Sprint("s", i), CreatedAt: time.Date(2026, 1, 1, s.hour, 0, 0, 0, time.UTC)}
			if s.attribution != "" {
				m.Attribution = json.RawMessage(s.attribution)
			}
			var err error
			tree, err = f.putIn(t, tree, idA, checkpoint.Slot{Meta: m}, info())
			must(t, err)
		}
		read, err := f.readIn(t, tree, idA)
		must(t, err)
		var got []int
		for _, s := range read.Sessions {
			got = append(got, s.Index)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if main, ok := read.Main(); !ok || main.Index != c.want[0] {
			t.Errorf("%s: the main session is in slot %d", name, main.Index)
		}
	}
	if _, ok := (checkpoint.Checkpoint{}).Main(); ok {
		t.Error("a checkpoint without sessions has no main one")
	}
}
