package rewindcmd

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands/apply"
	"github.com/seed-3aff656d/entire/bands/plan"
	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/cli/format"
	"github.com/seed-3aff656d/entire/strategy/points"
	"github.com/seed-3aff656d/entire/strategy/rewind"
)

// codeRewind goes to a point without a snapshot: it restores the files that turns changed.
type codeRewind struct{ *rewinding }

// codePlanJSON is the preview, or the outcome, of going to a point without a
// snapshot.
type codePlanJSON struct {
	ID           string               `json:"id"`
	Changes      []format.StepJSON    `json:"changes"`
	Skipped      []string             `json:"skipped"`
	ChangedSince []string             `json:"changed_since"`
	Failed       []format.FailureJSON `json:"failed"`
	Rescue       string               `json:"rescue,omitempty"`
}

func newCodePlanJSON(id string, steps []plan.Step, skipped []string) codePlanJSON {
	j := codePlanJSON{ID: id, Changes: []format.StepJSON{}, Skipped: format.NotNil(slices.Clone(skipped)), ChangedSince: []string{}, Failed: []format.FailureJSON{}}
	for _, s := range steps {
		j.Changes = append(j.Changes, format.StepJSON{Path: s.Path, Bytes: format.PathBytes(s.Path), Kind: s.Kind.String()})
	}
	return j
}

// preview prints what going there would change.
func (c *codeRewind) preview(ctx context.Context, p points.Point) error {
	planned, err := c.rec.Rewind().Rewinder.PreviewCode(ctx, p)
	if err != nil {
		return err
	}
	if c.opts.json {
		return c.Streams.JSON(newCodePlanJSON(p.ID, planned.Steps, planned.Skipped))
	}
	c.print(planned.Steps, planned.Skipped)
	return nil
}

// print prints steps by their kinds, and what is left.
func (c *codeRewind) print(steps []plan.Step, skipped []string) {
	if len(steps) == 0 {
		c.Streams.Printf("%s\n", "Nothing to change: the session's files are as they were there.")
	}
	for _, kind := range stepKinds() {
		for _, s := range steps {
			if s.Kind == kind {
				c.Streams.Printf("%s\n", format.StepLine(c.Streams, kind, s.Path))
			}
		}
	}
	c.reporter().noteKept("it leads through a link or a file, or is a folder now", skipped)
}

// goTo goes there.
func (c *codeRewind) goTo(ctx context.Context, p points.Point) error {
	o, err := c.scope(p)
	if err != nil {
		return err
	}
	var done rewind.CodeRewound
	err = c.withProgress("Restoring "+p.Shadow.Short(), &o, func() (err error) {
		done, err = c.rec.Rewind().Rewinder.RewindCode(ctx, p, o)
		return err
	})
	if err != nil && !errors.Is(err, apply.ErrIncomplete) {
		return c.stopped(ctx, err, p, done.Rewound)
	}
	conv, failed := c.rewindConversation(ctx, p, done.Origin)
	if failed != nil {
		return errors.Join(failed, err)
	}
	var steps []plan.Step
	if done.Plan.Root != nil {
		steps = slices.Collect(done.Plan.Steps())
	}
	if c.opts.json {
		j := newCodePlanJSON(p.ID, steps, done.Skipped)
		j.ChangedSince, j.Failed, j.Rescue = format.NotNil(done.Plan.ChangedSince), format.NewFailuresJSON(done.Failed), string(done.Before)
		return errors.Join(c.Streams.JSON(j), c.incomplete(err, done.Rewound))
	}
	c.print(steps, done.Skipped)
	c.reporter().noteLeft(done.Plan)
	c.reporter().reportConversation(conv)
	if done.Before != "" {
		c.Streams.Notef("Before it: %s. To take it back: entire rewind --undo", done.Before.Short())
	}
	var line []string
	if len(steps) > 0 {
		line = append(line, rewoundTo(p, format.ID(p.ID))+".")
	}
	if p.Session != "" {
		line = append(line, "Continue the session: "+app.ResumeCommand(c.repo, p.Session))
	}
	if len(line) > 0 {
		c.Streams.Printf("%s\n", strings.Join(line, " "))
	}
	return c.incomplete(err, done.Rewound)
}
