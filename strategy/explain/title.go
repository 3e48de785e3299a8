package explain

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// titleOf returns what a part of a conversation was about, "" if that isn't said: the
// first request in it, else what the first short reply in it replies to.
func titleOf(items []transcript.Item) string {
	said := "" // the agent's last words
	replied := ""
	for _, item := range items {
		switch item.By {
		case transcript.User:
			if title := requestTitle(item.Text); title != "" {
				return title
			}
			if replied == "" {
				replied = repliedTo(item.Text, said)
			}
		case transcript.Assistant:
			said = item.Text
		case transcript.Tool:
		}
	}
	return replied
}

// requestTitle returns a prompt as a title: the heading of a plan, and nothing for what
// a client wrote or for a reply that has no sense of its own.
func requestTitle(prompt string) string {
	prompt = strings.TrimSpace(prompt)
	if plan, ok := strings.CutPrefix(prompt, "Implement the following plan:"); ok {
		line, _, _ := strings.Cut(strings.TrimSpace(plan), "\n")
		line = strings.TrimSpace(strings.TrimLeft(line, "# "))
		return strings.TrimSpace(strings.TrimPrefix(line, "Plan:"))
	}
	for _, prefix := range []string{
		"This session is being continued", "Base directory for this skill", "[Request interrupted", "Caveat: The messages below",
		"<command-", "<local-command-", "<execution_context>", "<objective>", "<task-notification>", "<system-reminder>", "<bash-",
	} {
		if strings.HasPrefix(prompt, prefix) {
			return ""
		}
	}
	if isShort(prompt) {
		return ""
	}
	return prompt
}

// isShort reports whether a prompt consists of words that only confirm, choose or go on.
func isShort(prompt string) bool {
	words := strings.FieldsFunc(strings.ToLower(prompt), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
	short, empty := shortWords(), fillers()
	replies := len(words) == 0
	for _, word := range words {
		switch {
		case slices.Contains(empty, word):
		case strings.Trim(word, "0123456789") == "", len(word) == 1, slices.Contains(short, word):
			replies = true
		default:
			return false
		}
	}
	return replies
}

// shortWords returns the words of replies such as "yes please", "then commit it" and
// "5 seems like a great one".
func shortWords() []string {
	return strings.Fields(`
	yes yeah yep yup no nope ok okay sure fine right correct exactly agreed good great nice perfect awesome cool thanks thank you
	please do it that this them all both go ahead on continue proceed start let's lets get going next then now and also just the an
	commit commi comit committed push pushed hpush pr merge again try retry done quit exit stop wait option
`)
}

// fillers returns words that stand in such replies and make none alone.
func fillers() []string { return strings.Fields("seems like one to tackle sounds looks is i we") }

// repliedTo returns what a short reply to the agent's words chooses or confirms: the
// item of a list that has its number, else the question that they end with.
func repliedTo(reply, said string) string {
	if number, ok := firstNumber(reply); ok {
		for line := range strings.Lines(said) {
			line = strings.TrimLeft(strings.TrimSpace(line), "*#- ")
			if rest, found := strings.CutPrefix(line, number); found && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, ")")) {
				return strings.Trim(rest[1:], "* ")
			}
		}
	}
	question := ""
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); strings.HasSuffix(strings.TrimRight(line, "*"), "?") {
			question = line
		}
	}
	return question
}

func firstNumber(s string) (string, bool) {
	n := strings.IndexFunc(s, unicode.IsDigit)
	if n < 0 {
		return "", false
	}
	end := strings.IndexFunc(s[n:], func(r rune) bool { return !unicode.IsDigit(r) })
	if end < 0 {
		return s[n:], true
	}
	return s[n : n+end], true
}

// promptsTitle returns the title of a part by its stored prompts. Where the part is
// known to begin later than the session, prompts of earlier parts may be among them,
// and the last request is the nearest to it.
func promptsTitle(prompts []string, later bool) string {
	var titles []string
	for _, prompt := range prompts {
		if title := requestTitle(prompt); title != "" {
			titles = append(titles, title)
		}
	}
	switch {
	case len(titles) == 0:
		return ""
	case later:
		return titles[len(titles)-1]
	}
	return titles[0]
}

// title is what a session's part was about, by its metadata and prompts.
func (sr sessionReader) title(ctx context.Context, s checkpoint.Stored) string {
	if summary := checkpoint.ParseSummary(s.Meta.Summary); summary != nil && summary.Intent != "" {
		return summary.Intent
	}
	return sr.promptsTitle(ctx, s)
}

func (sr sessionReader) promptsTitle(ctx context.Context, s checkpoint.Stored) string {
	prompts, err := s.Prompts(ctx, sr.repo)
	if err != nil {
		return ""
	}
	return promptsTitle(prompts, s.Meta.TranscriptStart > 0 || s.Meta.TranscriptIDAtStart != "")
}

// lastPrompt is what a session was asked last; a checkpoint without prompts is
// a checkpoint all the same.
func (sr sessionReader) lastPrompt(ctx context.Context, s checkpoint.Stored) string {
	prompts, err := s.Prompts(ctx, sr.repo)
	if err != nil || len(prompts) == 0 {
		return ""
	}
	return prompts[len(prompts)-1]
}
