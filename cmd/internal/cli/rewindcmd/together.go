package rewindcmd

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/rewind"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// otherRepository is another repository that the turns of a rewind changed.
type otherRepository struct {
	root  string
	repo  *git.Repo // nil if it can't be rewound
	w     *workspace.Workspace
	point rewind.Point
	// options are those of its rewind, plan is what that would change.
	options rewind.Options
	plan    rewind.Plan
	// why is the reason why it can't be rewound.
	why  error
	done *rewind.Rewound
}

// otherJSON is another repository in the output with --json.
type otherJSON struct {
	Root string `json:"root"`
	// Error is why it can't be rewound.
	Error string `json:"error,omitempty"`
	// Version is the snapshot there, Changes what would change or has changed, Rescue the snapshot
	// before that, only with --all-repositories.
	Version string           `json:"version,omitempty"`
	Plan    *format.PlanJSON `json:"plan,omitempty"`
	Rescue  string           `json:"rescue,omitempty"`
}

// findOthers finds the other repositories that the turns changed which a rewind to a point takes back.
func (r *rewinding) findOthers(ctx context.Context, p rewind.Point) error {
	if p.Snapshot == 0 || r.onlyLogs(p) || len(r.opts.paths) > 0 {
		if r.opts.allRepositories {
			return app.Usagef("--all-repositories needs a point with a snapshot")
		}
		return nil
	}
	turns, err := r.turnsBack(p)
	if err != nil {
		return err
	}
	for _, o := range rewind.OthersOf(r.w, turns) {
		other := &otherRepository{root: o.Root}
		r.others = append(r.others, other)
		repo, err := git.Discover(git.Locate{Dir: o.Root, Getenv: r.Getenv, Environ: r.Environ, Here: true})
		if err != nil || repo.CommonDir != o.CommonDir {
			other.why = errors.New("it was moved or removed")
			continue
		}
		other.repo, other.w = repo, r.Workspace(repo)
		if other.point, other.why = rewind.PointBefore(other.w, o.Session, o.Turns); other.why != nil {
			continue
		}
		scope, err := r.scope(p)
		if err != nil {
			return err
		}
		scope.Session, scope.Conversation = o.Session, false
		other.options = scope
		if r.opts.allRepositories || r.opts.preview || r.Prompter.Interactive() {
			if other.plan, err = rewind.PreviewRewind(ctx, other.w, other.point, scope); err != nil {
				return fmt.Errorf("%s: %w", other.root, err)
			}
		}
	}
	return nil
}

// closeOthers closes the other repositories.
func (r *rewinding) closeOthers() error {
	failed := make([]error, 0, len(r.others))
	for _, o := range r.others {
		if o.repo != nil {
			failed = append(failed, o.repo.Close())
		}
	}
	return errors.Join(failed...)
}

// namesOfOthers returns the names of the other repositories.
func (r *rewinding) namesOfOthers() string {
	names := make([]string, len(r.others))
	for i, o := range r.others {
		names[i] = format.Path(o.root)
	}
	return strings.Join(names, ", ")
}

// confirmOthers asks whether the turns are taken back in the other repositories, too, unless a flag decides
// that or there is no terminal. It refuses if one of them can't be rewound, or if committed
// files change and nobody can be asked.
func (r *rewinding) confirmOthers(ctx context.Context) error {
	if len(r.others) == 0 {
		return nil
	}
	if !r.opts.allRepositories {
		if r.opts.force || r.opts.json || !r.Prompter.Interactive() {
			return nil
		}
		answers, err := r.Prompter.Ask(ctx, ui.Question{
			Title: "The turns also changed " + r.namesOfOthers() + ". Rewind there, too?", Flag: "--all-repositories",
			Help: "All repositories are rewound, or none if one fails.",
			Options: []ui.Option{
				{Label: "In all of them", Value: answerGo}, {Label: "Only here", Value: answerKeepBoth}, {Label: "Cancel", Value: answerCancel},
			},
		})
		switch {
		case err != nil:
			return err
		case answers[0] == answerCancel:
			return ui.ErrAborted
		case answers[0] == answerKeepBoth:
			return nil
		}
		r.opts.allRepositories = true
	}
	var committed []string
	for _, o := range r.others {
		if o.why != nil {
			return app.WithHint(fmt.Errorf("can't rewind %s, so nothing was changed: %w", format.Path(o.root), o.why),
				"without --all-repositories only this repository is rewound")
		}
		paths, err := rewind.CommittedChanges(ctx, o.w, o.point, func() (iter.Seq[restore.Step], error) { return o.plan.Steps(), nil })
		if err != nil {
			return fmt.Errorf("%s: %w", o.root, err)
		}
		for _, p := range paths {
			committed = append(committed, filepath.Join(o.root, filepath.FromSlash(p)))
		}
	}
	if len(committed) == 0 || r.opts.force {
		return nil
	}
	answers, err := r.Prompter.Ask(ctx, ui.Question{
		Title: "The rewind changes committed files of other repositories: " + someOf(committed) + ". Go on?", Flag: "--force",
	})
	if err == nil && answers[0] != ui.Yes {
		err = ui.ErrAborted
	}
	return err
}

