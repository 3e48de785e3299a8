package agenthook

import (
	"path/filepath"

	"github.com/seed-3aff656d/entire/session/agent"
)

// Trust is whether an agent runs the hooks in a file, as far as its own files show.
type Trust string

// The values.
const (
	TrustUnknown Trust = "unknown" // the agent asks about nothing, or doesn't record the answer
	Trusted      Trust = "yes"
	Untrusted    Trust = "no"
)

// Hooked is a file with hooks of an agent.
type Hooked struct {
	// File is the file's path, Root the worktree in which the agent works, Home the agent's
	// folder, empty if there is none.
	File, Root, Home string
	// User reports that the file is the UserFile.
	User bool
}

// TrustNote returns what the agent asks the user before it runs the hooks of these settings,
// "" for nothing.
func (s Settings) TrustNote() string {
	d := s.dialect()
	if s.User && d.trustsUser {
		return ""
	}
	return d.trustNote
}

// TrustOf reads from the agent's own settings whether it runs the hooks.
func TrustOf(a agent.Agent, h Hooked) Trust {
	d := dialectOf(a)
	if d.trust == nil || h.Home == "" || h.User && d.trustsUser {
		return TrustUnknown
	}
	return d.trust(h)
}

// isWithin reports whether a path is a folder or in it.
func isWithin(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
