package brief

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/memory"
)

// earlier returns the section of what the branch is for and what is done there: of each session but
// that of the context its first request and its commits, the oldest first.
func earlier(m Material) section {
	s := section{title: "**Branch** (its earlier sessions, oldest first):\n", more: "- … %d earlier lines\n", last: true}
	own := func(id string) bool { return slices.Contains(m.Checkpoint.Sessions, id) }
	for _, of := range slices.Backward(m.Memory.Sessions) {
		if own(of.ID) {
			continue
		}
		line := "session " + shortID(of.ID) + ", " + Ago(m.Now, of.At)
		if of.Person != "" {
			line += ", by " + shownLine(of.Person, itemWidth/4)
		}
		i := slices.IndexFunc(m.Memory.Purpose, func(q memory.Quote) bool { return q.Session == of.ID })
		if i >= 0 {
			line += ": " + shownLine(m.Memory.Purpose[i].Text, oldWidth)
		}
		var subjects []string
		for _, c := range slices.Backward(m.Memory.Done) {
			if c.Session == of.ID {
				subjects = append(subjects, shownLine(c.Subject, reasonWidth))
			}
		}
		if len(subjects) > 0 {
			line += "; committed: " + shownLine(strings.Join(subjects, "; "), taskWidth)
		}
		const most = 4
		var names []string
		for _, f := range m.Memory.Files { // those that no later session used
			if f.Session == of.ID && f.Use == memory.Changed && len(names) < most {
				names = append(names, shownPath(f.Path))
			}
		}
		if len(names) > 0 {
			line += "; changed: " + strings.Join(names, ", ")
		}
		if i >= 0 || len(subjects) > 0 {
			s.lines = append(s.lines, "- "+line+"\n")
		}
	}
	return s
}

// purpose returns a line with the request that began the work of the branch, if that was in an
// earlier session.
func purpose(m Material) section {
	if len(m.Memory.Purpose) == 0 || slices.Contains(m.Checkpoint.Sessions, m.Memory.Purpose[0].Session) {
		return section{}
	}
	n := len(m.Memory.Sessions)
	line := fmt.Sprintf("**Branch**: begun %d sessions ago with: %s\n", n-1, shownLine(m.Memory.Purpose[0].Text, openingOlder))
	if n == 2 { //nolint:mnd // this one and that
		line = strings.Replace(line, "1 sessions", "a session", 1)
	}
	return section{lines: []string{line}}
}

// remembered returns the section of the facts of some kinds, those of persons first. Facts of other
// branches count only if they hold everywhere.
func remembered(m Material, title string, kinds ...recall.FactKind) section {
	s := section{title: title, more: "- … %d more\n"}
	for _, by := range []recall.Speaker{recall.Person, recall.OfPlan, recall.OfAgent, recall.Output} {
		for _, f := range m.Memory.Facts {
			everywhere := f.Kind == recall.Rule || f.Kind == recall.Environment
			if f.By == by && slices.Contains(kinds, f.Kind) && (f.Here || everywhere) && !isAsked(f, m) {
				s.lines = append(s.lines, "- "+shownFact(m, f)+"\n")
			}
		}
	}
	return s
}

// isAsked reports whether the requests show a fact: a short request that is a decision as a whole, or
// an accepted plan.
func isAsked(f memory.Fact, m Material) bool {
	if f.Kind != recall.Decision || f.By == recall.OfAgent || !slices.Contains(m.Checkpoint.Sessions, f.Session) {
		return false
	}
	text := strings.TrimRight(f.Text, ".…")
	return slices.ContainsFunc(m.Checkpoint.State.Analysis.Requests, func(r recall.Request) bool {
		return f.By == recall.OfPlan && strings.Contains(r.Text, text) || strings.TrimRight(r.Text, ".") == text
	})
}

// shownFact returns a line about a fact: who said it, its text, the reason, and the session if it is
// not that of the context.
func shownFact(m Material, f memory.Fact) string {
	who := string(f.By)
	if f.Person != "" && f.By == recall.Person {
		who = shownLine(f.Person, itemWidth/4)
	}
	text := shownLine(f.Text, itemWidth)
	switch f.Kind {
	case recall.Failure:
		text = "`" + strings.ReplaceAll(shownLine(f.Command, itemWidth), "`", "'") + "`"
		who = "failed and did not pass since"
	case recall.Environment:
		if command := shownLine(f.Command, itemWidth); command != "" {
			text += ": `" + strings.ReplaceAll(command, "`", "'") + "`"
		}
		if why := shownLine(f.Why, reasonWidth); why != "" {
			text += " (" + why + ")"
		}
		return text
	case recall.Reference:
		who = ""
	case recall.Decision, recall.Attempt, recall.Rule:
	}
	line := text
	if who != "" {
		line = who + ": " + text
	}
	if why := shownLine(f.Why, reasonWidth); why != "" && !strings.Contains(text, why) {
		line += " (" + why + ")"
	}
	if f.Times > 1 {
		line += fmt.Sprintf(" (said %d times)", f.Times)
	}
	if !slices.Contains(m.Checkpoint.Sessions, f.Session) {
		line += ", session " + shortID(f.Session)
		if f.Person != "" && f.By != recall.Person {
			line += " of " + shownLine(f.Person, itemWidth/4)
		}
	}
	return line
}

const (
	decisionsTitle   = "**Decisions**:\n"
	rulesTitle       = "**Rules** (said by persons in earlier sessions):\n"
	attemptsTitle    = "**Tried and Given Up**:\n"
	environmentTitle = "**Environment**:\n"
	referencesTitle  = "**References**:\n"
	blockersTitle    = "**Blockers**:\n"
)

// since returns the part of a memory that a session doesn't know: what the sessions that ended after
// its context was saved left.
func since(m memory.Memory, c recall.Checkpoint) memory.Memory {
	later := map[string]bool{}
	for _, s := range m.Sessions {
		later[s.ID] = !s.At.Before(c.CreatedAt) && !slices.Contains(c.Sessions, s.ID)
	}
	m.Sessions = slices.DeleteFunc(slices.Clone(m.Sessions), func(s memory.Source) bool { return !later[s.ID] })
	m.Facts = slices.DeleteFunc(slices.Clone(m.Facts), func(f memory.Fact) bool { return !later[f.Session] })
	return m
}

// decisions returns the decisions of the branch; those of the context alone if it has no facts, as
// one of an earlier version.
func decisions(m Material) section {
	if m.Checkpoint.State.Analysis.Rewritten {
		s := decided(m.Checkpoint.State.Analysis)
		own := m.Checkpoint.Sessions
		m.Memory.Facts = slices.DeleteFunc(slices.Clone(m.Memory.Facts), func(f memory.Fact) bool { return slices.Contains(own, f.Session) })
		s.lines = append(s.lines, remembered(m, "", recall.Decision).lines...)
		return s
	}
	if s := remembered(m, decisionsTitle, recall.Decision); len(s.lines) > 0 || len(m.Checkpoint.State.Analysis.Facts) > 0 {
		return s
	}
	return decided(m.Checkpoint.State.Analysis)
}

// blockers returns the failures of the branch and the context's other blockers.
func blockers(m Material) section {
	s := remembered(m, blockersTitle, recall.Failure)
	for _, line := range bullets("", m.Checkpoint.State.Analysis.Blockers).lines {
		shown := slices.ContainsFunc(m.Memory.Facts, func(f memory.Fact) bool {
			return f.Kind == recall.Failure && strings.Contains(line, strings.TrimRight(shownLine(f.Command, reasonWidth), "…"))
		})
		if !shown {
			s.lines = append(s.lines, line)
		}
	}
	return s
}