// rewind rewinds this repository, or with the others all of them.
func (r *rewinding) rewind(ctx context.Context, p rewind.Point, o rewind.Options) (rewind.Rewound, error) {
	if !r.opts.allRepositories || len(r.others) == 0 {
		return rewind.Rewind(ctx, r.w, p, o)
	}
	parts := []rewind.Part{{W: r.w, Point: p, Options: o}}
	for _, other := range r.others {
		parts = append(parts, rewind.Part{W: other.w, Point: other.point, Options: other.options})
	}
	all, err := rewind.RunTogether(ctx, parts)
	if err != nil {
		return rewind.Rewound{}, err
	}
	for i, other := range r.others {
		other.done = &all[i+1]
	}
	if len(all[0].Failed) > 0 {
		err = restore.ErrIncomplete
	}
	return all[0], err
}

// othersJSON returns the other repositories for --json.
func (r *rewinding) othersJSON() []otherJSON {
	list := make([]otherJSON, 0, len(r.others))
	for _, o := range r.others {
		j := otherJSON{Root: o.root}
		switch {
		case o.why != nil:
			j.Error = o.why.Error()
		case o.done != nil:
			plan := format.NewPlanJSON(o.done.Plan.Plan, o.done.Target)
			j.Version, j.Plan, j.Rescue = o.point.Snapshot.String(), &plan, o.done.Rescue.Version.String()
		case r.opts.allRepositories || r.opts.preview:
			plan := format.NewPlanJSON(o.plan.Plan, o.plan.Target)
			j.Version, j.Plan = o.point.Snapshot.String(), &plan
		}
		list = append(list, j)
	}
	return list
}

// printOthers prints what would change in the other repositories, or that they would not change.
func (r *reporter) printOthers() {
	if len(r.others) == 0 {
		return
	}
	if !r.opts.allRepositories {
		r.Streams.Printf("The turns also changed %s.\n", r.namesOfOthers())
		r.Streams.Hint("--all-repositories rewinds them, too")
		return
	}
	for _, o := range r.others {
		r.Streams.Printf("In %s:\n", format.Path(o.root))
		if o.why != nil {
			r.Streams.Printf("  can't be rewound: %s\n", o.why)
			continue
		}
		for _, kind := range stepKinds() {
			for step := range o.plan.Steps(kind) {
				r.Streams.Printf("  %s\n", format.StepLine(r.Streams, kind, step.Path))
			}
		}
		r.noteLeft(o.plan)
	}
}

// reportOthers prints what changed in the other repositories, or that they are as before.
func (r *reporter) reportOthers() {
	if r.opts.json || len(r.others) == 0 {
		return
	}
	if !r.opts.allRepositories {
		r.Streams.Notef("The turns also changed %s, which were not rewound.", r.namesOfOthers())
		r.Streams.Hint("to rewind them, too: `entire undo`, then the same rewind with --all-repositories")
		return
	}
	for _, o := range r.others {
		if o.done == nil {
			continue
		}
		r.noteLeft(o.done.Plan)
		r.Streams.Printf("In %s: rewound to %s. %s\n", format.Path(o.root), o.point.Snapshot, summary(o.done.Plan.Plan))
		for _, failure := range o.done.Failed {
			r.Streams.Notef("not restored: %s: %v", format.Path(filepath.Join(o.root, failure.Path)), failure.Err)
		}
	}
	r.Streams.Printf("`entire undo` undoes it in one repository.\n")
}
