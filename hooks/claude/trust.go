package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
func TrustNote(a agent.Agent) string {
	if a.Name == agent.Codex().Name {
		return "Codex runs a hook only after you have trusted it: accept the hooks at its next start, or with /hooks."
	}
	return ""
}

// TrustOf reads from the agent's own settings whether it runs the hooks.
func TrustOf(a agent.Agent, h Hooked) Trust {
	if h.Home == "" {
		return TrustUnknown
	}
	switch a.Name {
	case agent.Codex().Name:
		return codexTrust(filepath.Join(h.Home, "config.toml"), h.File, len(entriesOf(a)))
	case agent.Copilot().Name:
		return copilotTrust(filepath.Join(h.Home, "config.json"), h.Root)
	}
	return TrustUnknown
}

// codexTrust counts the hooks of a file that are trusted: Codex has a table for each,
// [hooks.state."FILE:event:group:hook"].
func codexTrust(config, file string, hooks int) Trust {
	data, err := os.ReadFile(config)
	if err != nil {
		return Untrusted
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(strings.TrimSpace(line), `[hooks.state.`+quote(file)[:len(quote(file))-1]+":") {
			n++
		}
	}
	if n < hooks {
		return Untrusted
	}
	return Trusted
}

// copilotTrust reports whether a worktree is in a folder that the user trusts.
func copilotTrust(config, root string) Trust {
	var c struct {
		Folders []string `json:"trusted_folders"`
	}
	data, err := os.ReadFile(config)
	if err != nil || json.Unmarshal(data, &c) != nil {
		return Untrusted
	}
	if slices.ContainsFunc(c.Folders, func(dir string) bool {
		rel, err := filepath.Rel(dir, root)
		return err == nil && filepath.IsLocal(rel)
	}) {
		return Trusted
	}
	return Untrusted
}
