package transcript

import (
	"slices"
	"strings"
	"unicode"
)

// PlanPrefix begins the first message of a session that executes an accepted plan.
const PlanPrefix = "Implement the following plan:"

// PromptTitle returns the title of a prompt: the heading of a plan, or the prompt itself. It is
// empty for texts written by a client and for replies that have no meaning by themselves.
func PromptTitle(prompt string) string {
	prompt = strings.TrimSpace(prompt)
	if plan, ok := strings.CutPrefix(prompt, PlanPrefix); ok {
		return PlanTitle(plan)
	}
	if IsWrapper(prompt) || IsReply(prompt) {
		return ""
	}
	return prompt
}

// PromptTitles returns the titles of stored prompts, in their order, without those that there are
// better ones than.
func PromptTitles(stored []string) []string {
	var titles []string
	best := nothing + 1
	for _, prompt := range stored {
		title, worth := PromptTitle(prompt), worthOf(prompt)
		if worth < best {
			continue
		}
		if worth > best {
			best, titles = worth, nil
		}
		titles = append(titles, title)
	}
	return titles
}

// FirstPrompt returns the title of the first of the best stored prompts, or if none has a title the
// first prompt, "" if there is none. LastPrompt is FirstPrompt for the last prompts.
func FirstPrompt(stored []string) string {
	if titles := PromptTitles(stored); len(titles) > 0 {
		return titles[0]
	}
	if len(stored) > 0 {
		return stored[0]
	}
	return ""
}

// LastPrompt is described at [FirstPrompt].
func LastPrompt(stored []string) string {
	reversed := slices.Clone(stored)
	slices.Reverse(reversed)
	return FirstPrompt(reversed)
}

// IsBetterTitle reports whether a prompt says more about the work of a session than an earlier one.
func IsBetterTitle(prompt, than string) bool { return worthOf(prompt) > worthOf(than) }

// worth orders prompts by how much they say about the work of a session.
type worth int

const (
	// nothing is the worth of a reply, a greeting, and a text written by a client.
	nothing worth = iota
	// expanded is that of the text that a command expanded to. Other programs store it as a prompt,
	// and its parts like prompts of their own.
	expanded
	command // without a request in words
	promptRequest
)

func worthOf(prompt string) worth {
	switch title := PromptTitle(prompt); {
	case title == "":
		return nothing
	case title == strings.TrimSpace(prompt) && isExpanded(title):
		return expanded
	case IsCommandPrompt(title):
		return command
	}
	return promptRequest
}

// isExpanded reports whether a text of several lines begins like the instructions of a command.
func isExpanded(text string) bool {
	return strings.Contains(text, "\n") && slices.ContainsFunc([]string{"**", "#", "<", "name: ", "---\n"}, func(begin string) bool { return strings.HasPrefix(text, begin) })
}

// IsCommandPrompt reports whether a prompt is a slash command without a request in words: "/review
// 12".
func IsCommandPrompt(prompt string) bool {
	name, args, _ := strings.Cut(prompt, " ")
	return IsReply(args) && len(name) > 1 && name[0] == '/' && strings.IndexFunc(name[1:], func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_:", r)
	}) < 0
}

// ShellPrefix begins the text of a command that a person ran in the client's shell.
const ShellPrefix = "! "

// PlanTitle returns the heading of a plan, which may be on one line with the headings of its parts.
func PlanTitle(plan string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(plan), "\n")
	line, _, _ = strings.Cut(line, " ## ")
	line = strings.TrimSpace(strings.TrimLeft(line, "# "))
	return strings.TrimSpace(strings.TrimPrefix(line, "Plan:"))
}

// IsWrapper reports whether a client wrote a text in place of the person or around their input.
func IsWrapper(prompt string) bool {
	prompt = strings.TrimSpace(prompt)
	wrappers := []string{
		"This session is being continued", "Base directory for this skill", "[Request interrupted", "Caveat: The messages below",
		"<command-", "<local-command-", "<execution_context>", "<objective>", "<task-notification>", "<agent-notification>", "<system-reminder>", "<bash-",
		"Operation stopped by hook:", "Stop hook feedback:", "User has answered your questions:", ShellPrefix,
	}
	return slices.ContainsFunc(wrappers, func(begin string) bool { return strings.HasPrefix(prompt, begin) })
}

// IsReply reports whether a prompt consists of words that only confirm, choose, continue or greet.
func IsReply(prompt string) bool {
	words := strings.FieldsFunc(strings.ToLower(prompt), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
	// The words of replies such as "yes please", "then commit it" and "5 seems like a great one".
	short := strings.Fields(`
	yes yeah yep yup no nope ok okay sure fine right correct exactly agreed good great nice perfect awesome cool thanks thank you
	please do it that this them all both go ahead on continue proceed start let's lets get going next then now and also just the an
	hi hello hey there good morning
	commit commi comit committed push pushed hpush pr merge again try retry done quit exit stop wait option
`)
	// Words that may occur in such replies but are none alone: "yes, fix it" means only "yes".
	empty := strings.Fields("seems like one to tackle sounds looks is i we fix apply capture implement revert use keep")
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

// RepliedTo returns the choice or question to which a short reply refers: the list item with the
// number in the reply, else the last question in the agent's text.
func RepliedTo(reply, said string) string {
	if n := strings.IndexFunc(reply, unicode.IsDigit); n >= 0 {
		number := reply[n:]
		if end := strings.IndexFunc(number, func(r rune) bool { return !unicode.IsDigit(r) }); end >= 0 {
			number = number[:end]
		}
		if item := PromptItem(number, said); item != "" {
			return item
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

// PromptItem returns the item of a list in a text that has the given label, a number or a letter;
// "" if there is none.
func PromptItem(label, text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "|"); ok { // a row of a table
			line, _, _ = strings.Cut(rest, "|")
		}
		line = strings.TrimLeft(strings.ReplaceAll(line, "**", ""), "*#- ")
		if rest, ok := strings.CutPrefix(line, "Option "); ok {
			line = rest
		}
		if len(line) <= len(label) || !strings.EqualFold(line[:len(label)], label) {
			continue
		}
		if rest := line[len(label):]; strings.IndexByte(".):", rest[0]) >= 0 {
			return strings.Trim(rest[1:], "* ")
		}
	}
	return ""
}
