package query

import (
	"context"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// subagents reads the conversations of the subagents that were started in the items of a session,
// by tool use. dir is [checkpoint.Checkpoint.Tasks]. Conversations that can't be read are omitted.
// full is [transcript.Conversation.Full].
func (sr sessionReader) subagents(ctx context.Context, dir git.OID, items []transcript.Item, full bool) map[string][]transcript.Item {
	found := map[string][]transcript.Item{}
	if dir == "" {
		return found
	}
	for _, item := range items {
		if !transcript.IsTask(item.Tool) || !transcript.IsToolID(item.ID) {
			continue
		}
		stored, err := checkpoint.TaskTranscript(ctx, sr.repo, dir, item.ID)
		if err != nil {
			continue
		}
		c := transcript.Conversation{Root: sr.repo.Root, Subagent: true, Outputs: true, Full: full}
		if sr.lines(ctx, &c, stored, checkpoint.LineSpan{}) == nil {
			found[item.ID] = c.Items
		}
	}
	return found
}
