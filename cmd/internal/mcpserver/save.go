package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

// The limits of the input of a save: bytes, and for maxTags the number of tags.
const (
	maxSummary     = 1 << 10
	maxDescription = 16 << 10
	maxTags        = 32
	maxTag         = 64
)

// saveInput is the input of checkpoint_save.
type saveInput struct {
	Summary     string      `json:"summary"`
	Description string      `json:"description"`
	Tags        []string    `json:"tags"`
	Mode        recall.Mode `json:"mode"`
	SessionID   string      `json:"session_id"`
}

// save implements checkpoint_save. It returns a receipt and the checkpoint without the
// contents of files.
func (s *Server) save(ctx context.Context, c call, in saveInput) (result, error) {
	switch in.Mode {
	case "", recall.StatefulMode, recall.SummaryMode:
	default:
		return nil, fmt.Errorf("mode is %.40q, allowed: %q or %q", in.Mode, recall.StatefulMode, recall.SummaryMode)
	}
	switch {
	case len(in.Summary) > maxSummary:
		return nil, fmt.Errorf("summary has %d bytes, allowed: one line of at most %d", len(in.Summary), maxSummary)
	case len(in.Description) > maxDescription:
		return nil, fmt.Errorf("description has %d bytes, allowed: at most %d", len(in.Description), maxDescription)
	case len(in.Tags) > maxTags:
		return nil, fmt.Errorf("%d tags, allowed: at most %d", len(in.Tags), maxTags)
	}
	for _, tag := range in.Tags {
		if len(tag) > maxTag || tag == "" {
			return nil, fmt.Errorf("tag %.40q has %d bytes, allowed: 1 to %d", tag, len(tag), maxTag)
		}
	}
	return s.here(ctx, c, in.SessionID, func(c call, sessionID string) (result, error) {
		saved, err := c.project.Work.SaveContext(ctx, savedcontext.Saving{
			SessionID: sessionID, Cause: recall.Requested,
			Summary: in.Summary, Description: in.Description, Tags: in.Tags, Mode: in.Mode,
		})
		if err != nil {
			return nil, err
		}
		receipt := strings.Join(saved.Receipt(), "\n")
		res, err := data(fit(withoutContents(saved), receipt, s.limit()))
		if err != nil {
			return nil, err
		}
		res.Content = said(receipt).Content
		return res, nil
	})
}
