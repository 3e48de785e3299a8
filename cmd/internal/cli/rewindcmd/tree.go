package rewindcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/strategy/rewind"
)

// rewindConversation truncates the conversation, if --conversation is given.
func (r *rewinding) rewindConversation(ctx context.Context, p rewind.Point, rescue bands.Version) (rewind.Conversation, error) {
	if !r.opts.conversation {
		return rewind.Conversation{}, nil
	}
	conv, err := rewind.RestoreConversation(ctx, r.w, p, rescue)
	if err != nil {
		return conv, fmt.Errorf("the files are restored, but not the conversation: %w", err)
	}
	return conv, nil
}

// rewoundTo describes the target of a rewind.
func rewoundTo(p rewind.Point, name string) string {
	if p.TaskID != "" {
		return "Rewound to task checkpoint. " + name
	}
	return "Rewound to " + name
}

// step performs an undo or a redo.
func (r *rewinding) step(ctx context.Context, op bands.Operation,
	look func(context.Context, rewind.Options) (restore.Plan, error), do func(context.Context, rewind.Options) (rewind.Rewound, error),
) error {
	o, err := r.scope(rewind.Point{})
	if err != nil {
		return err
	}
	past := r.past(ctx, op)
	if r.opts.preview {
		if past != nil {
			r.Streams.Notef("%s", describePast(r.Now(), past))
		}
		return r.previewStep(ctx, past, look, o)
	}
	if err := r.confirmMove(ctx, op, past, look, o); err != nil {
		return err
	}
	began := r.Now()
	var done rewind.Rewound
	err = r.withProgress("Restoring", &o, func() (err error) {
		done, err = do(ctx, o)
		return err
	})
	if err != nil && !errors.Is(err, restore.ErrIncomplete) {
		return r.stopped(ctx, err, rewind.Point{}, done)
	}
	line := fmt.Sprintf("%s (%s).", didStep(op, past, &done), format.Took(r.Now().Sub(began)))
	r.reporter().report(done, line, map[bands.Operation]string{bands.OpUndo: "redo", bands.OpRedo: "undo"}[op], "", takenBack{past: past})
	for _, t := range done.Conversations {
		if t.Changed {
			r.Streams.Notef("Restored the conversation: %s", t.Path)
			r.Streams.Notef("Its previous state is in %s", t.Copy)
			continue
		}
		r.Streams.Notef("kept %s: the conversation has continued since; its previous state is in %s", t.Path, t.Copy)
	}
	return r.incomplete(err, done)
}

// didStep describes an undo or redo that was done: of what, and which files it changed if they are
// few.
func didStep(op bands.Operation, past *rewind.PastRewind, done *rewind.Rewound) string {
	verb, what := "Undid", "the rewind"
	if op == bands.OpRedo {
		verb = "Redid"
	}
	if past != nil {
		what = "the " + strings.TrimPrefix(past.What, "undo of the ")
	}
	text := verb + " " + what
	if len(done.Plan.ChangedSince) > 0 {
		text += ", except files changed since"
	}
	const few = 3
	var paths []string
	for s := range done.Plan.Steps() {
		if paths = append(paths, format.Path(s.Path)); len(paths) > few {
			return text
		}
	}
	if len(paths) > 0 {
		text += ": " + strings.Join(paths, ", ")
	}
	return text
}

// previewStep prints what an undo or redo would change.
func (r *rewinding) previewStep(ctx context.Context, past *rewind.PastRewind, look func(context.Context, rewind.Options) (restore.Plan, error), o rewind.Options) error {
	var planned restore.Plan
	err := r.Streams.Sized("Comparing", func(reach func(string, ui.Amount)) (err error) {
		o.Progress = format.ProgressOnly(reach)
		planned, err = look(ctx, o)
		return err
	})
	if err != nil {
		return err
	}
	if r.opts.json {
		return r.Streams.JSON(newRewindPlanJSON(rewind.Plan{Plan: planned}, planned.Target, takenBack{past: past}))
	}
	r.reporter().printPlan(planned.Target.Version.String(), rewind.Plan{Plan: planned}, nil)
	convs, err := rewind.ReplacedIn(r.w, planned.Target.Version)
	for _, t := range convs {
		if t.Changed {
			r.Streams.Printf("Conversation: %s would be restored\n", t.Path)
		}
	}
	return err
}

