package savedcontext

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
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

	// due are the checkpoints of which the first prompt may get the whole brief.
	due dueBrief
}

// again is the time within which two compactions or resumptions of a session count as one
// event.
const again = 20 * time.Second

// RecallStart records that a session starts, returns its opening, and starts the child that
// removes old contexts.
func RecallStart(ctx context.Context, w *workspace.Workspace, in workspace.Input) (Opening, error) {
	err := recollect(ctx, w, in.SessionID, stopEffort(), func(_ context.Context, cw *contextWriter) error {
		cw.seen(in.Agent)
		if in.Source == "compact" {
			return nil
		}
		cw.m.End = nil
		return tracking.RemoveMark(tracking.EndMark(w, in.SessionID)) // it continues
	})
	if errors.Is(err, session.ErrNotFound) {
		err = nil
	}
	o, failed := PrepareOpening(ctx, w, in)
	if in.Source != "compact" {
		w.DetachRecall(ctx, "")
	}
	return o, errors.Join(err, failed)
}

// PrepareOpening returns the opening of a session that starts, from the saved context of earlier
// ones. The first call decides; later ones return the same.
func PrepareOpening(ctx context.Context, w *workspace.Workspace, in workspace.Input) (o Opening, err error) {
	lock, err := lockOpening(ctx, w)
	if err != nil {
		return o, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	var known Opening
	data, err := w.Sessions.Side(in.SessionID, session.OpeningKind).ReadAll()
	if err == nil && json.Unmarshal(data, &known) == nil && known.Source == in.Source {
		once := in.Source == "startup" || in.Source == "clear"
		if once || w.Env.Now().Sub(known.At) < again {
			return known, nil
		}
	}
	err = w.Retry(func() error {
		o, err = decideOpening(ctx, w, in)
		return err
	})
	return o, err
}

// decideOpening decides on the opening of a session and records it.
func decideOpening(ctx context.Context, w *workspace.Workspace, in workspace.Input) (Opening, error) {
	redactions, o := w.Redactions(), Opening{Source: in.Source, At: w.Env.Now().UTC()}
	d := openingDraft{w: w, input: in, opening: &o, past: readPast(ctx, w)}
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
	without := in.SessionID
	if in.Source == "compact" {
		without = "" // it has lost what it knew
	}
	memory, failed := encodedMemory(ctx, w, d.past, without)
	if failed != nil { // the session can do without
		w.Log.WarnContext(ctx, "memory not recorded", "session_id", in.SessionID, "error", failed.Error())
	}
	data, err := json.Marshal(o)
	if err != nil {
		return o, err
	}
	// The first prompt gets the brief if one is due, or the opening if the agent doesn't take
	// it now.
	due := o.due
	if in.StartContextLost && len(o.Parts) > 0 {
		due.Opening = o.Parts[0]
	}
	dueData, err := json.Marshal(due)
	if err != nil {
		return o, err
	}
	return o, w.WithLock(ctx, func() error {
		if w.Redactions() != redactions {
			return workspace.ErrStale
		}
		if len(memory) > 0 {
			if err := w.Sessions.Side(in.SessionID, session.MemoryKind).Replace(memory); err != nil {
				return err
			}
		}
		// Written before the opening, so that both are decided again if the process is killed
		// in between.
		side, err := w.Sessions.Side(in.SessionID, session.PromptBriefKind), error(nil)
		if due.Opening != "" || len(due.candidates()) > 0 {
			err = side.Replace(append(dueData, '\n'))
		} else if side.Exists() {
			err = side.Remove()
		}
		if err != nil {
			return err
		}
		return w.Sessions.Side(in.SessionID, session.OpeningKind).Replace(append(data, '\n'))
	})
}

// lockOpening takes the lock that serializes the decisions about openings.
func lockOpening(ctx context.Context, w *workspace.Workspace) (*disk.Lock, error) {
	if err := w.WithLock(ctx, func() error { return nil }); err != nil { // creates the folder
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, w.Options.LockTimeout)
	defer cancel()
	return disk.AcquireLock(wait, filepath.Join(w.RecordsDir(), "opening"))
}

// AfterClear returns the brief of the checkpoint that a session after a clear may continue
// from, and whether the user is to be asked about it.
func AfterClear(ctx context.Context, w *workspace.Workspace, c Clearing) (_ Recalled, ask bool, err error) {
	// The agent that clears is the nearest ancestor of the caller in which a session ran. It
	// distinguishes two sessions of a worktree that are cleared at the same time.
	agent := c.Agent
	if agent.PID == 0 && len(c.Above) > 0 {
		agent = session.Process{}
		candidates := candidates(ctx, w)
		ran := func(p session.Process) bool {
			return slices.ContainsFunc(candidates, func(t candidate) bool { return t.Agent == p })
		}
		if i := slices.IndexFunc(c.Above, ran); i >= 0 {
			agent = c.Above[i]
		}
	}
	o, err := PrepareOpening(ctx, w, workspace.Input{SessionID: c.SessionID, Source: "clear", Agent: agent, PromptContext: true})
	if err != nil || !o.Ask || o.Checkpoint == "" {
		return Recalled{}, false, err
	}
	recalled, err := briefIn(ctx, w, readPast(ctx, w), o.Checkpoint, brief.Full, 1) // the hook for a second part has ended when the user responds
	if errors.Is(err, recall.ErrNotFound) {
		return Recalled{}, false, nil
	}
	return recalled, err == nil, err
}
