package explain

import (
	"context"
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

// promptsTitle returns the title of a part by its stored prompts, "" if they can't be read.
// Where the part is known to begin later than the session, prompts of earlier parts may be among
// them, and the last request is the nearest to it. Instructions that a command expanded to are
// among the prompts of other programs, behind what was typed: they are the title only where
// there is no other.
func (sr sessionReader) promptsTitle(ctx context.Context, s checkpoint.Stored) string {
	stored, err := s.Prompts(ctx, sr.repo)
	if err != nil {
		return ""
	}
	var titles, typed []string
	for _, prompt := range stored {
		title := prompts.Title(prompt)
		if title == "" {
			continue
		}
		titles = append(titles, title)
		if !strings.Contains(title, "\n") || !strings.HasPrefix(title, "**") && !strings.HasPrefix(title, "# ") {
			typed = append(typed, title)
		}
	}
	if len(typed) > 0 {
		titles = typed
	}
	switch {
	case len(titles) == 0:
		return ""
	case s.Meta.TranscriptStart > 0 || s.Meta.TranscriptIDAtStart != "":
		return titles[len(titles)-1]
	}
	return titles[0]
}
