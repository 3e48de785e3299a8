package strategy

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/session"
)

const endPrefix = "end-"

// endNote is the end of a session of which something may not be recorded yet: a file
// in .entire/tmp, written before anything else and removed at last.
type endNote struct {
	SessionID string          `json:"session_id"`
	Reason    string          `json:"reason,omitempty"`
	PromptID  string          `json:"prompt_id,omitempty"`
	Agent     session.Process `json:"agent,omitzero"`
	// PID and Start are the process that records the end.
	PID   int    `json:"pid"`
	Start uint64 `json:"process_start,omitempty"`
}

func (n endNote) input() Input {
	return Input{SessionID: n.SessionID, Reason: n.Reason, PromptID: n.PromptID, Agent: n.Agent}
}

func (r *Recorder) endMark(id string) string {
	return filepath.Join(r.marks(), endPrefix+id+markSuffix)
}

// RecordEnd ends a session and saves its context, the latter in guard. The agent
// waits for it for a second: what can't be recorded by then is left to a detached
// child, by a note that later hooks find if that child dies, too.
func (r *Recorder) RecordEnd(ctx context.Context, in Input, guard func(func() error) error) error {
	r.noteEnd(ctx, in)
	err := r.SessionEnd(ctx, in)
	err = errors.Join(err, guard(func() error { return r.RecallEnd(ctx, in) }))
	if isTimeout(err) || err != nil && ctx.Err() != nil {
		r.detachRecall(context.WithoutCancel(ctx), in.SessionID)
		return err
	}
	return errors.Join(err, removeMark(r.endMark(in.SessionID)))
}

// isTimeout reports whether what failed may succeed with more time.
func isTimeout(err error) bool {
	return errors.Is(err, disk.ErrLocked) || errors.Is(err, errStale) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

func (r *Recorder) noteEnd(ctx context.Context, in Input) {
	if r.Sessions.Stamp(in.SessionID) == "" {
		return
	}
	self, _ := proc.Look(os.Getpid())
	note := endNote{in.SessionID, in.Reason, in.PromptID, in.Agent, os.Getpid(), self.Start}
	if err := r.writeMark(r.endMark(in.SessionID), note); err != nil {
		r.Log.WarnContext(ctx, "end of the session not noted", "session_id", in.SessionID, "error", err.Error())
	}
}

// endNoted returns the note of a session's end, false if there is none.
func (r *Recorder) endNoted(id string) (note endNote, found bool) {
	data, err := os.ReadFile(r.endMark(id))
	if err != nil {
		return note, false
	}
	if json.Unmarshal(data, &note) != nil || note.SessionID != id {
		note = endNote{SessionID: id} // nothing but the reason is lost
	}
	return note, true
}

// askEnds lets children finish the ends of this worktree's sessions whose hooks are
// gone.
func (r *Recorder) askEnds(ctx context.Context, marks []os.DirEntry) {
	for _, e := range marks {
		id, is := markedSession(e.Name(), endPrefix)
		if !is {
			continue
		}
		if note, found := r.endNoted(id); found && !r.Env.Alive(note.PID, note.Start) {
			r.detachRecall(ctx, id)
		}
	}
}

// finishEnd ends a session as its note has it. A session that has gone on since has
// no note any more.
func (r *Recorder) finishEnd(ctx context.Context, id string) error {
	note, found := r.endNoted(id)
	if !found {
		return nil
	}
	err := r.finishNoted(ctx, note)
	if errors.Is(err, errTurnOver) || errors.Is(err, session.ErrNotFound) {
		err = nil
	}
	if isTimeout(err) {
		return err
	}
	return errors.Join(err, removeMark(r.endMark(id)))
}

func (r *Recorder) finishNoted(ctx context.Context, note endNote) error {
	in := note.input()
	noted := func() error {
		if _, found := r.endNoted(in.SessionID); !found {
			return errTurnOver
		}
		return nil
	}
	s, err := r.Sessions.Load(in.SessionID)
	if err != nil {
		return err
	}
	r.Recovered++
	if s.Phase != session.Ended {
		if err := r.step(ctx, in, session.Stop, func(*session.State, *notes) error { return noted() }); err != nil {
			return err
		}
	}
	return r.recollect(ctx, in.SessionID, allEffort(), func(ctx context.Context, w *recollection) error {
		if err := noted(); err != nil {
			return err
		}
		return w.end(ctx, in.clearing(), in.cause(), nil)
	})
}

// cause is why a session that ends is saved.
func (in *Input) cause() recall.Cause {
	if in.Reason == "clear" {
		return recall.Clear
	}
	return recall.Exit
}

func (in *Input) clearing() Clearing {
	return Clearing{SessionID: in.SessionID, PromptID: in.PromptID, Agent: in.Agent}
}
