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
	// File is the file's path, Root the worktree that it is in, Home the agent's folder,
	// empty if there is none.
	File, Root, Home string
}

// TrustNote returns what the agent asks the user before it runs the hooks, "" for nothing.
func TrustNote(a agent.Agent) string { return dialectOf(a).trustNote }

// TrustOf reads from the agent's own settings whether it runs the hooks.
func TrustOf(a agent.Agent, h Hooked) Trust {
	trust := dialectOf(a).trust
	if trust == nil || h.Home == "" {
		return TrustUnknown
	}
	return trust(h)
}

// isWithin reports whether a path is a folder or in it.
func isWithin(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
