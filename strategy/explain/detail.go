package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitlog"
)

// detail reads a committed checkpoint.
func (r Reader) detail(ctx context.Context, book record, id checkpoint.ID, o Options) (Detail, error) {
	c, err := book.read(ctx, id)
	if err != nil {
		return Detail{}, fmt.Errorf("checkpoint %s: %w", id, err)
	}
	d := Detail{ID: string(id), Strategy: c.Summary.Strategy, Branch: c.Summary.Branch, Files: c.Summary.FilesTouched, Forgotten: c.Summary.Forgotten, Absent: c.Absent}
	for _, s := range c.Sessions {
		d.Task = d.Task || s.Meta.IsTask
		if d.Created.IsZero() || s.Meta.CreatedAt.Before(d.Created) {
			d.Created = s.Meta.CreatedAt
		}
	}
	var wait sync.WaitGroup // git finds the commits while the conversations are read
	var searched error
	wait.Go(func() { d.Commits, searched = r.commitsOf(ctx, id, d.Created, o.Search) })
	d.Sessions, err = r.sessions(ctx, book, c, o)
	wait.Wait()
	for _, s := range d.Sessions {
		if !s.NothingNew {
			d.Tokens = plus(d.Tokens, s.Tokens)
		}
	}
	if err := errors.Join(err, searched); err != nil {
		return Detail{}, err
	}
	d.Author, err = r.author(ctx, id, d.Commits)
	return d, err
}

// sessions reads the sessions of a checkpoint: first those that edited most of its
// files, unless their lines were counted, and last those with nothing new in it.
func (r Reader) sessions(ctx context.Context, book record, c checkpoint.Checkpoint, o Options) ([]Session, error) {
	sessions := make([]Session, 0, len(c.Sessions))
	counted := false
	for _, s := range c.Sessions {
		counted = counted || s.Meta.TranscriptLines > 0
		if o.Scope == Part {
			start, err := book.startOf(ctx, c.ID, s)
			if err != nil {
				return nil, err
			}
			s.Meta.TranscriptStart = max(s.Meta.TranscriptStart, start)
		}
		t, err := r.Session(ctx, s, o)
		switch {
		case errors.Is(err, git.ErrMissing) && ctx.Err() == nil:
			t.Problem = err // the others are shown, and what there is of it
		case err != nil:
			return nil, fmt.Errorf("checkpoint %s: session %d: %w", c.ID, s.Index, err)
		}
		sessions = append(sessions, t)
	}
	if !slices.ContainsFunc(sessions, func(s Session) bool { return !s.NothingNew }) {
		for i := range sessions {
			sessions[i].NothingNew = false // there is nothing else to show
		}
	}
	edited := func(s Session) int {
		switch {
		case s.NothingNew:
			return -1
		case counted:
			return 0
		}
		return s.edited(c.Summary.FilesTouched)
	}
	slices.SortStableFunc(sessions, func(a, b Session) int { return cmp.Compare(edited(b), edited(a)) })
	return sessions, nil
}

// plus adds up what sessions used, subagents included; nil is unknown.
func plus(a, b *checkpoint.Tokens) *checkpoint.Tokens {
	switch {
	case b == nil:
		return a
	case a == nil:
		return b
	}
	sum := a.Plus(*b)
	return &sum
}

// commitsOf finds the commits that carry a checkpoint's id, the newest first.
// Commits older than the checkpoint are examined only if there is none, for
// they are many and their dates seldom lie.
func (r Reader) commitsOf(ctx context.Context, id checkpoint.ID, created time.Time, where Search) ([]git.Commit, error) {
	const skew = 24 * time.Hour // clocks differ
	args := []string{"--fixed-strings", "--grep=" + string(id)}
	if where == All {
		args = append(args, "--exclude=refs/heads/entire/*", "--exclude=refs/remotes/*/entire/*", "--exclude=refs/entire/*", "--all")
		return r.carrying(ctx, id, args...)
	}
	args = append(args, "--exclude=entire/*", "--branches")
	if head, err := r.Repo.Commit(ctx, "HEAD"); err == nil { // it may be detached
		args = append(args, string(head.OID))
	}
	if !created.IsZero() {
		commits, err := r.carrying(ctx, id, append(args, "--since="+created.Add(-skew).Format(time.RFC3339))...)
		if len(commits) > 0 || err != nil {
			return commits, err
		}
	}
	return r.carrying(ctx, id, args...)
}

// carrying are the commits that git log lists and that carry the id.
func (r Reader) carrying(ctx context.Context, id checkpoint.ID, args ...string) ([]git.Commit, error) {
	commits, err := gitlog.Commits(ctx, r.Repo, append(args, "--")...)
	if err != nil {
		return nil, fmt.Errorf("find the commits of %s: %w", id, err)
	}
	return slices.DeleteFunc(commits, func(c git.Commit) bool { return !slices.Contains(checkpoint.IDs(c.Message), id) }), nil
}

// author is who wrote the newest commit, or who wrote the checkpoint.
func (r Reader) author(ctx context.Context, id checkpoint.ID, commits []git.Commit) (git.Signature, error) {
	if len(commits) > 0 {
		return commits[0].Author, nil
	}
	commits, err := gitlog.Commits(ctx, r.Repo, "--fixed-strings", "--grep=Checkpoint: "+string(id), "--max-count=1",
		"--branches=entire/checkpoints/*", "--remotes=*/entire/checkpoints/*", "--")
	if err != nil || len(commits) == 0 {
		return git.Signature{}, err
	}
	return commits[0].Author, nil
}
