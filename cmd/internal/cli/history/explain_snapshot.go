package history

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/strategy/rewind"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// snapshot selects the checkpoint of a snapshot: that of its commit, else that of the turn at whose
// end it was taken, else at whose beginning. It updates the index of turns.
func (e *explaining) snapshot(ctx context.Context, v bands.Version) error {
	w := e.Workspace(e.reader.Repo)
	p, err := rewind.FindPoint(ctx, w, v.String())
	if _, isNone := errors.AsType[*rewind.PointError](err); isNone || errors.Is(err, bands.ErrNoSnapshot) {
		return app.WithHint(err, "`entire rewind --list --all` lists the snapshots of this worktree")
	}
	if err != nil {
		return err
	}
	switch {
	case p.Checkpoint != "":
		e.opts.checkpoint = string(p.Checkpoint)
		return nil
	case p.Commit != "":
		e.opts.commit = string(p.Commit)
		return nil
	case p.Session == "":
		return app.WithHint(fmt.Errorf("snapshot %s%s belongs to no turn and no commit", v, format.Quoted(p.Message)),
			fmt.Sprintf("`entire snapshot show %s` describes it, `entire diff %s` shows what changed since", v, v))
	}
	turn, err := e.indexedTurn(ctx, w, p)
	if err != nil {
		return err
	}
	if n := len(turn.Checkpoints); n > 0 {
		e.opts.checkpoint = turn.Checkpoints[n-1]
		return nil
	}
	if p.Shadow == "" && turn.Snapshot > 0 { // taken before a turn that no commit has taken up
		if after, err := rewind.FindPoint(ctx, w, bands.Version(turn.Snapshot).String()); err == nil {
			p.Shadow = after.Shadow
		}
	}
	if p.Shadow != "" {
		if _, _, err := e.reader.Lookup(ctx, string(p.Shadow)); err == nil {
			e.opts.checkpoint = string(p.Shadow)
			return nil
		}
	}
	return app.WithHint(fmt.Errorf("the turn of snapshot %s%s has no checkpoint", p.Snapshot, format.Quoted(p.Prompt)),
		fmt.Sprintf("`entire log --session %s` lists the turns, `entire snapshot show %s` describes the snapshot", ui.Line(p.Session, format.NameWidth), p.Snapshot))
}

// indexedTurn returns the turn of a session that has the snapshot at its end, else the one that has
// it at its beginning; the zero value if the index has neither.
func (e *explaining) indexedTurn(ctx context.Context, w *workspace.Workspace, p rewind.Point) (turn index.Row, err error) {
	r, err := e.OpenIndex(ctx, w.Repo)
	if err != nil {
		return turn, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	rows, _, err := r.Turns(ctx, index.Filter{Session: p.Session}, math.MaxInt32)
	for i := range rows {
		switch int(p.Snapshot) {
		case rows[i].Snapshot:
			return rows[i], err
		case rows[i].Base:
			turn = rows[i]
		}
	}
	return turn, err
}
