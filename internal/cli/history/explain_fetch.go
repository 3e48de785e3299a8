package history

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/explain"
)

// fetch gets from the remote what this clone lacks of the checkpoints that are shown.
func (e *explaining) fetch(ctx context.Context) error {
	var missing []git.OID
	var err error
	switch {
	case e.opts.checkpoint != "":
		missing, err = e.reader.MissingOfCheckpoint(ctx, e.opts.checkpoint)
	case e.opts.commit != "":
		missing, err = e.reader.MissingOfCommit(ctx, e.opts.commit)
	default:
		missing, err = e.reader.MissingOfList(ctx)
	}
	if err != nil || len(missing) == 0 {
		return err
	}
	return e.FetchObjects(ctx, e.reader.Repo, missing)
}

// problemText explains why a session is not shown whole.
func problemText(t explain.Session) string {
	if errors.Is(t.Problem, git.ErrMissing) {
		return "not in this clone: " + t.Problem.Error()
	}
	return "can't be read: " + t.Problem.Error()
}
