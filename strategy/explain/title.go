package explain

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/session/transcript/prompts"
)

// titleOf returns what a part of a conversation was about, "" if it has neither: the
// first request in it, else what the first short reply in it replies to.
func titleOf(items []transcript.Item) string {
	said := "" // the agent's last words
	replied := ""
	for _, item := range items {
		switch item.By {
		case transcript.User:
			if title := prompts.Title(item.Text); title != "" {
				return title
			}
			if replied == "" {
				replied = prompts.RepliedTo(item.Text, said)
			}
		case transcript.Assistant:
			said = item.Text
		case transcript.Tool:
		}
	}
	return replied
}

// promptsTitle returns the title of a part by its stored prompts. Where the part is
// known to begin later than the session, prompts of earlier parts may be among them,
// and the last request is the nearest to it. Instructions that a command expanded to are among
// the prompts of other programs, behind what was typed: they are the title only where
// there is no other.
func promptsTitle(stored []string, later bool) string {
	var titles []string
	for _, prompt := range stored {
		if title := prompts.Title(prompt); title != "" {
			titles = append(titles, title)
		}
	}
	if typed := slices.DeleteFunc(slices.Clone(titles), isMarkup); len(typed) > 0 {
		titles = typed
	}
	switch {
	case len(titles) == 0:
		return ""
	case later:
		return titles[len(titles)-1]
	}
	return titles[0]
}

// isMarkup reports whether a text begins with a heading or a bold text of Markdown, and has
// more lines.
func isMarkup(text string) bool {
	return strings.Contains(text, "\n") && (strings.HasPrefix(text, "**") || strings.HasPrefix(text, "# "))
}

// title is what a session's part was about, by its metadata and prompts.
func (sr sessionReader) title(ctx context.Context, s checkpoint.Stored) string {
	if summary := checkpoint.ParseSummary(s.Meta.Summary); summary != nil && summary.Intent != "" {
		return summary.Intent
	}
	if s.Meta.Title != "" {
		return s.Meta.Title
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
