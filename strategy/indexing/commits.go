package indexing

import (
	"context"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitlog"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/internal/index"
)

// commits updates the commits that name checkpoints, if branches have moved since the last
// run.
func (r *run) commits(ctx context.Context) error {
	if r.known.Refs == r.now.Refs {
		return nil
	}
	refs, err := gitref.List(ctx, r.Repo, "refs/heads", "refs/remotes")
	if err != nil {
		return err
	}
	var tips []git.OID // of HEAD and of all branches but the program's own, each once
	for _, ref := range refs {
		if !strings.HasPrefix(ref.Name, "refs/heads/entire/") && !strings.Contains(ref.Name, "/entire/checkpoints/") {
			tips = append(tips, ref.OID)
		}
	}
	head, found, err := r.Head(ctx)
	if err != nil {
		return err
	}
	if found {
		tips = append(tips, head.OID)
	}
	slices.Sort(tips)
	tips = slices.Compact(tips)
	var before []git.OID
	if err := r.meta(ctx, tipsKey, &before); err != nil {
		return err
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
	return r.setMeta(ctx, tipsKey, tips)
}
