package savedcontext

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/rewind"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// openingDraft is an Opening that is being decided.
type openingDraft struct {
	w       *workspace.Workspace
	input   workspace.Input
	opening *Opening
	past    pastSessions
}

// addFork adds, before everything else, a description of the fork that the session runs in.
func (d *openingDraft) addFork() {
	if o := d.w.Options.Recall; o.OnStart == settings.Never || o.Inject == settings.InjectOff {
		return
	}
	f, ok := rewind.ForkHere(d.w)
	if !ok {
		return
	}
	line := f.Describe()
	parts := d.opening.Parts
	switch {
	case len(parts) == 0:
		d.opening.Parts = []string{line}
	case len(line)+len(parts[0])+2 <= brief.MaxUnits: // a text has at most as many units as bytes
		parts[0] = line + "\n\n" + parts[0]
	}
}

// cleared adds the context that was cleared for the session.
func (d *openingDraft) cleared(ctx context.Context) error {
	before, ok := predecessor(d.w, candidates(ctx, d.w), d.input.SessionID, d.input.Agent)
	if !ok {
		return d.startup(ctx)
	}
	if before.End == nil { // its end was not reported
		err := end(ctx, d.w, Clearing{SessionID: before.id, Late: true}, recall.Clear, endEffort(), nil)
		if err != nil && !errors.Is(err, session.ErrNotFound) {
			return err
		}
	}
	m, _, err := remembered(ctx, d.w, before.id)
	if err != nil {
		return err
	}
	if m.End == nil {
		return nil
	}
	// Record which session came after the clear, so that no other session is treated as its
	// successor.
	err = d.w.WithLock(ctx, func() error {
		m, data, err := remembered(ctx, d.w, before.id)
		if err != nil || m.End == nil || m.End.Next == d.input.SessionID {
			return err
		}
		m.End.Next = d.input.SessionID
		_, err = putContextRecord(d.w, before.id, m, data)
		return err
	})
	if err != nil {
		return err
	}
	end := *m.End
	if end.Fresh && end.ID != "" {
		d.opening.Messages = append(d.opening.Messages, savedLine(end.Summary, end.ID))
		if end.Status == recall.Pending {
			d.opening.Messages = append(d.opening.Messages,
				"Discard it: entire recall discard "+end.ID, "The cleared session: "+agent.Of(d.input.AgentType).Resume(before.id))
		}
	}
	switch {
	case end.ID != "":
		err = d.offer(ctx, end.ID, end.Cause)
	case m.Kept != nil:
		err = d.add(ctx, m.Kept.ID, brief.Notice)
	}
	if err != nil || d.opening.due.Checkpoint == "" {
		return err
	}
	known, err := newest(ctx, d.w, d.input)
	d.compareOthers(known)
	return err
}

// offer adds the brief of a checkpoint that the session may continue from, as the settings
// require: a notice if the user is to be asked, the short form if the first prompt decides,
// else all of it. No prompt hook runs for an accepted plan.
func (d *openingDraft) offer(ctx context.Context, id string, cause recall.Cause) error {
	o := d.w.Options.Recall
	switch {
	case o.OnStart == settings.Prompt:
		d.opening.Ask = d.input.Source == "clear"
		return d.add(ctx, id, brief.Notice)
	case o.Inject == settings.InjectPrompt && d.input.PromptContext && cause != recall.Plan:
		err := d.add(ctx, id, brief.Opening)
		d.opening.due.Checkpoint = d.opening.Checkpoint
		return err
	default:
		return d.add(ctx, id, brief.Full)
	}
}

// compareOthers adds the checkpoints with which the first prompt is compared, besides that of the
// opening.
func (d *openingDraft) compareOthers(known offered) {
	if o := d.w.Options.Recall; o.OnStart != settings.Always || o.Inject != settings.InjectPrompt || !d.input.PromptContext {
		return
	}
	due := &d.opening.due
	due.Others, due.Older = known.others, known.older
	if known.id != due.Checkpoint && known.kind != brief.Notice {
		due.Others = slices.DeleteFunc(append([]string{known.id}, due.Others...), func(id string) bool { return id == due.Checkpoint })
	}
}

// add adds the brief of a checkpoint, unless briefs are off. A removed checkpoint is skipped.
func (d *openingDraft) add(ctx context.Context, id string, kind brief.Kind) error {
	if o := d.w.Options.Recall; o.OnStart == settings.Never || o.Inject == settings.InjectOff {
		return nil
	}
	recalled, err := makeBrief(ctx, d.w, d.past, id, kind)
	if errors.Is(err, recall.ErrNotFound) {
		d.opening.Ask = false
		return nil
	}
	if err != nil {
		return fmt.Errorf("brief of context checkpoint %s: %w", id, err)
	}
	d.opening.Checkpoint = id
	d.opening.Parts = recalled.Brief.Parts
	if len(recalled.Brief.Parts) > 0 && recalled.Brief.Message != "" && kind != brief.Notice {
		d.opening.Messages = append(d.opening.Messages, recalled.Brief.Message)
	}
	return nil
}

// startup adds the newest checkpoint of the worktree: a notice if it isn't fresh, at most
// the short form if it is of another branch and no first prompt decides.
func (d *openingDraft) startup(ctx context.Context) error {
	if d.input.Source == "startup" || d.input.Source == "" {
		record.EndDeadTurns(ctx, d.w)
		saveLost(ctx, d.w, candidates(ctx, d.w), d.input)
		if err := saveRecorded(ctx, d.w); err != nil {
			d.w.Log.WarnContext(ctx, "contexts of the branch not read from its checkpoints", "error", err.Error())
		}
	}
	newest, err := newest(ctx, d.w, d.input)
	if err != nil || newest.id == "" {
		return err
	}
	o := d.w.Options.Recall
	byPrompt := o.OnStart == settings.Prompt || o.Inject == settings.InjectPrompt && d.input.PromptContext
	if newest.kind == brief.Full || newest.kind == brief.Opening && byPrompt {
		err = d.offer(ctx, newest.id, "")
	} else {
		err = d.add(ctx, newest.id, newest.kind)
	}
	d.compareOthers(newest)
	return err
}

// same adds the newest checkpoint of the session itself.
func (d *openingDraft) same(ctx context.Context, kind brief.Kind) error {
	list, err := Contexts(d.w).List(ctx, contextstore.Filter{Session: d.input.SessionID, Limit: 1})
	if err != nil || len(list) == 0 {
		return err
	}
	return d.add(ctx, list[0].ID, kind)
}
