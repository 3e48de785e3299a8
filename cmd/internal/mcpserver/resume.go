package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
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

// resume implements checkpoint_resume.
func (s *Server) resume(ctx context.Context, c call, in resumeInput) (result, error) {
	if err := in.check(s.limit()); err != nil {
		return nil, err
	}
	return s.here(ctx, c, "", func(c call, _ string) (res result, err error) {
		p, id := c.project, strings.TrimSpace(in.ID)
		if id != "" {
			id, err = p.Store.Find(ctx, id)
		} else { // the checkpoint that a new session would get
			var r savedcontext.Recalled
			r, err = p.Work.Recall(ctx, "", brief.Notice)
			id = r.Checkpoint.ID
		}
		switch {
		case err != nil:
		case in.isPart():
			res, err = resumePart(ctx, p, id, in, s.limit())
		case in.Level == levelSummary:
			res, err = resumeSummary(ctx, p, id, s.Now())
		case in.Level == levelFull:
			res, err = resumeFull(ctx, p, id, s.limit())
		default:
			res, err = resumeContext(ctx, p, id)
		}
		switch { // add a hint to the error
		case errors.Is(err, recall.ErrNotFound):
			err = fmt.Errorf("%w: checkpoint_list shows those that there are, checkpoint_save makes one", err)
		case errors.Is(err, recall.ErrAmbiguous):
			err = fmt.Errorf("%w: give more of it, checkpoint_list shows those that there are", err)
		case errors.Is(err, recall.ErrDamaged):
			err = fmt.Errorf("%w: `entire doctor` says more", err)
		}
		return res, err
	})
}

// resumeSummary returns the summary, the description, the task and the next steps. The lines of the
// description are marked, so that none of them looks like the task or a step.
func resumeSummary(ctx context.Context, p *Project, id string, now time.Time) (result, error) {
	c, err := p.Store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	lines := []string{fmt.Sprintf("%s (id %s, saved %s)", c.Summary, c.ID, brief.Ago(now, c.CreatedAt))}
	if c.Description != "" {
		lines = append(lines, "> "+plain.Quote(c.Description, ""))
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

// resumeContext returns the first part of the brief that a new session would get.
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

// resumeFull returns as much of a checkpoint as fits into limit tokens.
func resumeFull(ctx context.Context, p *Project, id string, limit int) (result, error) {
	c, err := p.Store.Get(ctx, id)
	if err == nil {
		err = p.Store.ReadContents(ctx, &c)
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
