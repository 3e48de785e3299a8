package rewindcmd

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/strategy/rewind"
)

// codePlanJSON is the preview, or the result, of a rewind to a point without a snapshot.
type codePlanJSON struct {
	ID           string               `json:"id"`
	Changes      []format.StepJSON    `json:"changes"`
	Skipped      []string             `json:"skipped"`
	Committed    []string             `json:"committed"`
	ChangedSince []string             `json:"changed_since"`
	Failed       []format.FailureJSON `json:"failed"`
	Rescue       string               `json:"rescue,omitempty"`
}

func newCodePlanJSON(id string, steps []restore.Step, skipped []string) codePlanJSON {
	j := codePlanJSON{ID: id, Changes: []format.StepJSON{}, Skipped: format.NotNil(slices.Clone(skipped)), Committed: []string{}, ChangedSince: []string{}, Failed: []format.FailureJSON{}}
	for _, s := range steps {
		j.Changes = append(j.Changes, format.StepJSON{Path: s.Path, Bytes: format.PathBytes(s.Path), Kind: s.Kind.String()})
	}
	return j
}

// printCode prints steps by their kinds, and the skipped paths.
func (r *rewinding) printCode(steps []restore.Step, skipped []string) {
	if len(steps) == 0 {
		r.Streams.Printf("%s\n", "Nothing to change: the session's files are the same.")
	}
	for _, kind := range stepKinds() {
		for _, s := range steps {
			if s.Kind == kind {
				r.Streams.Printf("%s\n", format.StepLine(r.Streams, kind, s.Path))
			}
		}
	}
	r.reporter().noteKept("a parent is a link or a file, or it is now a folder", skipped)
}

// goToCode rewinds to a point without a snapshot: it restores the files that turns changed.
func (r *rewinding) goToCode(ctx context.Context, p rewind.Point) error {
	o, err := r.scope(p)
	if err != nil {
		return err
	}
	committed, err := r.committed(ctx, p, nil)
	if err != nil {
		return err
	}
	var done rewind.CodeRewound
	err = r.withProgress("Restoring "+p.Shadow.Short(), &o, func() (err error) {
		done, err = rewind.RestoreCode(ctx, r.w, p, o)
		return err
	})
	if err != nil && !errors.Is(err, restore.ErrIncomplete) {
		return r.stopped(ctx, err, p, done.Rewound)
	}
	conv, failed := r.rewindConversation(ctx, p, done.Origin)
	if failed != nil {
		return errors.Join(failed, err)
	}
	var steps []restore.Step
	if done.Plan.Root != nil {
		steps = slices.Collect(done.Plan.Steps())
	}
	if r.opts.json {
		j := newCodePlanJSON(p.ID, steps, done.Skipped)
		j.Committed = format.NotNil(committed)
		j.ChangedSince, j.Failed, j.Rescue = format.NotNil(done.Plan.ChangedSince), format.NewFailuresJSON(done.Failed), string(done.Before)
		return errors.Join(r.Streams.JSON(j), r.incomplete(err, done.Rewound))
	}
	r.printCode(steps, done.Skipped)
	for _, text := range (takenBack{committed: committed}).lines(r.Now(), true) {
		r.Streams.Printf("%s\n", text)
	}
	r.reporter().noteLeft(done.Plan)
	r.reporter().reportConversation(conv)
	if done.Before != "" {
		r.Streams.Notef("The previous state is %s. To undo: entire undo", done.Before.Short())
	}
	var line []string
	if len(steps) > 0 {
		line = append(line, rewoundTo(p, format.ID(p.ID))+".")
	}
	if p.Session != "" {
		line = append(line, "Continue the session: "+app.ResumeCommand(r.repo, p.Session))
	}
	if len(line) > 0 {
		r.Streams.Printf("%s\n", strings.Join(line, " "))
	}
	return r.incomplete(err, done.Rewound)
}
