package query

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
)

// authors updates the authors of checkpoints from the history of the metadata branches, if that has
// changed since the last run.
func (r *run) authors(ctx context.Context) error {
	if r.known.Refs == r.now.Refs && r.known.Shallow == r.now.Shallow {
		return nil
	}
	tips, err := checkpoint.Tips(ctx, r.Repo)
	if err != nil {
		return err
	}
	var before []git.OID
	if err := r.meta(ctx, recordsKey, &before); err != nil {
		return err
	}
	if r.known.Shallow == r.now.Shallow && slices.Equal(before, tips) {
		return nil
	}
	gone, err := git.CommitsBetween(ctx, r.Repo, checkpoint.RecordSubject, before, tips)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || len(gone) > 0 || r.known.Shallow != r.now.Shallow { // rewritten, or there may be earlier records
		before = nil
		if err := r.w.Checkpoints.DropAuthors(ctx); err != nil {
			return err
		}
	}
	come, err := git.CommitsBetween(ctx, r.Repo, checkpoint.RecordSubject, tips, before)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.skip(ctx, "authors of checkpoints", err) // a history that lacks objects
		return nil
	}
	for _, c := range slices.Backward(come) { // the oldest first
		record, ok := checkpoint.RecordOf(c)
		if !ok {
			continue
		}
		err := r.w.Checkpoints.PutAuthor(ctx, index.Recorded{
			Checkpoint: string(record.ID), Session: record.Session, At: record.By.When, Name: record.By.Name, Email: record.By.Email,
		})
		if err != nil {
			return err
		}
	}
	return r.setMeta(ctx, recordsKey, tips)
}
