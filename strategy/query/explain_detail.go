package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// detail reads a committed checkpoint.
func (r CheckpointReader) detail(ctx context.Context, book record, id checkpoint.ID, o ExplainOptions) (Detail, error) {
	c, err := book.Read(ctx, id)
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
	var wait sync.WaitGroup // git finds the commits and the author while the conversations are read
	var searched error
	var authors map[checkpoint.ID]git.Signature
	wait.Go(func() { d.Commits, searched = commitFinder{r.Repo}.commitsOf(ctx, id, d.Created, o.Search) })
	wait.Go(func() { authors, _ = r.authors(ctx, id) }) // the rest is shown without it, too
	d.Sessions, err = r.sessions(ctx, book, c, o)
	wait.Wait()
	d.Unsearched, d.Author = searched, authors[id]
	for _, s := range d.Sessions {
		switch {
		case s.NothingNew, s.Tokens == nil:
		case d.Tokens == nil:
			d.Tokens = s.Tokens
		default:
			sum := d.Tokens.Plus(*s.Tokens)
			d.Tokens = &sum
		}
	}
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return Detail{}, err
	}
	return d, ctx.Err()
}

// sessions reads the sessions of a checkpoint: first those that edited most of its files, unless
// their lines were counted, and last those with nothing new in it. Problem is set for those that
// can't be read.
func (r CheckpointReader) sessions(ctx context.Context, book record, c checkpoint.Checkpoint, o ExplainOptions) ([]CheckpointSession, error) {
	sessions := make([]CheckpointSession, 0, len(c.Sessions))
	counted := false
	for _, s := range c.Sessions {
		counted = counted || s.Meta.TranscriptLines > 0
		start := 0
		if o.Scope == Part {
			// If the beginning can't be determined, the session's whole transcript is shown.
			start, _ = book.startOf(ctx, c.ID, s)
			s.Meta.TranscriptStart = max(s.Meta.TranscriptStart, start)
		}
		t, err := (sessionReader{r.Repo}).session(ctx, s, o)
		if named := s.Meta.TranscriptIDAtStart != "" && start > 0; err == nil && named && !t.asks() { // a former version named the end of the former part
			s.Meta.TranscriptStart = 0
			t, err = (sessionReader{r.Repo}).session(ctx, s, o)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t.Problem = err // show the other sessions, and the available parts of this one
		if o.Subagents {
			t.Subagents = sessionReader{r.Repo}.subagents(ctx, c.Tasks, t.Items, t.full)
		}
		sessions = append(sessions, t)
	}
	if !slices.ContainsFunc(sessions, func(s CheckpointSession) bool { return !s.NothingNew }) {
		for i := range sessions {
			sessions[i].NothingNew = false // there is nothing else to show
		}
	}
	edited := func(s CheckpointSession) int { // number of files named by edit tools
		switch {
		case s.NothingNew:
			return -1
		case counted:
			return 0
		}
		named := map[string]bool{}
		for _, item := range s.Items {
			isEdit := transcript.IsEdit(item.Tool) || item.Tool == "replace" || item.Tool == "write_file"
			if isEdit && item.By == transcript.Tool && !item.Failed && slices.Contains(c.Summary.FilesTouched, item.Text) {
				named[item.Text] = true
			}
		}
		return len(named)
	}
	slices.SortStableFunc(sessions, func(a, b CheckpointSession) int { return cmp.Compare(edited(b), edited(a)) })
	return sessions, nil
}

// subagents reads the conversations of the subagents that were started in the items of a session,
// by tool use. dir is [checkpoint.Checkpoint.Tasks]. Conversations that can't be read are omitted.
// full is [transcript.Conversation.Full].
func (sr sessionReader) subagents(ctx context.Context, dir git.OID, items []transcript.Item, full bool) map[string][]transcript.Item {
	found := map[string][]transcript.Item{}
	if dir == "" {
		return found
	}
	for _, item := range items {
		if !transcript.IsTask(item.Tool) || !transcript.IsToolID(item.ID) {
			continue
		}
		stored, err := checkpoint.TaskTranscript(ctx, sr.repo, dir, item.ID)
		if err != nil {
			continue
		}
		c := transcript.Conversation{Root: sr.repo.Root, Subagent: true, Outputs: true, Full: full}
		if sr.lines(ctx, &c, stored, checkpoint.LineSpan{}) == nil {
			found[item.ID] = c.Items
		}
	}
	return found
}
