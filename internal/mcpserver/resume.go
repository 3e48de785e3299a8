package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/brief"
)

// The levels of checkpoint_resume.
const (
	levelSummary = "summary"
	levelContext = "context"
	levelFull    = "full"
)

// resumeInput is the input of checkpoint_resume.
type resumeInput struct {
	ID    string `json:"id"`
	Level string `json:"level"`
	// Sections, File and Decision request parts in at most MaxTokens tokens.
	Sections  []string `json:"sections"`
	File      string   `json:"file"`
	Decision  string   `json:"decision"`
	MaxTokens int      `json:"max_tokens"`
}

// resume is checkpoint_resume.
func (s *Server) resume(ctx context.Context, c call, in resumeInput) (result, error) {
	if err := in.check(s.limit()); err != nil {
		return nil, err
	}
	return s.here(ctx, c, "", func(c call, _ string) (result, error) {
		id, err := find(ctx, c.project, in.ID)
		if err == nil {
			var res result
			if res, err = s.resumeOf(ctx, c.project, id, in); err == nil {
				return res, nil
			}
		}
		return nil, advised(err)
	})
}

// resumeOf returns what the input asks for of a checkpoint.
func (s *Server) resumeOf(ctx context.Context, p *Project, id string, in resumeInput) (result, error) {
	switch {
	case in.isPart():
		return resumePart(ctx, p, id, in, s.limit())
	case in.Level == levelSummary:
		return resumeSummary(ctx, p, id, s.Now())
	case in.Level == levelFull:
		return resumeFull(ctx, p, id, s.limit())
	}
	return resumeContext(ctx, p, id)
}

// find returns the id that is meant, that of the checkpoint with which a new
// session would begin if none is named.
func find(ctx context.Context, p *Project, prefix string) (string, error) {
	if prefix = strings.TrimSpace(prefix); prefix != "" {
		return p.Store.Find(ctx, prefix)
	}
	r, err := p.Work.Recall(ctx, "", brief.Notice)
	return r.Checkpoint.ID, err
}

// advised describes what can be done about an error.
func advised(err error) error {
	switch {
	case errors.Is(err, recall.ErrNotFound):
		return fmt.Errorf("%w: checkpoint_list shows those that there are, checkpoint_save makes one", err)
	case errors.Is(err, recall.ErrAmbiguous):
		return fmt.Errorf("%w: give more of it, checkpoint_list shows those that there are", err)
	case errors.Is(err, recall.ErrDamaged):
		return fmt.Errorf("%w: `entire doctor` says more", err)
	default:
		return err
	}
}

// resumeSummary returns the task and the steps.
func resumeSummary(ctx context.Context, p *Project, id string, now time.Time) (result, error) {
	c, err := p.Store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	lines := []string{fmt.Sprintf("%s (id %s, saved %s)", c.Summary, c.ID, brief.Ago(now, c.CreatedAt))}
	if c.Description != "" {
		lines = append(lines, c.Description)
	}
	if task := c.State.Analysis.CurrentTask; task != "" {
		lines = append(lines, "Current task: "+task)
	}
	if len(c.State.Analysis.NextSteps) > 0 {
		lines = append(lines, "Next steps:")
	}
	for i, step := range c.State.Analysis.NextSteps {
		lines = append(lines, strconv.Itoa(i+1)+". "+step)
	}
	return said(lines...), nil
}

// resumeContext returns what a session would begin with, without files.
func resumeContext(ctx context.Context, p *Project, id string) (result, error) {
	r, err := p.Work.Recall(ctx, id, brief.Full)
	if err != nil {
		return nil, err
	}
	if len(r.Brief.Parts) == 0 {
		return said(r.Brief.Message), nil
	}
	return said(r.Brief.Parts[0]), nil
}

// resumeFull returns all of a checkpoint that limit tokens have room for.
func resumeFull(ctx context.Context, p *Project, id string, limit int) (result, error) {
	c, err := p.Store.Get(ctx, id)
	if err == nil {
		err = p.Store.Contents(ctx, &c)
	}
	if err != nil {
		return nil, err
	}
	text, err := encode(fit(c, "", limit))
	if err != nil {
		return nil, err
	}
	return said(string(text)), nil
}
