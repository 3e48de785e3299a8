package session

import (
	"encoding/json"
	"fmt"
	"time"
)

// Fill is how full a session's context is, as the agent itself reported: the side
// file of kind ContextKind.
type Fill struct {
	SessionID string `json:"session_id"`
	// Tokens are in the context, Window is how many fit, Percent their share.
	Tokens  int64     `json:"tokens"`
	Window  int64     `json:"window"`
	Percent int       `json:"percent"`
	At      time.Time `json:"at"`
}

// Fill returns what was written last for the session id; false if nothing that
// can be read.
func (s *Store) Fill(id string) (Fill, bool) {
	var f Fill
	if CheckID(id) != nil {
		return f, false
	}
	data, err := s.Side(id, ContextKind).ReadAll()
	if err != nil || json.Unmarshal(data, &f) != nil || f.SessionID != id {
		return Fill{}, false
	}
	return f, true
}

// SetFill writes the fill of a session that has a state, unless it is recorded
// already, and reports whether it wrote.
func (s *Store) SetFill(f Fill) (bool, error) {
	if err := CheckID(f.SessionID); err != nil {
		return false, err
	}
	was, found := s.Fill(f.SessionID)
	was.At = f.At
	if found && was == f || s.Stamp(f.SessionID) == "" {
		return false, nil
	}
	data, err := json.Marshal(f)
	if err != nil {
		return false, fmt.Errorf("session %s: %w", f.SessionID, err)
	}
	return true, s.Side(f.SessionID, ContextKind).Replace(append(data, '\n'))
}
