package transcript

import (
	"strings"

	"github.com/seed-3aff656d/entire/session/transcript/prompts"
)

// IsHuman reports whether the prompt of a prompt hook was written by a person. It
// is not if the agent put it there itself: the notice of a task's end, the
// summary after a compaction, the plan that was just accepted, a local command.
// A skill typed with its arguments ("/review 12") is a person's.
func IsHuman(prompt string) bool {
	return human(prompt, sourceUnknown) != ""
}

// source is who wrote a line, as far as that is recorded.
type source int

const (
	sourceUnknown source = iota
	sourceHuman
	sourceAgent
)

// human returns the part of a text that a person wrote, "" if there is none.
func human(s string, from source) string {
	if from == sourceAgent {
		return ""
	}
	s = strings.TrimSpace(strip(s, isAside))
	// The trace of a command or key that a person gave to the agent's terminal is their doing,
	// but nothing they asked for.
	if hasPrefix(s, "<command-", "<local-command-", "<bash-", "[Request interrupted") {
		return ""
	}
	// These the agent writes in a person's name.
	if from != sourceHuman && hasPrefix(s, "<task-notification>",
		"This session is being continued ", "Base directory for this skill: ", prompts.PlanPrefix) {
		return ""
	}
	return strings.TrimSpace(strip(s, isCommandTag))
}

func hasPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// isAside reports whether a tag wraps what the agent adds to a person's text.
func isAside(tag string) bool {
	return strings.HasPrefix(tag, "ide_") || tag == "system-reminder" || tag == "local-command-caveat"
}

// isCommandTag reports whether a tag wraps a part of a command's trace.
func isCommandTag(tag string) bool {
	switch tag {
	case "command-name", "command-message", "command-args", "local-command-stdout":
		return true
	}
	return false
}

// strip removes the elements of the tags wanted with all they hold. A tag that
// is never closed is text.
func strip(s string, wanted func(tag string) bool) string {
	const (
		patience = 16 // unclosed tags; each costs a search to the end
		longest  = 64 // more than any tag that is searched for
	)
	var kept strings.Builder
	open, misses := 0, 0
	for misses < patience {
		n := strings.IndexByte(s[open:], '<')
		if n < 0 {
			break
		}
		open += n
		tag, _, closed := strings.Cut(s[open+1:min(len(s), open+longest)], ">")
		if !closed {
			tag = ""
		}
		if !wanted(tag) {
			open++
			continue
		}
		closing := "</" + tag + ">"
		n = strings.Index(s[open:], closing)
		if n < 0 {
			misses++
			open++
			continue
		}
		kept.WriteString(s[:open])
		s = s[open+n+len(closing):]
		open = 0
	}
	if kept.Len() == 0 {
		return s
	}
	kept.WriteString(s)
	return kept.String()
}
