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
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/rewind"
)

// The choices for files that a person or another session changed.
const (
	answerGo       = "go"
	answerKeepBoth = "keep-both"
	answerAtWork   = "at-work"
	answerCancel   = "cancel"
)

// confirm asks before a rewind changes files that a person or a session at work has changed, too, or
// whose committed content changes. Without a terminal it refuses the last, else prints a note and
// makes the safe choice; with --force it only prints the note.
func (r *rewinding) confirm(ctx context.Context, p rewind.Point) error {
	if r.opts.force {
		_ = r.noteActive() // with --force unreadable states are no reason to refuse
		return nil
	}
	if !r.Prompter.Interactive() {
		committed, err := r.committed(ctx, p, nil)
		if err != nil {
			return err
		}
		if len(committed) > 0 {
			return &ui.NoTerminalError{Title: "The rewind changes committed files: " + someOf(committed) + ". Go on?", Flag: "--force"}
		}
		return r.noteActive()
	}
	q, err := r.questionAbout(ctx, p)
	if err != nil || len(q.Options) == 0 {
		return err
	}
	answers, err := r.Prompter.Ask(ctx, q)
	if err != nil {
		return err
	}
	return r.take(answers[0])
}

// confirmMove asks before an undo or redo of something old, and before a redo if files have changed
// since the undo: the redo leaves them as they are, so that the tree becomes one that never existed.
// Without a terminal it refuses. If nothing is asked, it prints what is taken back.
func (r *rewinding) confirmMove(ctx context.Context, op bands.Operation, past *rewind.PastRewind,
	look func(context.Context, rewind.Options) (restore.Plan, error), o rewind.Options,
) error {
	about, old := describePast(r.Now(), past), isOld(r.Now(), past)
	var since []string
	if op == bands.OpRedo && !r.opts.force {
		planned, err := look(ctx, o)
		if err != nil {
			return err
		}
		since = slices.Concat(planned.ChangedSince, planned.Untouched)
		slices.Sort(since)
	}
	if r.opts.force || !old && len(since) == 0 {
		if about != "" {
			r.Streams.Notef("%s", about)
		}
		return r.confirm(ctx, rewind.Point{})
	}
	q := ui.Question{Title: about + " Go on?", Flag: "--force", Help: "Files changed since are kept."}
	if len(since) > 0 {
		q.Title = "There is new work since the undo: " + someOf(since) + ". Redo?"
		q.Help = about + "\nThe new work is kept."
	}
	active, err := r.active()
	if err != nil {
		return err
	}
	if len(active) > 0 {
		q.Help += "\n" + turnRuns
	}
	answers, err := r.Prompter.Ask(ctx, q)
	if err == nil && answers[0] != ui.Yes {
		err = ui.ErrAborted
	}
	return err
}

// turnRuns is the warning about a running turn.
const turnRuns = "An agent is working here, and won't notice that files change."

// take applies the choice made for questionAbout.
func (r *rewinding) take(answer string) error {
	switch answer {
	case answerCancel:
		return ui.ErrAborted
	case answerKeepBoth:
		r.keepBoth = true
	case answerAtWork:
		r.atWork = true
	}
	return nil
}

