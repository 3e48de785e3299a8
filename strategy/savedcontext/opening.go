package savedcontext

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/filelock"
	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/brief"
	"github.com/seed-3aff656d/entire/internal/recall/contextstore"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Opening is the text that a session gets when it starts. It is decided once, for
// several hooks and the server ask, in any order, and some of them twice.
type Opening struct {
	Source string    `json:"source"`
	At     time.Time `json:"at"`
	// Checkpoint is the one that it is about, empty for none.
	Checkpoint string `json:"checkpoint,omitempty"`
	// Messages are for the person, Parts for the agent.
	Messages []string `json:"messages,omitempty"`
	Parts    []string `json:"parts,omitempty"`
	// Ask reports whether the person may be asked if the session goes on from the
	// checkpoint.
	Ask bool `json:"ask,omitempty"`
}

// again is the time within which the same event of a session is one: it may be
// compacted, and resumed, many times.
const again = 20 * time.Second

// fresh is how old a checkpoint may be for a new session to go on from it.
const fresh = 24 * time.Hour

// RecallStart notes where a session starts, returns what it is told of what was
// before it, and lets a child clean up.
func (op *Opener) RecallStart(ctx context.Context, in workspace.Input) (Opening, error) {
	err := op.begin(ctx, in)
	o, failed := op.Opening(ctx, in)
	if in.Source != "compact" {
		op.children.DetachRecall(ctx, "")
	}
	return o, errors.Join(err, failed)
}

// Opening returns what a session that starts is told of what was before it.
func (op *Opener) Opening(ctx context.Context, in workspace.Input) (o Opening, err error) {
	lock, err := op.lockOpening(ctx)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if known, ok := op.opened(in); ok {
		return known, nil
	}
	o = Opening{Source: in.Source, At: op.Env.Now().UTC()}
	if err := (&opener{r: op, in: in, o: &o}).decide(ctx); err != nil {
		return o, err
	}
	data, err := json.Marshal(o)
	if err != nil {
		return o, err
	}
	return o, op.Sessions.Side(in.SessionID, session.OpeningKind).Replace(append(data, '\n'))
}

// lockOpening takes the lock under which one hook at a time decides.
func (op *Opener) lockOpening(ctx context.Context) (*filelock.Lock, error) {
	if err := op.WithLock(ctx, func() error { return nil }); err != nil { // makes the folder
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, op.Options.LockTimeout)
	defer cancel()
	return filelock.Acquire(wait, filepath.Join(op.RecordsDir(), "opening"))
}

// opened returns what was decided before.
func (op *Opener) opened(in workspace.Input) (Opening, bool) {
	var o Opening
	data, err := op.Sessions.Side(in.SessionID, session.OpeningKind).ReadAll()
	if err != nil || json.Unmarshal(data, &o) != nil || o.Source != in.Source {
		return Opening{}, false
	}
	once := in.Source == "startup" || in.Source == "clear"
	return o, once || op.Env.Now().Sub(o.At) < again
}

// begin notes where the session starts, before it changes anything.
func (op *Opener) begin(ctx context.Context, in workspace.Input) error {
	err := op.saver.recollect(ctx, in.SessionID, stopEffort(), func(_ context.Context, w *contextWriter) error {
		w.seen(in.Agent)
		if in.Source == "compact" {
			return nil
		}
		w.m.End = nil
		return tracking.RemoveMark(op.marks.EndMark(in.SessionID)) // it goes on
	})
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	return err
}

// opener decides what a session gets.
type opener struct {
	r  *Opener
	in workspace.Input
	o  *Opening
}

func (o *opener) decide(ctx context.Context) error {
	switch o.in.Source {
	case "clear":
		return o.cleared(ctx)
	case "compact":
		return o.same(ctx, brief.Short)
	case "resume", "fork":
		return o.same(ctx, brief.Drift)
	default:
		return o.startup(ctx)
	}
}

// cleared gives a session that begins with a cleared context that of the one before.
func (o *opener) cleared(ctx context.Context) error {
	before, ok := o.r.recent.predecessor(o.r.recent.candidates(ctx), o.in.SessionID, o.in.Agent)
	if !ok {
		return o.startup(ctx)
	}
	if before.End == nil { // its end was not reported
		err := o.r.clearer.end(ctx, Clearing{SessionID: before.id}, recall.Clear, endEffort(), nil)
		if err != nil && !errors.Is(err, session.ErrNotFound) {
			return err
		}
	}
	m, _, err := o.r.saver.remembered(ctx, before.id)
	if err != nil {
		return err
	}
	if m.End == nil {
		return nil
	}
	if err := o.r.follow(ctx, before.id, o.in.SessionID); err != nil {
		return err
	}
	o.say(before.id, *m.End)
	switch {
	case m.End.ID != "":
		return o.offer(ctx, m.End.ID)
	case m.Kept != nil:
		return o.tell(ctx, m.Kept.ID, brief.Notice)
	default:
		return nil
	}
}

// say reports to the user what was saved at the clear.
func (o *opener) say(id string, end sessionEnd) {
	if !end.Fresh || end.ID == "" {
		return
	}
	o.o.Messages = append(o.o.Messages, savedLine(end.Summary, end.ID))
	if end.Status == recall.Pending {
		o.o.Messages = append(o.o.Messages,
			"Discard it: entire recall discard "+end.ID, "The cleared session: claude --resume "+id)
	}
}

