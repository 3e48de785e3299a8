package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// ForgottenKind is the side file of a session whose state was removed on purpose. It records how
// much of the transcript no longer counts.
const ForgottenKind = "forgotten"

// Forget removes the session's state and its side files, as Remove does. If the session goes on,
// its transcript counts from upTo. That position is recorded durably before the state is removed.
func (s *Store) Forget(id string, upTo transcript.Cursor) error {
	if err := CheckID(id); err != nil {
		return err
	}
	if upTo.Offset > 0 {
		data, err := json.Marshal(upTo)
		if err != nil {
			return fmt.Errorf("forget session %s: %w", id, err)
		}
		path := s.Side(id, ForgottenKind).path
		if err := disk.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return fmt.Errorf("forget session %s: %w", id, err)
		}
		if err := disk.WriteDurable(path, append(data, '\n'), 0o600); err != nil {
			return fmt.Errorf("forget session %s: %w", id, err)
		}
	}
	return s.Remove(id)
}

// Forgotten returns the position from which the transcript of a session counts: the beginning,
// unless the session was forgotten. The record is kept, so that it also applies whenever the
// session's state is created or its transcript is read again.
func (s *Store) Forgotten(id string) (transcript.Cursor, error) {
	var at transcript.Cursor
	if err := CheckID(id); err != nil {
		return at, err
	}
	data, err := disk.ReadFile(s.Side(id, ForgottenKind).path)
	if errors.Is(err, fs.ErrNotExist) {
		return at, nil
	}
	if err != nil {
		return at, fmt.Errorf("session %s: %w", id, err)
	}
	if json.Unmarshal(data, &at) != nil {
		return transcript.Cursor{}, nil //nolint:nilerr // all of it is read again
	}
	return at, nil
}
