package indexing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/contextstore"
)

// savedContext is a saved context that the index knows.
type savedContext struct {
	OID git.OID `json:"oid"`
	// Session is the one that did the work, At when it was saved.
	Session string    `json:"session"`
	At      time.Time `json:"at"`
}

// contexts takes in the last saved context of each session of which there is no
// transcript any more: one turn, of all that the context has.
func (r *run) contexts(ctx context.Context) error {
	cr := contextReader{run: r, known: map[string]savedContext{}}
	text, err := r.w.Meta(ctx, contextsKey)
	if err != nil {
		return err
	}
	if text != "" && json.Unmarshal([]byte(text), &cr.known) != nil {
		return index.ErrLost
	}
	if cr.turns, err = r.w.Turns.OfContexts(ctx); err != nil {
		return err
	}
	if r.known.Refs != r.now.Refs || r.known.Contexts != r.now.Contexts {
		if err := cr.list(ctx); err != nil {
			return err
		}
		data, err := json.Marshal(cr.known)
		if err == nil {
			err = r.w.SetMeta(ctx, contextsKey, string(data))
		}
		if err != nil {
			return err
		}
	}
	wanted, err := cr.last(ctx)
	if err != nil {
		return err
	}
	for id, turn := range cr.turns {
		if !wanted[id] {
			if err := r.w.Turns.Drop(ctx, turn); err != nil {
				return err
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		if _, found := cr.turns[id]; found {
			continue
		}
		if err := cr.put(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// contextReader reads saved contexts one after another.
type contextReader struct {
	run   *run
	known map[string]savedContext
	turns map[string]int64 // rows in the index, by the ids of the contexts
}

// list brings known up to date with the refs, and removes the turns of contexts that
// were replaced.
func (cr *contextReader) list(ctx context.Context) error {
	refs, err := gitref.List(ctx, cr.run.Repo, contextstore.Refs)
	if err != nil {
		return err
	}
	now := map[string]git.OID{}
	for _, ref := range refs {
		if id := strings.TrimPrefix(ref.Name, contextstore.Refs); contextstore.IsID(id) {
			now[id] = ref.OID
		}
	}
	for id, c := range cr.known {
		if now[id] == c.OID {
			continue
		}
		delete(cr.known, id)
		if turn, found := cr.turns[id]; found {
			delete(cr.turns, id)
			if err := cr.run.w.Turns.Drop(ctx, turn); err != nil {
				return err
			}
		}
	}
	for id, oid := range now {
		if cr.known[id].OID == oid {
			continue
		}
		c, err := cr.read(ctx, id)
		if err != nil || len(c.Sessions) == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			cr.known[id] = savedContext{OID: oid} // not tried again
			continue
		}
		cr.known[id] = savedContext{OID: oid, Session: c.Sessions[0], At: c.CreatedAt}
	}
	return nil
}

func (cr *contextReader) read(ctx context.Context, id string) (recall.Checkpoint, error) {
	c, err := contextstore.Store{Repo: cr.run.Repo}.Get(ctx, id)
	if err != nil && ctx.Err() == nil && !errors.Is(err, recall.ErrNotFound) {
		cr.run.skip(ctx, "saved context "+id, err)
	}
	return c, err
}

// last returns the last context of each session that has no turns of a
// transcript.
func (cr *contextReader) last(ctx context.Context) (map[string]bool, error) {
	last := map[string]string{}
	for id, c := range cr.known {
		if c.Session == "" {
			continue
		}
		other, found := last[c.Session]
		if !found || cmp.Or(c.At.Compare(cr.known[other].At), strings.Compare(id, other)) > 0 {
			last[c.Session] = id
		}
	}
	wanted := map[string]bool{}
	for session, id := range last {
		has, err := cr.run.w.Turns.HasTranscript(ctx, session)
		if err != nil {
			return nil, err
		}
		if !has {
			wanted[id] = true
		}
	}
	return wanted, nil
}

func (cr *contextReader) put(ctx context.Context, id string) error {
	c, err := cr.read(ctx, id)
	if err != nil {
		return ctx.Err()
	}
	session, err := cr.run.w.PutSession(ctx, index.Session{Name: c.Sessions[0], Worktree: c.Worktree})
	if err != nil {
		return err
	}
	_, err = cr.run.w.Turns.Put(ctx, session, turnOf(id, &c))
	return err
}

// turnOf is a saved context as a turn.
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
		d.Calls = append(d.Calls, index.Call{At: c.CreatedAt, Tool: "Bash", Text: head(cmd.Text, maxCommand), Command: true, Outcome: outcome, Status: -1})
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
