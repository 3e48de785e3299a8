package explain

import (
	"context"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/session/transcript/prompts"
)

// titleOf returns the title of a part of a conversation: the first request in it, else the text to
// which the first short reply in it replies, "" if it has neither.
func titleOf(items []transcript.Item) string {
	said := "" // the agent's last text
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

// promptsTitle returns the title of a part from its stored prompts, "" if they can't be read. If
// the part is known to begin later than the session, the prompts may include those of earlier
// parts, and the last request is the nearest. Prompts of other programs include instructions that a
// command expanded to, after the typed text: they are the title only if there is no other.
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
