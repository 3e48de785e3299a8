package brief

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/strategy/recall"
)

// The lengths of requests, of a branch and of a line of the state in an Opening, in bytes.
const (
	openingNewest = 360
	openingOlder  = 120
	openingBranch = 60
	openingState  = 200
)

// opening returns a brief within MaxOpeningTokens: the last requests, the state of the last
// one, and the names of files. Of a session that left nothing to do, on a branch for work on any
// topic or on another one, it has no requests and no state.
func opening(m Material) Brief {
	// The summary's limit in tokens: it must fit into an Opening whatever its characters
	// are.
	const most = 70
	summary := shownLine(m.Checkpoint.Summary, summaryWidth)
	for width := summaryWidth / 2; tokenCost(summary) > tokens(most); width /= 2 {
		summary = shownLine(m.Checkpoint.Summary, width)
	}
	m.Checkpoint.Summary = summary
	b := Brief{Message: "Resumed from checkpoint: " + saved(m)}
	branch := m.Checkpoint.State.Context.GitBranch
	done := finished(m.Checkpoint) && (recall.IsTrunk(branch) || branch != m.Branch)
	if m.Branch != branch {
		b.Message = noticed(m, openingBranch)
	}
	more := "More: `entire recall resume " + shownID(m) + "`, or the tool checkpoint_resume.\n"
	head := b.Message + "\n" + recorded(m) + "\n\n"
	m.Kind = Short
	files := views(m)
	a := m.Checkpoint.State.Analysis
	asked := askedShort(a).limited(110)
	if len(a.Requests) == 0 {
		asked = told(m.Checkpoint)[0]
	}
	// The names of files and the state are chosen first: a long request would take their
	// room. The remaining room is for the requests, not for more names.
	choice := choiceOf(m)
	files = slices.DeleteFunc(files, func(v view) bool { return !choice.edited(v) })
	readLast := func(name string) bool { // for the last request
		u, known := choice.uses[name]
		return known && u.RequestsSince == 0
	}
	reported := a.Progress.Reported
	m.Checkpoint.State.Analysis.Progress.Reported = "" // it gets the remaining room
	state := progress(m)
	for i, line := range state.lines {
		state.lines[i] = cutText(strings.TrimSuffix(line, "\n"), openingState) + "\n"
	}
	state.more = ""
	names := make([]string, 0, len(files))
	for i := range files {
		names = append(names, shownPath(files[i].path))
	}
	changed := rows("**Files** (changed by the session):\n", names)
	rules := remembered(m, rulesTitle, recall.Rule).limited(50).atMost(60)
	failed := remembered(m, blockersTitle, recall.Failure).limited(40).atMost(50)
	list := []section{
		changed.limited(80).atMost(100), state.limited(40), asked, readFiles(m.Checkpoint.State.Context, readLast).limited(60),
		purpose(m).limited(50).atMost(60), rules, failed,
	}
	if done {
		// The next session is as likely about something else: the first line and the files suffice.
		for _, i := range []int{1, 2, 3, 4} {
			list[i] = section{}
		}
		reported = ""
	}
	room := size{units: MaxUnits, cost: tokens(MaxOpeningTokens) - unit}.minus(sizeOf(head + more))
	var text strings.Builder
	text.WriteString(head)
	picked := choose(list, room)
	texts := make([]string, len(picked))
	for i := range picked {
		texts[i] = picked[i].text()
		room = room.minus(sizeOf(texts[i]))
	}
	texts[1] += reportWithin(reported, room, texts[1] == "")
	for _, i := range []int{4, 2, 1, 5, 6, 0, 3} {
		text.WriteString(texts[i])
	}
	text.WriteString(more)
	b.Parts = []string{text.String()}
	return b
}

// finished reports whether a session left nothing to do: its turn ended, its files are committed, it
// worked on no pull request, and nothing is open, planned or failing.
func finished(c recall.Checkpoint) bool {
	a := c.State.Analysis
	open := len(a.Todo) + len(a.NextSteps) + len(a.Blockers) + len(a.OpenOptions) + len(a.Progress.PullRequests)
	if c.Cause == recall.Plan || a.Progress.Opened != "" || a.OpenQuestion != "" || a.Progress.Stopped != "" || a.Progress.Reported == "" || open > 0 {
		return false
	}
	for _, f := range c.State.Files {
		if f.Tracked != recall.Committed {
			return false
		}
	}
	return true
}

// reportWithin returns the line of the state with the agent's last words, cut to the room.
// If first is set, the section's title precedes it. The result is empty if there is too
// little room.
func reportWithin(reported string, room size, first bool) string {
	for _, width := range []int{openingState, openingState * 2 / 3, openingState / 3} {
		said := shownLine(reported, width)
		if said == "" {
			return ""
		}
		line := "- " + reportedAtEnd + said + "\n"
		if first {
			line = stateTitle + line
		}
		if sizeOf(line).within(room) {
			return line
		}
	}
	return ""
}

// askedShort returns the requests, the last one short enough for an Opening whatever its
// characters are: in a table or a list of ids each character can be a token.
func askedShort(a recall.Analysis) section {
	const most, shortest = 130, 40
	for newest := openingNewest; ; newest /= 2 {
		s := requests(a, newest, min(newest, openingOlder))
		if n := len(s.lines); n == 0 || newest <= shortest || tokenCost(s.lines[n-1]) <= tokens(most) {
			return s
		}
	}
}
