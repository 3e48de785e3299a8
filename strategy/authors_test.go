package strategy_test

import (
	"slices"
	"testing"

	"github.com/seed-3aff656d/entire/strategy"
)

// TestWhoChanged holds each kind of evidence against each kind of snapshot.
func TestWhoChanged(t *testing.T) {
	t.Parallel()
	const unknown = -1
	work := []strategy.Work{{
		Session:  "s",
		Edits:    map[string][2]int{"named": {20, 21}},
		Calls:    [][2]int{{30, 40}, {35, 50}},
		Commands: map[string][2]int{"cd /r && rm -rf dir 'old file'; mv x ./moved *.log > out/text": {30, 40}},
	}}
	server := []strategy.Work{{Session: "s", Background: []int{15}}}
	late := strategy.Between{From: 10, To: 100}
	quiet := strategy.Between{From: 10, To: 100, Quiet: true}
	stop := strategy.Between{From: 10, To: 100, Turn: "s", Others: []string{"watched"}}
	child := strategy.Between{From: 10, To: 100, Turn: "s", Untold: true}
	for name, tc := range map[string]struct {
		work          []strategy.Work
		in            strategy.Between
		path          string
		at            int
		gone          bool
		agent, person bool
	}{
		"late: an edit tool named it":               {work, late, "named", 21, false, true, false},
		"late: written while a tool ran":            {work, late, "made", 45, false, true, false},
		"late: written between tools":               {work, late, "mine", 70, false, false, true},
		"late: named, and written long after":       {work, late, "named", 70, false, true, true},
		"late: moved, so that its time is older":    {work, late, "moved", 1, false, true, false},
		"late: below a folder that a command names": {work, late, "dir/a", unknown, true, true, false},
		"late: matches a pattern":                   {work, late, "sub/x.log", unknown, true, true, false},
		"late: the target of a redirection":         {work, late, "out/text", unknown, false, true, false},
		"late: gone, and nothing says by whom":      {work, late, "other", unknown, true, false, true},
		"a tool that began after the snapshot": {
			[]strategy.Work{{Session: "s", Calls: [][2]int{{10, 20}}}}, strategy.Between{From: 0, To: 9, Quiet: true}, "mine", 10, false, false, true,
		},
		"named before that":                       {work, strategy.Between{From: 30, To: 100, Quiet: true}, "named", unknown, false, false, true},
		"between turns: a command names it":       {work, quiet, "moved", unknown, false, false, true},
		"between turns: a server runs":            {server, quiet, "log", 50, false, false, true},
		"late: a server runs":                     {server, late, "log", 50, false, true, true},
		"stop: nothing is known":                  {work, stop, "any", unknown, false, true, false},
		"stop: gone":                              {work, stop, "any", unknown, true, true, false},
		"stop: written by something else":         {work, stop, "watched", 70, false, false, true},
		"stop: changed by the turn, then written": {work, stop, "any", 70, false, true, true},
		"stop: a server runs":                     {server, stop, "log", 50, false, true, false},
		"child: written while a tool ran":         {work, child, "made", 45, false, true, false},
		"child: written between tools":            {work, child, "mine", 70, false, false, true},
		"child: its time is older":                {work, child, "copied", 1, false, true, false},
		"nobody was at work":                      {nil, late, "mine", 50, false, false, true},
		"the transcript of the turn is gone":      {nil, stop, "any", 50, false, true, false},
	} {
		agents, person := strategy.WhoChanged(tc.work, tc.in, tc.path, tc.at, tc.gone)
		if slices.Contains(agents, "s") != tc.agent || person != tc.person {
			t.Errorf("%s: agents %q, a person %v", name, agents, person)
		}
	}
}
