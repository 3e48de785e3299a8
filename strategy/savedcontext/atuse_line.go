package savedcontext

import (
	"path"
	"strings"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/recall/memory"
)

const (
	// maxLine is the maximum size of a line at a tool call, in tokens.
	maxLine = 60
	// leastQuoted is the length in bytes below which a quote is not cut.
	leastQuoted = 24
	// shownCommand and shownPerson are the maximum lengths of a command and of a name in a line.
	shownCommand, shownPerson = 60, 40
	// shownSession is the number of characters of a session's id in a line.
	shownSession = 8
)

// wordCharacters are characters that no shell interprets.
const wordCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+"

// subject is what a line is about: a file or a command.
type subject struct{ path, command string }

// lineOf returns the line for a fact: what was said as a quote, with who and when, and the command
// that prints more. It is empty if not even the beginning of the quote fits into maxLine tokens.
func lineOf(f memory.Fact, about subject) string {
	text := quoted(f.Text)
	if text == "" {
		return ""
	}
	said := Described(f)
	name, short, more := about.path, path.Base(about.path), "entire recall why-not "+about.path
	safe := wordCharacters
	if about.command != "" {
		name, more = plain.Shorten(quoted(about.command), shownCommand), "entire recall why-not -- "+about.command
		short, safe = name, safe+" "
	}
	if strings.Trim(strings.TrimPrefix(more, "entire recall why-not "), safe) == "" {
		more = ". More: " + more
	} else {
		more = "" // a shell would change it
	}
	reason := ""
	if why := quoted(f.Why); why != "" {
		reason = ` ("` + why + `")`
	}
	line := func(name, text, after string) string {
		return "Entire: " + plain.Visible(name) + ": " + said + `: "` + text + `"` + after
	}
	for _, name := range []string{name, short} {
		for _, after := range []string{reason + more, more, ""} {
			if l := line(name, text, after); brief.CountTokens(l) <= maxLine {
				return l
			}
		}
		for _, after := range []string{more, ""} {
			for most := len(text) - 1; most >= leastQuoted; most-- {
				if l := line(name, plain.Shorten(text, most), after); brief.CountTokens(l) <= maxLine {
					return l
				}
			}
		}
	}
	return ""
}

// quoted returns a text of a transcript as it stands between quotation marks in a line.
func quoted(text string) string {
	return strings.ReplaceAll(plain.Visible(strings.Join(strings.Fields(text), " ")), `"`, "'")
}

// Described returns who said a fact, when, and in which session: "decided by the person on 2026-11-28
// (session 3f9a1c2b)".
func Described(f memory.Fact) string {
	who, agent, person := "the person", "the agent", plain.Shorten(quoted(f.Person), shownPerson)
	if person != "" {
		who, agent = person, person+"'s agent"
	}
	by := map[recall.Speaker]string{recall.Person: " by " + who, recall.OfAgent: " by " + agent, recall.OfPlan: " in a plan that " + who + " accepted"}[f.By]
	said := "said"
	switch f.Kind {
	case recall.Decision:
		said = "decided"
	case recall.Attempt:
		said = "tried and given up"
	case recall.Failure:
		said, by = "failed", ""
	case recall.Rule, recall.Environment, recall.Reference:
	}
	said += by
	if !f.At.IsZero() {
		said += " on " + f.At.UTC().Format("2006-01-02")
	}
	said += " (session " + plain.Visible(f.Session[:min(len(f.Session), shownSession)])
	if person != "" {
		said += " of " + person
	}
	return said + ")"
}
