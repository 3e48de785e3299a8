// Package plugintranscript writes the transcripts of agents that have no transcript files, one line for each
// message that a plugin hands over. docs/formats/handed.md describes the lines.
package plugintranscript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Messages holds the messages of one conversation that a plugin hands over.
type Messages struct {
	// Session is the id of the session, Subagent the id of the subagent whose conversation it is,
	// empty for the session's own. Dir is the agent's working directory.
	Session, Subagent, Dir string
	// List holds the messages from any one on, in the order of the conversation.
	List []json.RawMessage
	// Ended reports that the turn has ended, so that the messages are final.
	Ended bool
}

// redactor removes secrets from a line.
type redactor interface {
	LineContext(ctx context.Context, line []byte) ([]byte, error)
}

// line is a line of a transcript.
type line struct {
	Form     int             `json:"opencode"`
	Time     string          `json:"timestamp"`
	Session  string          `json:"sessionId"`
	Subagent string          `json:"agentId,omitempty"`
	Dir      string          `json:"cwd,omitempty"`
	Aborted  string          `json:"aborted,omitempty"` // the id of an interrupted previous message
	Message  json.RawMessage `json:"message,omitempty"`
}

// head holds the used fields of a message.
type head struct {
	Info struct {
		ID   string `json:"id"`
		Role string `json:"role"`
		Time struct {
			Created   int64 `json:"created"` // in milliseconds of Unix time
			Completed int64 `json:"completed"`
		} `json:"time"`
		Error struct {
			Name string `json:"name"`
		} `json:"error"`
	} `json:"info"`
}

// Append appends the missing messages to the transcript path, redacted, and returns the id of its
// last message, "" if it has none. Before the end of the turn it stops at the first incomplete
// message. The file only grows: a written message is not written again, even if it has changed
// since.
func Append(ctx context.Context, path string, m Messages, r redactor) (last string, err error) {
	if err := disk.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	lock, err := disk.AcquireLock(ctx, filepath.Join(filepath.Dir(path), "lock"))
	if err != nil {
		return "", fmt.Errorf("wait for the transcript: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	known, last, size, err := written(path)
	if err != nil {
		return "", err
	}
	var added bytes.Buffer
	for _, raw := range m.List {
		var h head
		if json.Unmarshal(raw, &h) != nil || h.Info.ID == "" || known[h.Info.ID] {
			continue
		}
		// A message in this state no longer changes, even during its turn.
		isDone := h.Info.Role == "user" || h.Info.Time.Completed > 0 || h.Info.Error.Name != ""
		if !m.Ended && !isDone {
			break
		}
		lines, err := m.Lines(raw)
		if err != nil {
			return last, err
		}
		for _, text := range lines {
			if text, err = r.LineContext(ctx, text); err != nil {
				return last, fmt.Errorf("redact message: %w", err)
			}
			added.Write(text)
			added.WriteByte('\n')
		}
		known[h.Info.ID], last = true, h.Info.ID
	}
	if added.Len() == 0 {
		return last, nil
	}
	if err := grow(path, size, added.Bytes()); err != nil {
		return last, err
	}
	// The session has continued in the agent, so the agent has imported the document.
	if err := os.Remove(DocumentPath(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return last, fmt.Errorf("remove the messages that the agent has read: %w", err)
	}
	return last, nil
}

// Lines returns the lines of a message of the conversation, without redaction: one, and another one if a
// person interrupted the message. m.List is not used.
func (m Messages) Lines(message json.RawMessage) ([][]byte, error) {
	var h head
	if err := json.Unmarshal(message, &h); err != nil {
		return nil, fmt.Errorf("decode message: %w", err)
	}
	at := time.UnixMilli(max(h.Info.Time.Created, h.Info.Time.Completed)).UTC().Format("2006-01-02T15:04:05.000Z07:00")
	l := line{Form: 1, Time: at, Session: m.Session, Subagent: m.Subagent, Dir: m.Dir, Message: message}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(l)
	if err == nil && h.Info.Error.Name == "MessageAbortedError" {
		l.Aborted, l.Message = h.Info.ID, nil
		err = enc.Encode(l)
	}
	if err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	return bytes.Split(bytes.TrimSuffix(b.Bytes(), []byte("\n")), []byte("\n")), nil
}

// written returns the ids of a transcript's messages, the last of them, and the length of its
// complete lines: an interrupted writer may have left part of a line.
func written(path string) (known map[string]bool, last string, size int64, err error) {
	known = map[string]bool{}
	data, err := disk.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return known, "", 0, nil
	}
	if err != nil {
		return nil, "", 0, fmt.Errorf("read the transcript: %w", err)
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	for text := range bytes.Lines(data) {
		var l struct {
			Message head `json:"message"`
		}
		if json.Unmarshal(text, &l) == nil && l.Message.Info.ID != "" {
			last = l.Message.Info.ID
			known[last] = true
		}
	}
	return known, last, int64(len(data)), nil
}

// grow truncates a file to size, appends text and syncs it.
func grow(path string, size int64, text []byte) (err error) {
	if err := disk.Step("append", path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the transcript: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(size); err != nil {
		return fmt.Errorf("write the transcript: %w", err)
	}
	if _, err := f.Seek(size, io.SeekStart); err != nil {
		return fmt.Errorf("write the transcript: %w", err)
	}
	if _, err := f.Write(text); err != nil {
		return fmt.Errorf("write the transcript: %w", err)
	}
	return f.Sync()
}
