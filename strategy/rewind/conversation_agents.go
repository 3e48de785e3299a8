package rewind

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// storedTasks returns the tasks of the sessions of a checkpoint, followed by those of their earlier
// checkpoints, newest first.
func storedTasks(ctx context.Context, w *workspace.Workspace, c checkpoint.Checkpoint) ([]checkpoint.StoredTask, error) {
	records, err := w.Records(ctx)
	if err != nil {
		return nil, err
	}
	ids, err := candidates(ctx, w, records, c)
	if err != nil {
		return nil, err
	}
	of := []earlier{{c, time.Time{}}}
	for _, id := range ids {
		for _, source := range records.Sources { // use the first one that has all of it
			other, err := source.Read(ctx, id)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err == nil {
				if at, is := sharesEarlier(other, c); is {
					of = append(of, earlier{other, at})
				}
				break
			}
			if !errors.Is(err, checkpoint.ErrNotFound) {
				w.Log.WarnContext(ctx, "tasks of a checkpoint not read", "checkpoint", string(id), "error", err.Error())
			}
		}
	}
	slices.SortStableFunc(of[1:], func(a, b earlier) int { return b.at.Compare(a.at) })
	var all []checkpoint.StoredTask
	for _, e := range of {
		stored, err := e.ReadStoredTasks(ctx, w.Repo)
		if err != nil {
			return nil, err
		}
		all = append(all, stored...)
	}
	return all, nil
}

// candidates returns the other checkpoints that may have a session of c: those that are known to have
// one, or all checkpoints if c is not among these, as in a branch that was squashed.
func candidates(ctx context.Context, w *workspace.Workspace, records checkpoint.Records, c checkpoint.Checkpoint) ([]checkpoint.ID, error) {
	var ids []checkpoint.ID
	for _, s := range c.Sessions {
		if s.Meta.SessionID == "" {
			continue
		}
		of, err := query.CheckpointReader{Repo: w.Repo, Order: w.Options.Order, Index: func(ctx context.Context) (*index.Reader, error) { return query.CurrentIndex(ctx, w) }}.CheckpointsOf(ctx, s.Meta.SessionID)
		if err != nil {
			return nil, err
		}
		ids = append(ids, of...)
	}
	if !slices.Contains(ids, c.ID) {
		of, err := records.Find(ctx, "")
		if err != nil {
			return nil, err
		}
		ids = append(ids, of...)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return slices.DeleteFunc(ids, func(id checkpoint.ID) bool { return id == c.ID }), nil
}

// earlier is a checkpoint with tasks, and its time.
type earlier struct {
	checkpoint.Checkpoint

	at time.Time
}

// sharesEarlier reports whether a checkpoint has a session of c and is not newer than c, and
// returns its time.
func sharesEarlier(other, c checkpoint.Checkpoint) (time.Time, bool) {
	for _, s := range c.Sessions {
		for _, o := range other.Sessions {
			same := transcript.SessionID(s.Meta.SessionID) == transcript.SessionID(o.Meta.SessionID) && s.Meta.SessionID != ""
			if same && !o.Meta.CreatedAt.After(s.Meta.CreatedAt) {
				return o.Meta.CreatedAt, true
			}
		}
	}
	return time.Time{}, false
}
