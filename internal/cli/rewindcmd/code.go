package rewindcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands/apply"
	"github.com/seed-3aff656d/entire/bands/history"
	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/filelock"
	"github.com/seed-3aff656d/entire/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/points"
	"github.com/seed-3aff656d/entire/strategy/rewind"
)

// codeRewind goes to a point without a snapshot: it writes the files that turns changed.
type codeRewind struct{ *rewinding }

// previewCode is the preview of a point without a snapshot.
func (c *codeRewind) previewCode(ctx context.Context, p points.Point) error {
	plan, err := c.rec.Rewind().CodeRewinder.PreviewCode(ctx, p)
	if err != nil {
		return err
	}
	if c.opts.json {
		return c.Streams.JSON(newCodePlanJSON(p.ID, rewind.CodeRewound{Plan: plan}))
	}
	c.printCode(plan, "Nothing to change: the session's files are as they were there.")
	return nil
}

// printCode prints a plan; nothing is the line for one without steps.
func (c *codeRewind) printCode(plan rewind.CodePlan, nothing string) {
	if len(plan.Steps) == 0 {
		c.Streams.Printf("%s\n", nothing)
	}
	for _, kind := range stepKinds() {
		for _, s := range plan.Steps {
			if s.Kind == kind {
				c.Streams.Printf("%s\n", format.StepLine(c.Streams, kind, s.Path))
			}
		}
	}
	c.reporter().noteKept("it leads through a symlink, or is a folder now", plan.Skipped)
	c.reporter().noteKept("changed since the rewind", plan.ChangedSince)
}

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

func newCodePlanJSON(id string, done rewind.CodeRewound) codePlanJSON {
	j := codePlanJSON{
		ID: id, Changes: []format.StepJSON{}, Skipped: format.NotNil(slices.Clone(done.Plan.Skipped)),
		ChangedSince: format.NotNil(slices.Clone(done.Plan.ChangedSince)), Failed: format.NewFailuresJSON(done.Failed), Rescue: string(done.Rescue),
	}
	for _, s := range done.Plan.Steps {
		j.Changes = append(j.Changes, format.StepJSON{Path: s.Path, Bytes: format.PathBytes(s.Path), Kind: s.Kind.String()})
	}
	return j
}

// codeOnly goes to a point without a snapshot.
func (c *codeRewind) codeOnly(ctx context.Context, p points.Point) error {
	done, err := c.rec.Rewind().CodeRewinder.RewindCodeOnly(ctx, p)
	if err != nil && !errors.Is(err, apply.ErrIncomplete) {
		return c.stoppedCode(ctx, err)
	}
	conv, failed := c.rewindConversation(ctx, p, 0)
	if failed != nil {
		return errors.Join(failed, err)
	}
	if c.opts.json {
		return errors.Join(c.Streams.JSON(newCodePlanJSON(p.ID, done)), c.incompleteCode(err, done))
	}
	c.printCode(done.Plan, "Nothing to change: the session's files are as they were there.")
	c.reporter().reportConversation(conv)
	if done.Rescue != "" {
		c.Streams.Notef("Before it: %s. To take it back: entire rewind --undo", done.Rescue.Short())
	}
	if p.Session != "" {
		c.Streams.Printf("%s. Continue the session: claude -r %s\n", rewoundTo(p, format.ID(p.ID)), p.Session)
	} else {
		c.Streams.Printf("%s.\n", rewoundTo(p, format.ID(p.ID)))
	}
	return c.incompleteCode(err, done)
}

// codeStep undoes or redoes a code-only rewind.
func (c *codeRewind) codeStep(ctx context.Context, op history.Operation) error {
	o, err := c.scope(points.Point{})
	if err != nil {
		return err
	}
	do := c.rec.Rewind().CodeRewinder.StepCode
	if c.opts.preview {
		do = c.rec.Rewind().CodeRewinder.PreviewCodeStep
	} else if err := c.confirm(ctx, points.Point{}); err != nil {
		return err
	}
	done, err := do(ctx, op, o)
	switch {
	case errors.Is(err, history.ErrEmpty):
		return fmt.Errorf("nothing to %s", op)
	case err != nil && !errors.Is(err, apply.ErrIncomplete):
		return c.stoppedCode(ctx, err)
	case c.opts.json:
		return errors.Join(c.Streams.JSON(newCodePlanJSON(string(done.Target), done)), c.incompleteCode(err, done))
	}
	nothing := "Nothing to change: what the rewind changed is as it was."
	if len(done.Plan.ChangedSince) > 0 {
		nothing = "Nothing to change: what differs was changed since the rewind."
	}
	c.printCode(done.Plan, nothing)
	if !c.opts.preview && len(done.Plan.Steps) > 0 {
		word := string(op)
		line := fmt.Sprintf("%s: what the rewind changed, and nobody since, is as in %s again.", strings.ToUpper(word[:1])+word[1:], done.Target.Short())
		if !done.TakenBack {
			line += " To take it back: entire rewind --" + string(map[history.Operation]history.Operation{history.OpUndo: history.OpRedo, history.OpRedo: history.OpUndo}[op])
		}
		c.Streams.Printf("%s\n", line)
	}
	return c.incompleteCode(err, done)
}

func (c *codeRewind) incompleteCode(err error, done rewind.CodeRewound) error {
	if !errors.Is(err, apply.ErrIncomplete) {
		return err
	}
	for _, failure := range done.Failed {
		c.Streams.Notef("not restored: %s: %v", format.Path(failure.Path), failure.Err)
	}
	return fmt.Errorf("%s could not be restored, everything else is", ui.Plural(len(done.Failed), "path"))
}

// stoppedCode explains a code-only rewind that did not end.
func (c *codeRewind) stoppedCode(ctx context.Context, err error) error {
	target, other := app.InterruptedRewind(c.repo)
	switch {
	case errors.Is(err, filelock.ErrLocked):
		return app.WithHint(err, "a snapshot or another rewind is under way; try again")
	case target == "" || other:
		return err
	case ctx.Err() != nil: // of which nothing but "Cancelled." is printed
		c.NoteInterruptedRewind(c.repo)
		return err
	}
	return app.WithHint(err, fmt.Sprintf("`entire rewind --undo` goes back to what was there before, `entire rewind --to %s` goes on", target))
}
