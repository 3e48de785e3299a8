package transcript

import (
	"bytes"
	"strings"

	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

// SessionID returns the agent's id of a session that is recorded as id: early versions of other
// programs prepended a date ("2026-01-15-<uuid>").
func SessionID(id string) string {
	const date = "2006-01-02-"
	if len(id) != len(date)+36 || !hasForm(id[:len(date)], "dddd-dd-dd-") || !hasForm(strings.ToLower(id[len(date):]), "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh") {
		return id
	}
	return id[len(date):]
}

// SessionIDIn returns the session id in the first 50 lines of a transcript, "" if there is none.
func SessionIDIn(transcript []byte) string {
	const most = 50
	read := 0
	for line := range bytes.Lines(transcript) {
		if id := Value(forms.Line(line)).Member("sessionId").Text(); id != "" {
			return id
		}
		if read++; read == most {
			break
		}
	}
	return ""
}

// hasForm reports whether s has a digit for each d of form, a lower-case hexadecimal digit for each
// h, and equals form otherwise. s must be at least as long as form.
func hasForm(s, form string) bool {
	for i, f := range []byte(form) {
		digit := s[i] >= '0' && s[i] <= '9'
		switch f {
		case 'd':
			if !digit {
				return false
			}
		case 'h':
			if !digit && (s[i] < 'a' || s[i] > 'f') {
				return false
			}
		default:
			if s[i] != f {
				return false
			}
		}
	}
	return true
}