// questionAbout returns the question to ask before a rewind to a point. It has no options if there
// is nothing to ask.
func (r *rewinding) questionAbout(ctx context.Context, p rewind.Point) (ui.Question, error) {
	q := ui.Question{Title: "Go on?", Flag: "--force"}
	if r.onlyLogs(p) && !r.opts.reset {
		return q, nil // no file changes
	}
	committed, err := r.committed(ctx, p, nil)
	if err != nil {
		return q, err
	}
	active, err := r.active()
	if err != nil {
		return q, err
	}
	var plan rewind.Plan
	if p.Snapshot != 0 && !r.onlyLogs(p) {
		if plan, err = r.planTo(ctx, p); err != nil {
			return q, err
		}
	}
	var help []string
	if len(active) > 0 {
		help = append(help, turnRuns)
	}
	for _, s := range plan.AtWork {
		help = append(help, fmt.Sprintf("Session %s is working and changed %s.", format.ID(s.Session), someOf(s.Paths)))
	}
	if len(plan.Both) > 0 {
		help = append(help, "You changed these, too: "+someOf(plan.Both)+". Their current content is saved first.")
	}
	if len(committed) > 0 {
		help = append(help, "Committed files would change: "+someOf(committed)+". HEAD stays as it is.")
		if r.opts.reset {
			help[len(help)-1] = "The reset changes committed files: " + someOf(committed) + "."
		}
	}
	if len(help) == 0 {
		return q, nil
	}
	turns, err := r.turnsBack(p)
	if err != nil {
		return q, err
	}
	q.Help = strings.Join(append(takenBack{turns: turns}.lines(r.Now(), false), help...), "\n")
	label := "Rewind"
	if len(plan.AtWork) > 0 {
		label = "Rewind, except the files of the working session"
	}
	q.Options = []ui.Option{{Label: label, Value: answerGo}}
	if len(plan.Both) > 0 {
		q.Options = append(q.Options, ui.Option{Label: "Rewind, except the files that I changed, too", Value: answerKeepBoth})
	}
	if len(plan.AtWork) > 0 {
		q.Options = append(q.Options, ui.Option{Label: "Rewind, including the files of the working session", Value: answerAtWork})
	}
	cancel := ui.Option{Label: "Cancel", Value: answerCancel}
	if len(active)+len(committed) > 0 {
		q.Options = append([]ui.Option{cancel}, q.Options...) // the default
	} else {
		q.Options = append(q.Options, cancel)
	}
	return q, nil
}

// someOf names the first of some paths, and the number of the others.
func someOf(paths []string) string {
	const shown = 3
	names := make([]string, 0, shown+1)
	for i, p := range paths {
		if i == shown {
			return strings.Join(names, ", ") + fmt.Sprintf(" and %d more", len(paths)-shown)
		}
		names = append(names, format.Path(p))
	}
	return strings.Join(names, ", ")
}

// noteActive warns, if no question is asked, that a turn is running.
func (r *rewinding) noteActive() error {
	active, err := r.active()
	for _, name := range format.UniqueSessions(active) {
		r.Streams.Notef("Session %s is working here, and its agent won't notice that files change.", name)
	}
	return err
}

// active lists the sessions of this worktree in the middle of a turn, without those whose agent
// runs this command.
func (r *rewinding) active() ([]string, error) {
	states, failed := r.turns()
	own := r.own(states)
	var ids []string
	for _, s := range states {
		if !slices.Contains(own, s.ID) {
			ids = append(ids, s.ID)
		}
	}
	slices.Sort(ids)
	return ids, failed
}

// turns returns the sessions of this worktree in the middle of a turn.
func (r *rewinding) turns() ([]*session.State, error) {
	states, failed := session.Open(r.repo.CommonDir).Pending()
	states = slices.DeleteFunc(states, func(s *session.State) bool {
		return s.Phase != session.Active || !app.SameFile(s.WorktreePath, r.repo.Root)
	})
	return states, errors.Join(failed...)
}

// own returns the ids of the sessions whose agent runs this command.
func (r *rewinding) own(states []*session.State) []string {
	above := proc.Ancestors()
	var ids []string
	for _, s := range states {
		agent := s.Recorder.Agent
		if slices.ContainsFunc(above, func(i proc.Info) bool {
			return agent.PID != 0 && i.PID == agent.PID && (agent.Start == 0 || i.Start == agent.Start)
		}) {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// planTo returns the plan of a rewind to a point in the scope of the flags. Plans are cached.
func (r *rewinding) planTo(ctx context.Context, p rewind.Point) (plan rewind.Plan, err error) {
	o, err := r.scope(p)
	if err != nil {
		return plan, err
	}
	key := fmt.Sprint(p.ID, o.Scope, o.Exact, o.Nested, o.Paths)
	if known, ok := r.plans[key]; ok {
		return known, nil
	}
	err = r.Streams.Sized("Comparing", func(reach func(string, ui.Amount)) (err error) {
		o.Progress = format.ProgressOnly(reach)
		plan, err = rewind.PreviewRewind(ctx, r.w, p, o)
		return err
	})
	if err == nil {
		r.plans[key] = plan
	}
	return plan, err
}