// stopped explains the error of a restore that did not complete.
func (r *rewinding) stopped(ctx context.Context, err error, p rewind.Point, done rewind.Rewound) error {
	if errors.Is(err, disk.ErrLocked) {
		return app.WithHint(fmt.Errorf("the snapshot store is in use by another process: %w", err), "a snapshot or another rewind is in progress; try again")
	}
	if done.Rescue.Version == 0 {
		return err
	}
	hint := "`entire undo` restores the previous state"
	switch {
	case p.Snapshot != 0:
		hint += ", `entire rewind --to " + p.Snapshot.String() + "` goes on"
	case p.Shadow != "":
		hint += ", `entire rewind --to " + p.Shadow.Short() + "` goes on"
	}
	if ctx.Err() != nil { // then only "Cancelled." is printed
		r.NoteInterruptedRewind(r.repo)
		return err
	}
	return app.WithHint(err, hint)
}

func (r *rewinding) incomplete(err error, done rewind.Rewound) error {
	if !errors.Is(err, restore.ErrIncomplete) {
		return err
	}
	for _, failure := range done.Failed {
		r.Streams.Notef("not restored: %s: %v", format.Path(failure.Path), failure.Err)
	}
	return app.WithHint(fmt.Errorf("%s could not be restored; everything else was", ui.Plural(len(done.Failed), "path")),
		"`entire undo` restores the previous state")
}

// report prints what a restore changed, and the paths that it left unchanged.
func (r *reporter) report(done rewind.Rewound, line, back, session string, taken takenBack) {
	if r.opts.json {
		j := newRewindPlanJSON(done.Plan, done.Target, taken)
		j.Others = r.othersJSON()
		_ = r.Streams.JSON(rewoundJSON{
			rewindPlanJSON: j, Rescue: done.Rescue.Version.String(), Verified: done.Verified,
			Failed: format.NewFailuresJSON(done.Failed), Sessions: format.NotNil(done.Sessions),
		})
		return
	}
	r.noteBoth(done.Plan, done.Rescue.Version)
	r.noteLeft(done.Plan)
	unset := make([]string, 0, len(done.Unset))
	for _, failure := range done.Unset {
		unset = append(unset, failure.Path)
	}
	r.noteSome(slices.Compact(unset), func(path string) string {
		return "restored " + path + " without its owner or an attribute, which you may not set"
	})
	if done.Rescue.Version == 0 || done.Plan.Empty() {
		r.Streams.Printf("%s\n", nothingChanges(done.Plan.Plan, "Nothing to change: the tree is the same."))
		return
	}
	r.Streams.Printf("%s %s\n", line, summary(done.Plan.Plan))
	for _, text := range taken.lines(r.Now(), true) {
		r.Streams.Printf("%s\n", text)
	}
	switch {
	case done.TakenBack:
	case len(done.Rescue.Only) > 0:
		r.Streams.Printf("To revert: entire %s\n", back)
	default:
		r.Streams.Printf("The previous state is %s. To %s: entire %s\n", done.Rescue.Version, back, back)
	}
	if session != "" {
		r.Streams.Printf("Continue the session: %s\n", app.ResumeCommand(r.repo, session))
	}
}

func (r *reporter) reportConversation(conv rewind.Conversation) {
	switch {
	case conv.Session == "":
	case !conv.Changed:
		r.Streams.Notef("The conversation is the same.")
	case conv.Fork != "":
		r.Streams.Notef("Continue the conversation from there: %s", conv.Agent.ResumeImported(conv.Fork, conv.Document))
	default:
		r.Streams.Notef("Conversation cut back: %s", conv.Path)
		r.Streams.Notef("The previous one is kept: %s", conv.Copy)
	}
}

