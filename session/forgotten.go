package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// ForgottenKind is the side file of a session whose state was taken away on
// purpose: how far its transcript counts no more.
const ForgottenKind = "forgotten"

// Forget removes the session's state and all that stands beside it, as Remove
// does. If the session goes on, its transcript counts from upTo.
func (s *Store) Forget(id string, upTo transcript.Cursor) error {
	if err := CheckID(id); err != nil {
		return err
	}
	if upTo.Offset > 0 {
		data, err := json.Marshal(upTo)
		if err != nil {
			return fmt.Errorf("forget session %s: %w", id, err)
		}
		if err := s.Side(id, ForgottenKind).Replace(append(data, '\n')); err != nil {
			return fmt.Errorf("forget session %s: %w", id, err)
		}
	}
	return s.Remove(id)
}

// TakeForgotten answers from where the transcript of a session counts that was
// forgotten, and removes the note of it; the beginning for any other session.
func (s *Store) TakeForgotten(id string) (transcript.Cursor, error) {
	var at transcript.Cursor
	if err := CheckID(id); err != nil {
		return at, err
	}
	path := s.Side(id, ForgottenKind).path
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return at, nil
	}
	if err == nil && json.Unmarshal(data, &at) != nil {
		at = transcript.Cursor{} // all of it is read again
	}
	if err == nil {
		err = disk.Step("remove", path)
	}
	if err == nil {
		err = os.Remove(path)
	}
	return at, err
}
