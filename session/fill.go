package session

import (
	"encoding/json"
	"fmt"
	"time"
)

// Fill records how full a session's context is, as the agent reported it, in the side file of kind
// ContextKind.
type Fill struct {
	SessionID string `json:"session_id"`
	// Tokens is the number of tokens in the context, Window its size, Percent their ratio.
	Tokens  int64     `json:"tokens"`
	Window  int64     `json:"window"`
	Percent int       `json:"percent"`
	At      time.Time `json:"at"`
}

// Fill returns the last recorded fill of the session id, false if there is none or it can't be
// read.
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

// SetFill records the fill of a session and reports whether it wrote. It writes nothing if the fill
// is unchanged, apart from the time, or if the session has no state.
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
