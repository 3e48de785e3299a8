package rewindcmd

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/rewind"
)

// takenBack is the work that a rewind takes back.
type takenBack struct {
	turns     []rewind.Turn      // oldest first
	committed []string           // the files whose committed content changes
	past      *rewind.PastRewind // what an undo or redo takes back, if that is known
}

// pastJSON is what an undo or redo takes back.
type pastJSON struct {
	What        string    `json:"what"`
	At          time.Time `json:"at"`
	Commits     int       `json:"commits_since"`
	Moved       bool      `json:"head_moved"`
	Interrupted bool      `json:"interrupted"`
}

// turnJSON is a turn that a rewind takes back.
type turnJSON struct {
	Session string    `json:"session_id"`
	Agent   string    `json:"agent"`
	Prompt  string    `json:"prompt"`
	At      time.Time `json:"at"`
}

func newTurnJSON(t rewind.Turn) turnJSON {
	return turnJSON{t.Session, t.Agent, t.Prompt, format.UTC(t.At)}
}

// turnsBack returns the turns that a rewind to a point takes back.
func (r *rewinding) turnsBack(p rewind.Point) ([]rewind.Turn, error) {
	if p.Snapshot == 0 || r.onlyLogs(p) {
		return nil, nil
	}
	turns, err := rewind.TurnsSince(r.w, p.Snapshot)
	switch {
	case err != nil || p.Turn == nil:
	case len(turns) == 0:
		turns = []rewind.Turn{*p.Turn}
	case turns[0].Session == p.Turn.Session:
		id := turns[0].ID
		turns[0] = *p.Turn
		turns[0].ID = id
	}
	return turns, err
}

// committed returns the files whose committed content a rewind to a point changes. steps are those
// of the rewind, if it is known; else they are planned if they are needed.
func (r *rewinding) committed(ctx context.Context, p rewind.Point, steps iter.Seq[restore.Step]) ([]string, error) {
	switch {
	case r.opts.reset:
		return rewind.DiscardedChanges(ctx, r.w, p.Commit)
	case r.onlyLogs(p):
		return nil, nil
	case p.Snapshot == 0:
		planned, err := rewind.PreviewCode(ctx, r.w, p)
		if err != nil {
			return nil, err
		}
		return rewind.CommittedCodeChanges(ctx, r.w, p, planned)
	default:
		return rewind.CommittedChanges(ctx, r.w, p, func() (iter.Seq[restore.Step], error) {
			if steps != nil {
				return steps, nil
			}
			planned, err := r.planTo(ctx, p)
			return planned.Steps(), err
		})
	}
}

// takesBack returns the work that a rewind to a point with a snapshot takes back; none if its plan
// has no steps.
func (r *rewinding) takesBack(ctx context.Context, p rewind.Point, planned *rewind.Plan) (t takenBack, err error) {
	if planned.Empty() {
		return t, nil
	}
	if t.turns, err = r.turnsBack(p); err != nil {
		return t, err
	}
	t.committed, err = r.committed(ctx, p, planned.Steps())
	return t, err
}

// lines describes the work: done reports whether it is taken back already.
func (t takenBack) lines(now time.Time, done bool) []string {
	takes, changes := "Undoes", "Changes committed files: "
	if done {
		takes, changes = "Undid", "Changed committed files: "
	}
	var lines []string
	if len(t.turns) == 1 {
		lines = append(lines, takes+" the turn "+describeTurn(now, &t.turns[0])+".")
	} else if n := len(t.turns); n > 1 {
		const shown = 3
		lines = append(lines, fmt.Sprintf("%s %d turns:", takes, n))
		for i := range min(n, shown) {
			lines = append(lines, "  "+describeTurn(now, &t.turns[n-1-i]))
		}
		if n > shown {
			lines = append(lines, fmt.Sprintf("  and %d before them", n-shown))
		}
	}
	if len(t.committed) > 0 {
		lines = append(lines, changes+someOf(t.committed)+".")
	}
	return lines
}

// describeTurn returns a turn's request, agent and age.
func describeTurn(now time.Time, t *rewind.Turn) string {
	request := `"` + ui.Line(t.Prompt, format.MessageWidth*2) + `"`
	if t.Prompt == "" {
		request = "without a prompt"
	}
	about := make([]string, 0, 2)
	if t.Agent != "" {
		about = append(about, ui.Line(t.Agent, format.NameWidth))
	}
	if !t.At.IsZero() {
		about = append(about, ui.Ago(now, t.At))
	}
	if len(about) == 0 {
		return request
	}
	return request + " (" + strings.Join(about, ", ") + ")"
}

// unchanged reports that the turn of a point changed no file, and offers the turn before.
func (r *rewinding) unchanged(p rewind.Point) error {
	if r.opts.json {
		_, target, err := rewind.PointTarget(r.w, p)
		if err != nil {
			return err
		}
		return r.Streams.JSON(newRewindPlanJSON(rewind.Plan{}, target, takenBack{turns: []rewind.Turn{*p.Turn}}))
	}
	r.Streams.Printf("Nothing to undo: the turn %s changed no files.\n", describeTurn(r.Now(), p.Turn))
	if p.Turn.Before != 0 {
		r.Streams.Hint(fmt.Sprintf("`entire rewind last:%d` undoes the last turn that changed files", p.Turn.Before))
	}
	return nil
}

// past returns what an undo or redo takes back, nil if there is nothing, or if that can't be read:
// the operation reports it.
func (r *rewinding) past(ctx context.Context, op bands.Operation) *rewind.PastRewind {
	last, err := rewind.LastRewind(ctx, r.w, op)
	if err != nil {
		return nil
	}
	if op == bands.OpRedo && !last.Interrupted {
		last.What = "undo of the " + last.What
	}
	return &last
}

// isOld reports whether an undo or redo needs a question: after more than ten minutes, or a commit.
func isOld(now time.Time, last *rewind.PastRewind) bool {
	const recent = 10 * time.Minute
	return last != nil && !last.Interrupted && (last.Commits > 0 || last.Moved || now.Sub(last.At) > recent)
}

// describePast describes what an undo or redo takes back, with its age; empty if it isn't known.
func describePast(now time.Time, last *rewind.PastRewind) string {
	if last == nil {
		return ""
	}
	what, since := "the "+last.What, ui.Ago(now, last.At)
	switch {
	case last.Interrupted:
		what = "the interrupted " + last.What
	case last.Commits > 0:
		since += ", " + ui.Plural(last.Commits, "commit") + " since"
	case last.Moved:
		since += ", HEAD has moved since"
	}
	return "This reverts " + what + " (" + since + ")."
}
