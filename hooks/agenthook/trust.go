package agenthook

import "path/filepath"

// Trust is whether an agent runs the hooks in a file, as far as its own files show.
type Trust string

// The values.
const (
	TrustUnknown Trust = "unknown" // the agent asks about nothing, or doesn't record the answer
	Trusted      Trust = "yes"
	Untrusted    Trust = "no"
)

// trusting is what an agent's trust in a file with hooks depends on: the file's path, the worktree
// in which the agent works, and the agent's own folder.
type trusting struct{ file, root, home string }

// TrustNote returns what the agent asks the user before it runs the hooks of these settings,
// "" for nothing.
func (s Settings) TrustNote() string {
	d := s.dialect()
	if s.User && d.trustsUser {
		return ""
	}
	return d.trustNote
}

// Trust reads from the agent's own settings whether it runs these hooks in the worktree root.
// home is the agent's folder, empty if there is none.
func (s Settings) Trust(root, home string) Trust {
	d := s.dialect()
	if d.trust == nil || home == "" || s.User && d.trustsUser {
		return TrustUnknown
	}
	return d.trust(trusting{file: s.Path, root: root, home: home})
}

// isWithin reports whether a path is a folder or in it.
func isWithin(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
