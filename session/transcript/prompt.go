package transcript

import (
	"strings"
)

// IsHuman reports whether a person wrote the prompt of a prompt hook. It is false for prompts that
// the agent writes itself: the notice of a task's end, the summary after a compaction, a plan that
// was just accepted, a local command. A skill with typed arguments ("/review 12") is a person's.
func IsHuman(prompt string) bool {
	return human(prompt, sourceUnknown) != ""
}

// source is the recorded author of a line.
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
	// Traces of commands or keys given to the agent's terminal are a person's actions, but they
	// request nothing.
	if hasPrefix(s, "<command-", "<local-command-", "<bash-", "[Request interrupted") {
		return ""
	}
	// The agent writes these in a person's name.
	if from != sourceHuman && hasPrefix(s, "<task-notification>",
		"This session is being continued ", "Base directory for this skill: ", PlanPrefix) {
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

// isAside reports whether a tag encloses text that the agent adds to a person's text.
func isAside(tag string) bool {
	return strings.HasPrefix(tag, "ide_") || tag == "system-reminder" || tag == "local-command-caveat"
}

// isCommandTag reports whether a tag encloses a part of a command's trace.
func isCommandTag(tag string) bool {
	switch tag {
	case "command-name", "command-message", "command-args", "local-command-stdout":
		return true
	}
	return false
}

// strip removes the elements of the wanted tags with their contents. A tag without an end tag is
// treated as text.
func strip(s string, wanted func(tag string) bool) string {
	const (
		patience = 16 // maximum number of unclosed tags; each costs a search to the end
		longest  = 64 // longer than any tag that is searched for
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
