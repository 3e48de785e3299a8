package savedcontext

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/filelock"
	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/brief"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Opening holds the texts that a session gets when it starts. It is decided once: several
// hooks and the MCP server request it, in any order, some of them twice.
type Opening struct {
	Source string    `json:"source"`
	At     time.Time `json:"at"`
	// Checkpoint is the id of the saved context that it is about, empty for none.
	Checkpoint string `json:"checkpoint,omitempty"`
	// Messages are for the person, Parts for the agent.
	Messages []string `json:"messages,omitempty"`
	Parts    []string `json:"parts,omitempty"`
	// Ask reports whether the user may be asked whether the session continues the work
	// of the checkpoint.
	Ask bool `json:"ask,omitempty"`

	// due reports whether the whole brief of the checkpoint, or of one of others, is decided on
	// with the first prompt.
	due    bool
	others []string
}

// again is the time within which two compactions or resumptions of a session count as one
// event.
const again = 20 * time.Second

// RecallStart records that a session starts, returns its opening, and starts the child that
// removes old contexts.
func (ij *Injector) RecallStart(ctx context.Context, in workspace.Input) (Opening, error) {
	err := ij.saver.recollect(ctx, in.SessionID, stopEffort(), func(_ context.Context, w *contextWriter) error {
		w.seen(in.Agent)
		if in.Source == "compact" {
			return nil
		}
		w.m.End = nil
		return tracking.RemoveMark(ij.marks.EndMark(in.SessionID)) // it continues
	})
	if errors.Is(err, session.ErrNotFound) {
		err = nil
	}
	o, failed := ij.Opening(ctx, in)
	if in.Source != "compact" {
		ij.children.DetachRecall(ctx, "")
	}
	return o, errors.Join(err, failed)
}

// Opening returns the opening of a session that starts, from the saved context of earlier
// ones. The first call decides; later ones return the same.
func (ij *Injector) Opening(ctx context.Context, in workspace.Input) (o Opening, err error) {
	lock, err := ij.lockOpening(ctx)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	var known Opening
	data, err := ij.Sessions.Side(in.SessionID, session.OpeningKind).ReadAll()
	if err == nil && json.Unmarshal(data, &known) == nil && known.Source == in.Source {
		once := in.Source == "startup" || in.Source == "clear"
		if once || ij.Env.Now().Sub(known.At) < again {
			return known, nil
		}
	}
	for attempt := 1; ; attempt++ {
		o, err = ij.decideOpening(ctx, in)
		if !errors.Is(err, workspace.ErrStale) || attempt == workspace.MaxAttempts {
			return o, err
		}
	}
}

// decideOpening decides on the opening of a session and records it.
func (ij *Injector) decideOpening(ctx context.Context, in workspace.Input) (Opening, error) {
	redactions, o := ij.Redactions(), Opening{Source: in.Source, At: ij.Env.Now().UTC()}
	d := openingDraft{injector: ij, input: in, opening: &o}
	var err error
	switch in.Source {
	case "compact":
		err = d.same(ctx, brief.Short)
	case "resume", "fork":
		err = d.same(ctx, brief.Drift)
	case "clear":
		err = d.cleared(ctx)
		d.addFork()
	default:
		err = d.startup(ctx)
		d.addFork()
	}
	if err != nil {
		return o, err
	}
	data, err := json.Marshal(o)
	if err != nil {
		return o, err
	}
	// The first prompt gets the brief if one is due, or the opening if the agent doesn't take
	// it now.
	var due dueBrief
	if o.due {
		due = dueBrief{Checkpoint: o.Checkpoint, Others: o.others}
	}
	if in.StartContextLost && len(o.Parts) > 0 {
		due.Opening = o.Parts[0]
	}
	dueData, err := json.Marshal(due)
	if err != nil {
		return o, err
	}
	return o, ij.WithLock(ctx, func() error {
		if ij.Redactions() != redactions {
			return workspace.ErrStale
		}
		// Written before the opening, so that both are decided again if the process is killed
		// in between.
		side, err := ij.Sessions.Side(in.SessionID, session.PromptBriefKind), error(nil)
		if due.Checkpoint+due.Opening != "" {
			err = side.Replace(append(dueData, '\n'))
		} else if side.Exists() {
			err = side.Remove()
		}
		if err != nil {
			return err
		}
		return ij.Sessions.Side(in.SessionID, session.OpeningKind).Replace(append(data, '\n'))
	})
}

// lockOpening takes the lock that serializes the decisions about openings.
func (ij *Injector) lockOpening(ctx context.Context) (*filelock.Lock, error) {
	if err := ij.WithLock(ctx, func() error { return nil }); err != nil { // creates the folder
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, ij.Options.LockTimeout)
	defer cancel()
	return filelock.Acquire(wait, filepath.Join(ij.RecordsDir(), "opening"))
}

// AfterClear returns the brief of the checkpoint that a session after a clear may continue
// from, and whether the user is to be asked about it.
func (ij *Injector) AfterClear(ctx context.Context, c Clearing) (_ Recalled, ask bool, err error) {
	// The agent that clears is the nearest ancestor of the caller in which a session ran. It
	// distinguishes two sessions of a worktree that are cleared at the same time.
	agent := c.Agent
	if agent.PID == 0 && len(c.Above) > 0 {
		agent = session.Process{}
		candidates := ij.recent.candidates(ctx)
		ran := func(p session.Process) bool {
			return slices.ContainsFunc(candidates, func(t candidate) bool { return t.Agent == p })
		}
		if i := slices.IndexFunc(c.Above, ran); i >= 0 {
			agent = c.Above[i]
		}
	}
	o, err := ij.Opening(ctx, workspace.Input{SessionID: c.SessionID, Source: "clear", Agent: agent, PromptContext: true})
	if err != nil || !o.Ask || o.Checkpoint == "" {
		return Recalled{}, false, err
	}
	recalled, err := ij.briefer.briefIn(ctx, o.Checkpoint, brief.Full, 1) // the hook for a second part has ended when the user responds
	if errors.Is(err, recall.ErrNotFound) {
		return Recalled{}, false, nil
	}
	return recalled, err == nil, err
}
