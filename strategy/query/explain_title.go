package query

import (
	"cmp"
	"context"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// titleOf returns the title of a part of a conversation: the first request in it in a person's words,
// else the first slash command, else the text to which the first short reply in it replies, "" if it
// has none of them.
func titleOf(items []transcript.Item) string {
	said := "" // the agent's last text
	command, replied := "", ""
	for _, item := range items {
		switch item.By {
		case transcript.User:
			switch title := transcript.PromptTitle(item.Text); {
			case title == "":
			case !transcript.IsCommandPrompt(title):
				return title
			case command == "":
				command = title
			}
			if replied == "" {
				replied = transcript.RepliedTo(item.Text, said)
			}
		case transcript.Assistant:
			said = item.Text
		case transcript.Tool:
		}
	}
	return cmp.Or(command, replied)
}

// promptsTitle returns the title of a part from its stored prompts, "" if they can't be read. If
// the part is known to begin later than the session, the prompts may include those of earlier
// parts, and the last request is the nearest.
func (sr sessionReader) promptsTitle(ctx context.Context, s checkpoint.Stored) string {
	stored, err := s.Prompts(ctx, sr.repo)
	if err != nil {
		return ""
	}
	titles := transcript.PromptTitles(stored)
	switch {
	case len(titles) == 0:
		return ""
	case s.Meta.TranscriptStart > 0 || s.Meta.TranscriptIDAtStart != "":
		return titles[len(titles)-1]
	}
	return titles[0]
}

// pointTitle returns the title of a checkpoint for which none is stored: a prompt of the first session
// that has one, or if prompts are missing or only replies, a request in a transcript.
func (sr sessionReader) pointTitle(ctx context.Context, all []checkpoint.Stored) string {
	for _, s := range all {
		if title := sr.promptsTitle(ctx, s); title != "" {
			return title
		}
	}
	for _, s := range all {
		if s.Absent { // where its part begins isn't known
			continue
		}
		part, _ := sr.session(ctx, s, ExplainOptions{}) // what can't be read has no title
		if part.Intent != "" && !part.NothingNew {
			return part.Intent
		}
	}
	return ""
}