// offer goes on from a checkpoint as the user's settings require.
func (o *opener) offer(ctx context.Context, id string) error {
	if o.r.Options.Recall.OnStart != settings.Prompt {
		return o.tell(ctx, id, brief.Full)
	}
	o.o.Ask = o.in.Source == "clear"
	return o.tell(ctx, id, brief.Notice)
}

// tell adds the brief of a checkpoint, unless briefs are off. One that is
// gone is passed over.
func (o *opener) tell(ctx context.Context, id string, kind brief.Kind) error {
	if o.r.Options.Recall.OnStart == settings.Never {
		return nil
	}
	told, err := o.r.saver.brief(ctx, id, kind)
	if errors.Is(err, recall.ErrNotFound) {
		o.o.Ask = false
		return nil
	}
	if err != nil {
		return fmt.Errorf("brief of context checkpoint %s: %w", id, err)
	}
	o.o.Checkpoint = id
	o.o.Parts = told.Brief.Parts
	if len(told.Brief.Parts) > 0 && told.Brief.Message != "" && kind != brief.Notice {
		o.o.Messages = append(o.o.Messages, told.Brief.Message)
	}
	return nil
}

// startup gives a new session the newest checkpoint here: all of it if it is
// fresh, else that there is one.
func (o *opener) startup(ctx context.Context) error {
	if o.in.Source == "startup" || o.in.Source == "" {
		o.r.machine.EndDeadTurns(ctx)
		o.r.saveLost(ctx, o.r.recent.candidates(ctx), o.in)
	}
	id, kind, err := o.r.saver.newest(ctx, o.in)
	if err != nil || id == "" {
		return err
	}
	if kind == brief.Full {
		return o.offer(ctx, id)
	}
	return o.tell(ctx, id, kind)
}

// same gives a session its own newest checkpoint.
func (o *opener) same(ctx context.Context, kind brief.Kind) error {
	list, err := o.r.saver.Contexts().List(ctx, contextstore.Filter{Session: o.in.SessionID, Limit: 1})
	if err != nil || len(list) == 0 {
		return err
	}
	return o.tell(ctx, list[0].ID, kind)
}

// newest returns the checkpoint whose brief a new session here gets, and how much
// of it. What a session that still runs saved by itself is its own. That of a
// lost session is as old as its work, not as the start at which it was saved.
func (sa *Saver) newest(ctx context.Context, in workspace.Input) (id string, kind brief.Kind, err error) {
	const enough = 20
	list, err := sa.Contexts().List(ctx, contextstore.Filter{Worktree: sa.Repo.Root, Limit: enough})
	if err != nil {
		return "", 0, fmt.Errorf("list context checkpoints: %w", err)
	}
	branch, err := sa.branchShown(ctx)
	if err != nil {
		return "", 0, err
	}
	list = slices.DeleteFunc(list, func(e contextstore.Entry) bool {
		if !e.Cause.Automatic() || e.Session == "" || e.Session == in.SessionID {
			return false
		}
		t, ok := sa.recent.readHeader(e.Session)
		return ok && sa.recent.goesOn(t, in.Agent)
	})
	for i, e := range list {
		if t, ok := sa.recent.readHeader(e.Session); ok && e.Cause == recall.Lost {
			list[i].CreatedAt = sa.recent.lastActive(e.Session, t).Truncate(time.Second) // as of all others
		}
	}
	slices.SortStableFunc(list, func(a, b contextstore.Entry) int { return b.CreatedAt.Compare(a.CreatedAt) })
	for _, e := range list {
		if e.Branch == branch && sa.Env.Now().Sub(e.CreatedAt) < fresh {
			return e.ID, brief.Full, nil
		}
		if id == "" {
			id, kind = e.ID, brief.Notice
		}
	}
	return id, kind, nil
}

// AfterClear reports whether the person is to be asked if a session that begins
// after a clear goes on from a checkpoint, and from which.
func (op *Opener) AfterClear(ctx context.Context, c Clearing) (_ Recalled, ask bool, err error) {
	o, err := op.Opening(ctx, workspace.Input{SessionID: c.SessionID, Source: "clear", Agent: op.agentOf(ctx, c)})
	if err != nil || !o.Ask || o.Checkpoint == "" {
		return Recalled{}, false, err
	}
	told, err := op.saver.briefIn(ctx, o.Checkpoint, brief.Full, 1) // the hook that has more is over when the user responds
	if errors.Is(err, recall.ErrNotFound) {
		return Recalled{}, false, nil
	}
	return told, err == nil, err
}

// agentOf is the process of the agent that clears: the nearest one above who
// asks in which a session was at work. Two sessions of a worktree that are
// cleared at the same time are distinguished by it.
func (op *Opener) agentOf(ctx context.Context, c Clearing) session.Process {
	if c.Agent.PID != 0 || len(c.Above) == 0 {
		return c.Agent
	}
	candidates := op.recent.candidates(ctx)
	for _, p := range c.Above {
		if slices.ContainsFunc(candidates, func(t candidate) bool { return t.Agent == p }) {
			return p
		}
	}
	return session.Process{}
}
