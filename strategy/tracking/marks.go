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
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Marks are small files in .entire/tmp with facts that may not be in the state yet: that a
// prompt has begun a turn, that a stop could not end it, and that a session's end is being
// recorded. They are written without the repository's lock, so that a hook that doesn't get
// the lock in time loses nothing.

// MarksDir returns the folder of the marks.
func MarksDir(w *workspace.Workspace) string { return filepath.Join(w.Repo.Root, ".entire", "tmp") }

func promptMark(w *workspace.Workspace, id string) string {
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
	path := promptMark(w, id)
	err := errors.Join(RemoveMark(StopMark(w, id)), RemoveMark(EndMark(w, id)))
	if err == nil {
		err = WriteMark(w, path, map[string]any{"session_id": id, "timestamp": now})
	}
	if err == nil {
		if at, ok := PromptTime(w, id); ok {
			return at
		}
	}
	w.Log.WarnContext(ctx, "prompt not marked", "session_id", id, "error", fmt.Sprint(err))
	return now.Add(-10 * time.Millisecond)
}

// PromptTime returns when the prompt's file was written; false if there is none.
func PromptTime(w *workspace.Workspace, id string) (time.Time, bool) {
	info, err := os.Lstat(promptMark(w, id))
	if err != nil {
		return time.Time{}, false
	}
	return disk.Changed(info), true
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
		err = errors.Join(err, RemoveMark(promptMark(w, id)))
	}
	return err
}

// WriteMark writes a mark.
func WriteMark(w *workspace.Workspace, path string, note any) error {
	data, err := json.Marshal(note)
	if err != nil {
		return err
	}
	if _, err := settings.MakeFolder(w.Repo.Root, "tmp", 0o700); err != nil {
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
