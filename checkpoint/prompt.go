package checkpoint

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session"
)

const (
	// promptSeparator separates the prompts in a prompt.txt.
	promptSeparator = "\n\n---\n\n"
	// noSubject is the subject of a turn without a prompt.
	noSubject = "Claude Code session updates"

	maxSubject     = 72  // code points
	maxFirstPrompt = 100 // code points
	maxShown       = 500 // bytes of a prompt in a committed context.md
)

// Subject returns a commit subject for a prompt: one line of at most 72 code points, without polite
// phrases at the beginning.
func Subject(prompt string) string {
	s := OneLine(prompt)
	for cut := true; cut; {
		cut = false
		for _, words := range []string{
			"Can you ", "can you ", "Please ", "please ", "Let's ", "let's ", "Could you ", "could you ",
			"Would you ", "would you ", "I want you to ", "I'd like you to ", "I need you to ",
		} {
			if rest, found := strings.CutPrefix(s, words); found {
				s, cut = rest, true
				break
			}
		}
	}
	s = strings.TrimSpace(strings.TrimSuffix(s, "?"))
	s = strings.TrimSpace(cutRunes(s, maxSubject))
	if s == "" {
		return noSubject
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// FirstPrompt returns the form of a first prompt in a session's state: one line of at most 100 code
// points, with "..." appended if it was cut.
func FirstPrompt(prompt string) string {
	s := OneLine(prompt)
	if cut := cutRunes(s, maxFirstPrompt); cut != s {
		return cut + "..."
	}
	return s
}

// joinPrompts returns the content of a prompt.txt.
func joinPrompts(prompts []string) string { return strings.Join(prompts, promptSeparator) }

// splitPrompts is the inverse of joinPrompts. A prompt that contains the separator is split in two,
// as the format can't distinguish this case.
func splitPrompts(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, promptSeparator)
}

// ShadowPrompts returns the prompts of the turn whose turn checkpoint has the given tree, none if
// it has no metadata of the session.
func ShadowPrompts(ctx context.Context, repo *git.Repo, tree git.OID, sessionID string) ([]string, error) {
	if session.CheckID(sessionID) != nil {
		return nil, nil //nolint:nilerr // such a session has no metadata
	}
	entry, found, err := git.LookupPath(ctx, repo, tree, MetadataDir(sessionID)+"/"+promptFile)
	if err != nil || !found {
		return nil, err
	}
	data, err := ReadBlob(ctx, repo, entry.OID)
	return splitPrompts(string(data)), err
}

// shadowContext returns the context.md of a shadow tree.
func shadowContext(sh Shadow) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Session Context\n\n**Session ID:** %s\n\n**Commit Message:** %s\n\n", sh.Session, OneLine(sh.Subject))
	section := func(title, text string) {
		if text != "" {
			b.WriteString("## " + title + "\n\n" + text + "\n\n")
		}
	}
	section("Prompt", joinPrompts(sh.Prompts))
	section("Summary", sh.Summary)
	return b.String()
}

// committedContext returns the context.md of a committed checkpoint.
func committedContext(prompts []string) string {
	var b strings.Builder
	b.WriteString("# Session Context\n\n## User Prompts\n\n")
	for i, p := range prompts {
		shown := p
		if len(p) > maxShown {
			shown = plain.Head(p, maxShown) + "..."
		}
		for _, part := range []string{"### Prompt ", strconv.Itoa(i + 1), "\n\n", shown, "\n\n"} {
			b.WriteString(part)
		}
	}
	return b.String()
}

// OneLine returns s as valid UTF-8, with every run of white space and control characters replaced
// by one space. A text on a line of its own can then not begin another line and thereby forge a
// trailer.
func OneLine(s string) string {
	blank := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), blank), " ")
}

// cutRunes returns the first n code points of s.
func cutRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
