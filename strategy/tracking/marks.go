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
)

// Marks are small files in .entire/tmp with facts that may not be in the state yet: that a
// prompt has begun a turn, that a stop could not end it, and that a session's end is being
// recorded. They are written without the repository's lock, so that a hook that doesn't get
// the lock in time loses nothing.

// Dir returns the folder of the marks.
func (m *Marks) Dir() string { return filepath.Join(m.Repo.Root, ".entire", "tmp") }

func (m *Marks) promptMark(id string) string {
	return filepath.Join(m.Dir(), "pre-prompt-"+id+".json")
}

// The name of a mark is a prefix, such as StopPrefix, the session's id and MarkSuffix.
const (
	StopPrefix = "stop-"
	MarkSuffix = ".json"
)

// StopMark returns the path of the file that records that a stop could not end its turn.
func (m *Marks) StopMark(id string) string {
	return filepath.Join(m.Dir(), StopPrefix+id+MarkSuffix)
}

// MarkPrompt writes the file whose time is the beginning of the turn, as the file system's
// clock is not the process's, and returns that time. It removes the marks of a stop or an end
// that haven't been carried out: the turn continues with this prompt.
func (m *Marks) MarkPrompt(ctx context.Context, id string) time.Time {
	now := m.Env.Now()
	path := m.promptMark(id)
	err := errors.Join(RemoveMark(m.StopMark(id)), RemoveMark(m.EndMark(id)))
	if err == nil {
		err = m.WriteMark(path, map[string]any{"session_id": id, "timestamp": now})
	}
	if err == nil {
		if at, ok := m.PromptTime(id); ok {
			return at
		}
	}
	m.Log.WarnContext(ctx, "prompt not marked", "session_id", id, "error", fmt.Sprint(err))
	return now.Add(-10 * time.Millisecond)
}

// PromptTime returns when the prompt's file was written; false if there is none.
func (m *Marks) PromptTime(id string) (time.Time, bool) {
	info, err := os.Lstat(m.promptMark(id))
	if err != nil {
		return time.Time{}, false
	}
	return disk.Changed(info), true
}

// BeginLate sets the beginning of a turn from the prompt's file if the hook of the
// prompt could not save it in the state.
func (m *Marks) BeginLate(s *session.State) {
	if !s.Recorder.Turn.Start.IsZero() {
		return
	}
	if at, ok := m.PromptTime(s.ID); ok {
		s.Recorder.Turn.Start, s.Recorder.Turn.Line = at, s.Recorder.Cursor.Lines
	}
}

// UnmarkTurn removes the marks of a saved turn, but not that of a newer prompt.
func (m *Marks) UnmarkTurn(id string, prompt time.Time) error {
	err := RemoveMark(m.StopMark(id))
	if at, ok := m.PromptTime(id); ok && at.Equal(prompt) {
		err = errors.Join(err, RemoveMark(m.promptMark(id)))
	}
	return err
}

// WriteMark writes a mark.
func (m *Marks) WriteMark(path string, note any) error {
	data, err := json.Marshal(note)
	if err != nil {
		return err
	}
	if _, err := settings.Folder(m.Repo.Root, "tmp", 0o700); err != nil {
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