// summary counts the changes of a plan by kind.
func summary(p restore.Plan) string {
	words := map[restore.StepKind]string{
		restore.StepCreate: "created", restore.StepRewrite: "rewritten", restore.StepReplace: "replaced",
		restore.StepAttributes: "with changed attributes", restore.StepDelete: "deleted",
	}
	var parts []string
	for _, kind := range stepKinds() {
		if n := p.Count(kind); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words[kind]))
		}
	}
	if len(parts) == 0 {
		return "Nothing changed."
	}
	return strings.Join(parts, ", ") + "."
}

func stepKinds() []restore.StepKind {
	return []restore.StepKind{restore.StepCreate, restore.StepRewrite, restore.StepReplace, restore.StepAttributes, restore.StepDelete}
}

// nothingChanges returns the line for a plan without steps; same is the line if the tree is
// identical to the target.
func nothingChanges(p restore.Plan, same string) string {
	kept := len(p.Kept) + len(p.Unknown) + len(p.Nested) + len(p.Unnamed) + len(p.Busy) + len(p.Blocked) + len(p.Damaged)
	switch {
	case len(p.ChangedSince)+len(p.Untouched) > 0:
		return "Nothing to change: the rewind didn't make the differences."
	case kept > 0:
		return "Nothing to change: all differing files are kept."
	}
	return same
}

// preview prints what would change, by kind.
func (r *rewinding) preview(ctx context.Context, p rewind.Point) error {
	if p.Snapshot == 0 {
		planned, err := rewind.PreviewCode(ctx, r.w, p)
		if err != nil {
			return err
		}
		committed, err := rewind.CommittedCodeChanges(ctx, r.w, p, planned)
		if err != nil {
			return err
		}
		if r.opts.json {
			j := newCodePlanJSON(p.ID, planned.Steps, planned.Skipped)
			j.Committed = format.NotNil(committed)
			return r.Streams.JSON(j)
		}
		for _, text := range (takenBack{committed: committed}).lines(r.Now(), false) {
			r.Streams.Printf("%s\n", text)
		}
		r.printCode(planned.Steps, planned.Skipped)
		return nil
	}
	planned, err := r.planTo(ctx, p)
	if err != nil {
		return err
	}
	taken, err := r.takesBack(ctx, p, &planned)
	if err != nil {
		return err
	}
	if r.opts.json {
		j := newRewindPlanJSON(planned, planned.Target, taken)
		j.Others = r.othersJSON()
		return r.Streams.JSON(j)
	}
	r.reporter().printPlan(p.Snapshot.String(), planned, taken.lines(r.Now(), false))
	r.reporter().printOthers()
	if r.opts.conversation {
		conv, err := rewind.PreviewConversation(ctx, r.w, p)
		if err != nil {
			return err
		}
		switch {
		case !conv.Changed:
		case conv.Agent.HandsOver():
			r.Streams.Printf("Conversation: a new session would be created, for %s to import\n", conv.Agent.Label)
		default:
			r.Streams.Printf("Conversation: %s would be cut back\n", conv.Path)
		}
	}
	return nil
}

// printPlan prints a plan below lines about it.
func (r *reporter) printPlan(name string, plan rewind.Plan, about []string) {
	r.PageText(func(s ui.Streams) {
		for _, text := range about {
			s.Printf("%s\n", text)
		}
		if plan.Empty() {
			s.Printf("%s\n", nothingChanges(plan.Plan, "Nothing would change: the tree is the same as in "+name+"."))
		}
		for _, kind := range stepKinds() {
			for step := range plan.Steps(kind) {
				s.Printf("%s\n", format.StepLine(s, kind, step.Path))
			}
		}
		if !plan.Empty() {
			s.Printf("In all: %s\n", summary(plan.Plan))
		}
	})
	r.noteBoth(plan, 0)
	r.noteLeft(plan)
}
