package query

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
)

// savedContext is an indexed saved context.
type savedContext struct {
	OID git.OID `json:"oid"`
	// Session is the session that did the work, At the time of saving.
	Session string    `json:"session"`
	At      time.Time `json:"at"`
}

// contexts indexes the last saved context of each session without a transcript, as one turn
// with everything that the context has.
func (r *run) contexts(ctx context.Context) error {
	known := map[string]savedContext{}
	if err := r.meta(ctx, contextsKey, &known); err != nil {
		return err
	}
	turns, err := r.w.Turns.OfContexts(ctx)
	if err != nil {
		return err
	}
	if r.known.Refs != r.now.Refs || r.known.Contexts != r.now.Contexts {
		if err := r.listContexts(ctx, known, turns); err != nil {
			return err
		}
		if err := r.setMeta(ctx, contextsKey, known); err != nil {
			return err
		}
	}
	wanted, err := r.lastContexts(ctx, known)
	if err != nil {
		return err
	}
	for id, turn := range turns {
		if !wanted[id] {
			if err := r.w.Turns.Drop(ctx, turn); err != nil {
				return err
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		if _, found := turns[id]; found {
			continue
		}
		c, err := r.readContext(ctx, id)
		if ctx.Err() != nil && err != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		session, err := r.w.PutSession(ctx, index.Session{Name: c.Sessions[0], Worktree: c.Worktree})
		if err != nil {
			return err
		}
		if _, err := r.w.Turns.Put(ctx, session, turnOf(id, &c)); err != nil {
			return err
		}
	}
	return nil
}

// listContexts brings known up to date with the refs, and removes the turns of contexts that
// were replaced. The turns are rows in the index, by the ids of the contexts.
func (r *run) listContexts(ctx context.Context, known map[string]savedContext, turns map[string]int64) error {
	refs, err := git.ListRefs(ctx, r.Repo, contextstore.Refs)
	if err != nil {
		return err
	}
	now := map[string]git.OID{}
	for _, ref := range refs {
		if id := strings.TrimPrefix(ref.Name, contextstore.Refs); contextstore.IsID(id) {
			now[id] = ref.OID
		}
	}
	for id, c := range known {
		if now[id] == c.OID {
			continue
		}
		delete(known, id)
		if turn, found := turns[id]; found {
			delete(turns, id)
			if err := r.w.Turns.Drop(ctx, turn); err != nil {
				return err
			}
		}
	}
	for id, oid := range now {
		if known[id].OID == oid {
			continue
		}
		c, err := r.readContext(ctx, id)
		if err != nil || len(c.Sessions) == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			known[id] = savedContext{OID: oid} // not tried again
			continue
		}
		known[id] = savedContext{OID: oid, Session: c.Sessions[0], At: c.CreatedAt}
	}
	return nil
}

// readContext reads a saved context, and logs errors unless it doesn't exist.
func (r *run) readContext(ctx context.Context, id string) (recall.Checkpoint, error) {
	c, err := contextstore.Store{Repo: r.Repo}.Get(ctx, id)
	if err != nil && ctx.Err() == nil && !errors.Is(err, recall.ErrNotFound) {
		r.skip(ctx, "saved context "+id, err)
	}
	return c, err
}

// lastContexts returns the last context of each session that has no turns of a transcript.
func (r *run) lastContexts(ctx context.Context, known map[string]savedContext) (map[string]bool, error) {
	last := map[string]string{}
	for id, c := range known {
		if c.Session == "" {
			continue
		}
		other, found := last[c.Session]
		if !found || cmp.Or(c.At.Compare(known[other].At), strings.Compare(id, other)) > 0 {
			last[c.Session] = id
		}
	}
	wanted := map[string]bool{}
	for session, id := range last {
		has, err := r.w.Turns.HasTranscript(ctx, session)
		if err != nil {
			return nil, err
		}
		if !has {
			wanted[id] = true
		}
	}
	return wanted, nil
}

// turnOf returns a saved context as a turn.
func turnOf(id string, c *recall.Checkpoint) *index.Turn {
	d := turnDraft{}
	d.Turn = index.Turn{
		Key: hashOf("context " + id), At: c.CreatedAt, Ended: c.CreatedAt, Branch: c.State.Context.GitBranch,
		Prompt: oneLine(cmp.Or(c.State.Analysis.CurrentTask, c.Summary), maxPrompt), Context: id,
	}
	a := &c.State.Analysis
	for _, q := range a.Requests {
		d.say(index.Prompt, q.Text, maxText)
	}
	if len(a.Requests) == 0 {
		d.say(index.Prompt, a.CurrentTask, maxText)
	}
	for _, text := range slices.Concat([]string{c.Summary, c.Description, a.Progress.Reported}, a.Decisions, a.NextSteps, a.Blockers, []string{c.Compaction}) {
		d.say(index.Answer, text, maxAnswers)
	}
	for _, cmd := range slices.Backward(c.State.Context.Commands) { // the last one first
		d.say(index.Command, cmd.Text, maxText)
		outcome := map[recall.Outcome]index.Outcome{recall.Passed: index.Passed, recall.Failed: index.Failed}[cmd.Result]
		d.Calls = append(d.Calls, index.Call{At: c.CreatedAt, Tool: "Bash", Text: plain.Head(cmd.Text, maxCommand), Command: true, Outcome: outcome, Status: -1})
	}
	for _, path := range slices.Sorted(maps.Keys(c.State.Files)) {
		f := c.State.Files[path]
		d.Files = append(d.Files, index.FileChange{Path: path, Added: f.Added, Removed: f.Removed, Edited: true})
	}
	for kind := range d.texts {
		d.Texts[kind] = d.texts[kind].String()
	}
	return &d.Turn
}
