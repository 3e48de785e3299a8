package authorship

import (
	"slices"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// TestWhoChanged checks each kind of evidence with each kind of snapshot.
func TestWhoChanged(t *testing.T) {
	t.Parallel()
	const unknown = -1
	edits := []work{{
		session:  "s",
		edits:    map[string][2]int{"named": {20, 21}},
		calls:    [][2]int{{30, 40}, {35, 50}},
		commands: map[string][2]int{"cd /r && rm -rf dir 'old file'; mv x ./moved *.log > out/text": {30, 40}},
	}}
	server := []work{{session: "s", background: []int{15}}}
	late := interval{from: 10, to: 100}
	quiet := interval{from: 10, to: 100, quiet: true}
	stop := interval{from: 10, to: 100, turn: "s", others: []string{"watched"}}
	child := interval{from: 10, to: 100, turn: "s", untold: true}
	for name, tc := range map[string]struct {
		works         []work
		in            interval
		path          string
		at            int
		gone          bool
		agent, person bool
	}{
		"late: an edit tool named it":               {edits, late, "named", 21, false, true, false},
		"late: written while a tool ran":            {edits, late, "made", 45, false, true, false},
		"late: written between tools":               {edits, late, "mine", 70, false, false, true},
		"late: named, and written long after":       {edits, late, "named", 70, false, true, true},
		"late: moved, so that its time is older":    {edits, late, "moved", 1, false, true, false},
		"late: below a folder that a command names": {edits, late, "dir/a", unknown, true, true, false},
		"late: matches a pattern":                   {edits, late, "sub/x.log", unknown, true, true, false},
		"late: the target of a redirection":         {edits, late, "out/text", unknown, false, true, false},
		"late: gone, and nothing says by whom":      {edits, late, "other", unknown, true, false, true},
		"a tool that began after the snapshot": {
			[]work{{session: "s", calls: [][2]int{{10, 20}}}}, interval{from: 0, to: 9, quiet: true}, "mine", 10, false, false, true,
		},
		"named before that":                       {edits, interval{from: 30, to: 100, quiet: true}, "named", unknown, false, false, true},
		"between turns: a command names it":       {edits, quiet, "moved", unknown, false, false, true},
		"between turns: a server runs":            {server, quiet, "log", 50, false, false, true},
		"late: a server runs":                     {server, late, "log", 50, false, true, true},
		"stop: nothing is known":                  {edits, stop, "any", unknown, false, true, false},
		"stop: gone":                              {edits, stop, "any", unknown, true, true, false},
		"stop: written by something else":         {edits, stop, "watched", 70, false, false, true},
		"stop: changed by the turn, then written": {edits, stop, "any", 70, false, true, true},
		"stop: a server runs":                     {server, stop, "log", 50, false, true, false},
		"child: written while a tool ran":         {edits, child, "made", 45, false, true, false},
		"child: written between tools":            {edits, child, "mine", 70, false, false, true},
		"child: its time is older":                {edits, child, "copied", 1, false, true, false},
		"nobody was at work":                      {nil, late, "mine", 50, false, false, true},
		"the transcript of the turn is gone":      {nil, stop, "any", 50, false, true, false},
	} {
		agents, person := whoChanged(tc.works, tc.in, tc.path, tc.at, tc.gone)
		if slices.Contains(agents, "s") != tc.agent || person != tc.person {
			t.Errorf("%s: agents %q, a person %v", name, agents, person)
		}
	}
}

// work holds the actions of a session: named files and calls, with their times in seconds, and
// commands.
type work struct {
	session    string
	edits      map[string][2]int
	calls      [][2]int
	background []int
	commands   map[string][2]int
}

// interval is the time between two snapshots, in seconds.
type interval struct {
	from, to      int
	turn          string
	others        []string
	quiet, untold bool
}

// whoChanged judges a change of a path at a time, -1 if the time isn't known.
func whoChanged(works []work, b interval, path string, at int, gone bool) (agents []string, person bool) {
	base := time.Unix(1_800_000_000, 0)
	sec := func(n int) time.Time { return base.Add(time.Duration(n) * time.Second) }
	repo := &git.Repo{Root: "/r"}
	a := &WorktreeAuthors{Workspace: &workspace.Workspace{Repo: repo}}
	for _, w := range works {
		var scan transcript.Scan
		for _, s := range w.calls {
			scan.Calls = append(scan.Calls, transcript.Call{Tool: "Bash", Start: sec(s[0]), End: sec(s[1])})
		}
		for _, s := range w.background {
			scan.Calls = append(scan.Calls, transcript.Call{Tool: "Bash", Start: sec(s), Background: true})
		}
		for text, s := range w.commands {
			scan.Calls = append(scan.Calls, transcript.Call{Tool: "Bash", Start: sec(s[0]), End: sec(s[1]), Command: text})
		}
		act := tracking.NewActivity(w.session)
		act.Timed = true
		for p, s := range w.edits {
			act.Edits[p] = []tracking.Span{{Start: sec(s[0]), End: sec(s[1])}}
		}
		act.AddScan(repo, scan, time.Time{})
		a.Records = append(a.Records, act)
	}
	st := &tracking.Interval{From: sec(b.from), To: sec(b.to), Turn: b.turn, Others: map[string]bool{}, Between: b.quiet, OthersUnknown: b.untold}
	for _, p := range b.others {
		st.Others[p] = true
	}
	when := time.Time{}
	if at >= 0 {
		when = sec(at)
	}
	c := a.judge(st, path, gone, when)
	return c.Agents, c.person
}
