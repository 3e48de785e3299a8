package indexing

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitlog"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/internal/index"
)

// commits reads the commits that name checkpoints, as far as branches have moved since the
// last time.
func (r *run) commits(ctx context.Context) error {
	if r.known.Refs == r.now.Refs {
		return nil
	}
	tips, err := r.tips(ctx)
	if err != nil {
		return err
	}
	text, err := r.w.Meta(ctx, tipsKey)
	if err != nil {
		return err
	}
	var before []git.OID
	if text != "" && json.Unmarshal([]byte(text), &before) != nil {
		return index.ErrLost
	}
	if slices.Equal(before, tips) {
		return nil
	}
	gone, err := gitlog.Difference(ctx, r.Repo, checkpoint.TrailerKey+":", before, tips)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // a former tip doesn't exist any more
		before = nil
		if err := r.w.DropCommit(ctx, ""); err != nil {
			return err
		}
	}
	for _, c := range gone {
		if err := r.w.DropCommit(ctx, string(c.OID)); err != nil {
			return err
		}
	}
	come, err := gitlog.Difference(ctx, r.Repo, checkpoint.TrailerKey+":", tips, before)
	if err != nil {
		if ctx.Err() == nil {
			r.skip(ctx, "commits", err) // a history that lacks objects
			return nil
		}
		return err
	}
	for _, c := range come {
		subject, _, _ := strings.Cut(c.Message, "\n")
		for _, id := range checkpoint.IDsOf(c) {
			row := index.Commit{OID: string(c.OID), Checkpoint: string(id), At: c.Committer.When, Author: c.Author.Name, Email: c.Author.Email, Subject: subject}
			if err := r.w.PutCommit(ctx, row); err != nil {
				return err
			}
		}
	}
	data, err := json.Marshal(tips)
	if err != nil {
		return err
	}
	return r.w.SetMeta(ctx, tipsKey, string(data))
}

// tips are the commits of HEAD and of all branches but the program's own, each once.
func (r *run) tips(ctx context.Context) ([]git.OID, error) {
	refs, err := gitref.List(ctx, r.Repo, "refs/heads", "refs/remotes")
	if err != nil {
		return nil, err
	}
	var tips []git.OID
	for _, ref := range refs {
		if !strings.HasPrefix(ref.Name, "refs/heads/entire/") && !strings.Contains(ref.Name, "/entire/checkpoints/") {
			tips = append(tips, ref.OID)
		}
	}
	if head, found, err := r.Head(ctx); err != nil {
		return nil, err
	} else if found {
		tips = append(tips, head.OID)
	}
	slices.Sort(tips)
	return slices.Compact(tips), nil
}
