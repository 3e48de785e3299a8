package strategy

import (
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// What the tests of the pure parts look at.
var (
	Amends            = amends
	SkipGlobalOptions = skipGlobalOptions
	IsRevert          = isRevert
	LastDone          = lastDone
	DecodeKnown       = decodeKnown
	EncodeKnown       = encodeKnown
	Unique            = unique
)

// AsChild and Detach are for the test of the locks of children.
var (
	AsChild  = (*Recorder).asChild
	Detach   = (*Recorder).detach
	RunsSlot = runsSlot
)

// Split cuts a message into prose and comments.
func Split(text, mark string) (prose, rest string) {
	m := splitMessage("", text, mark)
	return m.prose, m.rest
}

// During is turnChanges.during for a turn.
func During(turn session.Turn) *turnChanges { return &turnChanges{turn: turn, repo: &git.Repo{}} }

// At exposes during.
var At = (*turnChanges).during

// Shares is a link's blobs against what is staged.
func Shares(blobs map[string]git.OID, changes map[string]git.Change) bool {
	return sharesBlob(link{ID: checkpoint.ID("0123456789ab"), Blobs: blobs}, changes)
}

// KnownAfter is turnChanges.after.
func KnownAfter(known map[string]bool, asked []string, entries []git.StatusEntry) map[string]bool {
	return (&turnChanges{known: known}).after(asked, entries)
}

// RangeLines reads ranges of lines.
var RangeLines = rangeLines

// Ranges writes lines as ranges.
func Ranges(lines []int) string {
	var r ranges
	for _, line := range lines {
		r = r.with(line)
	}
	return r.String()
}

// ReadPush reads the arguments of git push.
var ReadPush = readPush

// PushCall is what matters of them.
type PushCall = pushCall

// What is asked for a summary, and what is taken from the answer.
var (
	SummaryPrompt = summaryPrompt
	ReadSummary   = readSummary
	Shorten       = shorten
)

// Work is what a session did, for tests: named files and calls, with their times
// in seconds, and commands.
type Work struct {
	Session    string
	Edits      map[string][2]int
	Calls      [][2]int
	Background []int
	Commands   map[string][2]int
}

// Between is the time between two snapshots, in seconds.
type Between struct {
	From, To      int
	Turn          string
	Others        []string
	Quiet, Untold bool
}

// WhoChanged judges a change of a path at a time, -1 if that isn't known.
func WhoChanged(works []Work, b Between, path string, at int, gone bool) (agents []string, person bool) {
	base := time.Unix(1_800_000_000, 0)
	sec := func(n int) time.Time { return base.Add(time.Duration(n) * time.Second) }
	a := &authors{r: &Recorder{Repo: &git.Repo{Root: "/r"}}}
	for _, w := range works {
		act := &activity{session: w.Session, timed: true, edits: map[string][]span{}}
		for p, s := range w.Edits {
			act.edits[p] = []span{{sec(s[0]), sec(s[1])}}
		}
		for _, s := range w.Calls {
			act.calls = append(act.calls, span{sec(s[0]), sec(s[1])})
		}
		for _, s := range w.Background {
			act.background = append(act.background, sec(s))
		}
		for text, s := range w.Commands {
			act.commands = append(act.commands, shellCommand{span{sec(s[0]), sec(s[1])}, wordsOf(a.r, text)})
		}
		act.calls = joined(act.calls)
		a.records = append(a.records, act)
	}
	st := &stretch{from: sec(b.From), to: sec(b.To), turn: b.Turn, others: map[string]bool{}, between: b.Quiet, untold: b.Untold}
	for _, p := range b.Others {
		st.others[p] = true
	}
	when := time.Time{}
	if at >= 0 {
		when = sec(at)
	}
	c := a.judge(st, path, gone, when)
	return c.agents, c.person
}
