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

// Small files in .entire/tmp, marks, say what the state may not say yet: that a
// prompt has begun a turn, that a stop could not end it, and that a session's end is
// being recorded. They are written
// without the repository's lock, so that a hook that does not get the lock in
// time loses nothing.

// Dir is the folder of the marks.
func (m *Marks) Dir() string { return filepath.Join(m.Repo.Root, ".entire", "tmp") }

func (m *Marks) promptMark(id string) string {
	return filepath.Join(m.Dir(), "pre-prompt-"+id+".json")
}

const StopPrefix, MarkSuffix = "stop-", ".json"

func (m *Marks) StopMark(id string) string {
	return filepath.Join(m.Dir(), StopPrefix+id+MarkSuffix)
}

// MarkPrompt writes the file whose time is when the turn begins: the file
// system's clock is not the process's. A stop that is still to be made up for is
// void then: the turn goes on with this prompt.
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

// PromptTime is when the prompt's file was written; false without one.
func (m *Marks) PromptTime(id string) (time.Time, bool) {
	info, err := os.Lstat(m.promptMark(id))
	if err != nil {
		return time.Time{}, false
	}
	return disk.Changed(info), true
}

// BeginLate takes the beginning of a turn that its prompt's hook could not note in
// the state from the prompt's file.
func (m *Marks) BeginLate(s *session.State) {
	if !s.Recorder.Turn.Start.IsZero() {
		return
	}
	if at, ok := m.PromptTime(s.ID); ok {
		s.Recorder.Turn.Start, s.Recorder.Turn.Line = at, s.Recorder.Cursor.Lines
	}
}

// UnmarkTurn removes the files of a turn that is saved, but not that of a prompt
// which has come since.
func (m *Marks) UnmarkTurn(id string, prompt time.Time) error {
	err := RemoveMark(m.StopMark(id))
	if at, ok := m.PromptTime(id); ok && at.Equal(prompt) {
		err = errors.Join(err, RemoveMark(m.promptMark(id)))
	}
	return err
}

// WriteMark writes a file of marks.
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

// MarkedSession returns the session of a mark by its file's name; false if the mark isn't
// one of the prefix.
func MarkedSession(name, prefix string) (id string, is bool) {
	name, isMark := strings.CutSuffix(name, MarkSuffix)
	id, is = strings.CutPrefix(name, prefix)
	return id, isMark && is
}

func RemoveMark(path string) error {
	if _, err := os.Lstat(path); err != nil {
		return nil //nolint:nilerr // there is none
	}
	if err := disk.Step("remove", path); err != nil {
		return err
	}
	_ = os.Remove(path) // one that stays is void when the next prompt comes
	return nil
}
