package strategy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
)

// Small files in .entire/tmp, marks, say what the state may not say yet: that a
// prompt has begun a turn, that a stop could not end it, and that a session's end is
// being recorded. They are written
// without the repository's lock, so that a hook that does not get the lock in
// time loses nothing.

func (r *Recorder) marks() string { return filepath.Join(r.Repo.Root, ".entire", "tmp") }

func (r *Recorder) promptMark(id string) string {
	return filepath.Join(r.marks(), "pre-prompt-"+id+".json")
}

const stopPrefix, markSuffix = "stop-", ".json"

func (r *Recorder) stopMark(id string) string {
	return filepath.Join(r.marks(), stopPrefix+id+markSuffix)
}

// markPrompt writes the file whose time is when the turn begins: the file
// system's clock is not the process's. A stop that is still to be made up for is
// void then: the turn goes on with this prompt.
func (r *Recorder) markPrompt(ctx context.Context, id string) time.Time {
	now := r.Env.Now()
	path := r.promptMark(id)
	err := errors.Join(removeMark(r.stopMark(id)), removeMark(r.endMark(id)))
	if err == nil {
		err = r.writeMark(path, map[string]any{"session_id": id, "timestamp": now})
	}
	if err == nil {
		if at, ok := r.promptTime(id); ok {
			return at
		}
	}
	r.Log.WarnContext(ctx, "prompt not marked", "session_id", id, "error", fmt.Sprint(err))
	return now.Add(-10 * time.Millisecond)
}

// promptTime is when the prompt's file was written; false without one.
func (r *Recorder) promptTime(id string) (time.Time, bool) {
	info, err := os.Lstat(r.promptMark(id))
	if err != nil {
		return time.Time{}, false
	}
	return disk.Changed(info), true
}

// beginLate takes the beginning of a turn that its prompt's hook could not note in
// the state from the prompt's file.
func (r *Recorder) beginLate(s *session.State) {
	if !s.Recorder.Turn.Start.IsZero() {
		return
	}
	if at, ok := r.promptTime(s.ID); ok {
		s.Recorder.Turn.Start, s.Recorder.Turn.Line = at, s.Recorder.Cursor.Lines
	}
}

// unmarkTurn removes the files of a turn that is saved, but not that of a prompt
// which has come since.
func (r *Recorder) unmarkTurn(id string, prompt time.Time) error {
	err := removeMark(r.stopMark(id))
	if at, ok := r.promptTime(id); ok && at.Equal(prompt) {
		err = errors.Join(err, removeMark(r.promptMark(id)))
	}
	return err
}

// writeMark writes a file of marks.
func (r *Recorder) writeMark(path string, note any) error {
	data, err := json.Marshal(note)
	if err != nil {
		return err
	}
	if _, err := settings.Folder(r.Repo.Root, "tmp", 0o700); err != nil {
		return err
	}
	return disk.WriteCache(path, append(data, '\n'), 0o600)
}

// markedSession returns the session of a mark by its file's name; false if the mark isn't
// one of the prefix.
func markedSession(name, prefix string) (id string, is bool) {
	name, isMark := strings.CutSuffix(name, markSuffix)
	id, is = strings.CutPrefix(name, prefix)
	return id, isMark && is
}

func removeMark(path string) error {
	if _, err := os.Lstat(path); err != nil {
		return nil //nolint:nilerr // there is none
	}
	if err := disk.Step("remove", path); err != nil {
		return err
	}
	_ = os.Remove(path) // one that stays is void when the next prompt comes
	return nil
}

// stopNote is what a stop notes that could not end its turn.
type stopNote struct {
	SessionID  string `json:"session_id"`
	Background bool   `json:"background,omitempty"`
}

// leaveStop notes that a turn is still to be ended, and lets a detached child do
// it, which waits longer for the lock. A commit that comes before does it, too.
func (r *Recorder) leaveStop(ctx context.Context, in Input, cause error) {
	if !errors.Is(cause, disk.ErrLocked) && !errors.Is(cause, errStale) && ctx.Err() == nil {
		return // it would fail again
	}
	if err := r.writeMark(r.stopMark(in.SessionID), stopNote{SessionID: in.SessionID, Background: in.Background}); err != nil {
		r.Log.WarnContext(ctx, "stop not noted", "session_id", in.SessionID, "error", err.Error())
		return
	}
	r.detach(ctx, in.SessionID)
}

// endLeft ends the turns of this worktree whose stops could not, and lets children
// end sessions.
func (r *Recorder) endLeft(ctx context.Context) {
	entries, err := os.ReadDir(r.marks())
	if err != nil {
		return
	}
	r.askEnds(ctx, entries)
	for _, e := range entries {
		id, is := markedSession(e.Name(), stopPrefix)
		if !is {
			continue
		}
		if err := r.endLeftTurn(ctx, id); err != nil {
			r.Log.ErrorContext(ctx, "turn not saved", "session_id", id, "error", err.Error())
		}
	}
}

// errTurnOver means that there is no turn to be ended any more.
var errTurnOver = errors.New("the turn is over")

func (r *Recorder) endLeftTurn(ctx context.Context, id string) error {
	if _, err := r.Sessions.Load(id); errors.Is(err, session.ErrNotFound) || errors.Is(err, session.ErrInvalid) {
		return removeMark(filepath.Join(r.marks(), stopPrefix+id+markSuffix))
	}
	r.Recovered++
	err := r.step(ctx, Input{SessionID: id}, session.TurnEnd, func(s *session.State, _ *notes) error {
		data, err := os.ReadFile(r.stopMark(id))
		if err != nil {
			return errTurnOver // a prompt has come, or another hook has ended it
		}
		var note stopNote
		if err := json.Unmarshal(data, &note); err == nil {
			s.Recorder.Background = note.Background
		}
		return nil
	})
	if errors.Is(err, errTurnOver) {
		return nil
	}
	return err
}
