package query

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// record holds all checkpoints that are stored in this repository.
type record struct {
	CheckpointReader
	checkpoint.Records

	// slots are the slots of all checkpoints by session; the map is nil until needed.
	slots *map[string][]slot
}

func (r CheckpointReader) openRecord(ctx context.Context) (record, error) {
	records, err := checkpoint.Open(ctx, r.Repo, r.Order)
	return record{CheckpointReader: r, Records: records, slots: new(map[string][]slot)}, err
}

// CheckpointsOf returns the ids of checkpoints that have a part of a session.
func (r CheckpointReader) CheckpointsOf(ctx context.Context, session string) ([]checkpoint.ID, error) {
	if x, ok := r.index(ctx); ok {
		names, err := x.CheckpointsOf(ctx, transcript.SessionID(session))
		ids := make([]checkpoint.ID, len(names))
		for i, name := range names {
			ids[i] = checkpoint.ID(name)
		}
		if err = errors.Join(err, x.Close()); err == nil {
			return ids, nil
		}
	}
	return checkpoint.OfSession(ctx, r.Repo, session)
}

// authors returns the authors of checkpoints, as checkpoint.Authors does.
func (r CheckpointReader) authors(ctx context.Context, ids ...checkpoint.ID) (map[checkpoint.ID]git.Signature, error) {
	if x, ok := r.index(ctx); ok {
		names := make([]string, len(ids))
		for i, id := range ids {
			names[i] = string(id)
		}
		list, err := x.AuthorsOf(ctx, names)
		if err = errors.Join(err, x.Close()); err == nil {
			authors := make(map[checkpoint.ID]git.Signature, len(list))
			for _, a := range list {
				authors[checkpoint.ID(a.Checkpoint)] = git.Signature{Name: a.Name, Email: a.Email, When: a.At}
			}
			return authors, nil
		}
	}
	return checkpoint.Authors(ctx, r.Repo, ids...)
}

// index opens the index, false if it can't be used.
func (r CheckpointReader) index(ctx context.Context) (*index.Reader, bool) {
	if r.Index == nil {
		return nil, false
	}
	x, err := r.Index(ctx)
	return x, err == nil
}

// find returns the checkpoints whose ids begin with a prefix that was typed, none for an empty one.
func (r record) find(ctx context.Context, typed string) ([]checkpoint.ID, error) {
	prefix, ok := checkpoint.Prefix(typed)
	if !ok || prefix == "" {
		return nil, nil
	}
	return r.Find(ctx, prefix)
}
