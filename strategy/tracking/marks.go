package tracking

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
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Marks are small files in the folder tmp of [workspace.Workspace.Runtime] with facts that may not be in the state yet: that a
// prompt has begun a turn, that a stop could not end it, and that a session's end is being
// recorded. They are written without the repository's lock, so that a hook that doesn't get
// the lock in time loses nothing.

// MarksDir returns the folder of the marks.
func MarksDir(w *workspace.Workspace) string { return w.Runtime().Path("tmp") }

// PromptMark returns the path of the file that records that a prompt has begun a turn.
func PromptMark(w *workspace.Workspace, id string) string {
	return filepath.Join(MarksDir(w), "pre-prompt-"+id+".json")
}

// The name of a mark is a prefix, such as StopPrefix, the session's id and MarkSuffix.
const (
	StopPrefix = "stop-"
	MarkSuffix = ".json"
)

// StopMark returns the path of the file that records that a stop could not end its turn.
func StopMark(w *workspace.Workspace, id string) string {
	return filepath.Join(MarksDir(w), StopPrefix+id+MarkSuffix)
}

// MarkPrompt writes the file whose time is the beginning of the turn, as the file system's
// clock is not the process's, and returns that time. It removes the marks of a stop or an end
// that haven't been carried out: the turn continues with this prompt.
func MarkPrompt(ctx context.Context, w *workspace.Workspace, id string) time.Time {
	now := w.Env.Now()
	path := PromptMark(w, id)
	err := errors.Join(RemoveMark(StopMark(w, id)), RemoveMark(EndMark(w, id)))
	if err == nil {
		note := promptNote{SessionID: id, Timestamp: now}
		if !w.Runtime().IsInTree() {
			note.Start = startElsewhere(w, now)
		}
		err = WriteMark(w, path, note)
	}
	if err == nil {
		if at, ok := PromptTime(w, id); ok {
			return at
		}
	}
	w.Log.WarnContext(ctx, "prompt not marked", "session_id", id, "error", fmt.Sprint(err))
	return now.Add(-clockSlack)
}

// promptNote is the content of a prompt's mark. Start is the beginning of the turn if the mark is on
// another file system than the worktree, so that its own time doesn't tell.
type promptNote struct {
	SessionID string     `json:"session_id"`
	Timestamp time.Time  `json:"timestamp"`
	Start     *time.Time `json:"start,omitempty"`
}

// PromptTime returns when the prompt's file was written, by the clock of the worktree's file system;
// false if there is none.
func PromptTime(w *workspace.Workspace, id string) (time.Time, bool) {
	path := PromptMark(w, id)
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}, false
	}
	if !w.Runtime().IsInTree() {
		var note promptNote
		data, err := disk.ReadFile(path)
		if err == nil && json.Unmarshal(data, &note) == nil && note.Start != nil {
			return *note.Start, true
		}
	}
	return disk.Changed(info), true
}

// clockSlack is the maximum time by which the process's clock is ahead of a file system's.
const clockSlack = 10 * time.Millisecond

// startElsewhere returns the present time by the clock of the worktree's file system, nil if the git
// directory is on the same one. It leaves nothing in the worktree: the time is that of a file without
// a name. Where the file system has no such files, it is a little before the process's clock, so that
// no change of the turn counts as older.
func startElsewhere(w *workspace.Workspace, now time.Time) *time.Time {
	if disk.OnSameDevice(w.Repo.Root, w.Repo.CommonDir) {
		return nil
	}
	at, err := disk.Clock(w.Repo.Root)
	if err != nil {
		at = now.Add(-clockSlack)
	}
	return &at
}

// BeginLate sets the beginning of a turn from the prompt's file if the hook of the
// prompt could not save it in the state.
func BeginLate(w *workspace.Workspace, s *session.State) {
	if !s.Recorder.Turn.Start.IsZero() {
		return
	}
	if at, ok := PromptTime(w, s.ID); ok {
		s.Recorder.Turn.Start, s.Recorder.Turn.Line = at, s.Recorder.Cursor.Lines
	}
}

// UnmarkTurn removes the marks of a saved turn, but not that of a newer prompt.
func UnmarkTurn(w *workspace.Workspace, id string, prompt time.Time) error {
	err := RemoveMark(StopMark(w, id))
	if at, ok := PromptTime(w, id); ok && at.Equal(prompt) {
		err = errors.Join(err, RemoveMark(PromptMark(w, id)))
	}
	return err
}

// WriteMark writes a mark.
func WriteMark(w *workspace.Workspace, path string, note any) error {
	data, err := json.Marshal(note)
	if err != nil {
		return err
	}
	if _, err := w.Runtime().Make("tmp", 0o700); err != nil {
		return err
	}
	return disk.WriteCache(path, append(data, '\n'), 0o600)
}

// MarkedSession returns the session of a mark by its file's name; false if the name
// doesn't have the prefix.
func MarkedSession(name, prefix string) (id string, is bool) {
	name, isMark := strings.CutSuffix(name, MarkSuffix)
	id, is = strings.CutPrefix(name, prefix)
	return id, isMark && is
}

// RemoveMark removes a mark, if there is one.
func RemoveMark(path string) error {
	if _, err := os.Lstat(path); err != nil {
		return nil //nolint:nilerr // there is none
	}
	if err := disk.Step("remove", path); err != nil {
		return err
	}
	_ = os.Remove(path) // the next prompt tries again
	return nil
}
