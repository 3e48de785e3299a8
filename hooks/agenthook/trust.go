package agenthook

import "path/filepath"

// Trust reports whether an agent runs the hooks in a file, as far as its own files show.
type Trust string

// The values.
const (
	TrustUnknown Trust = "unknown" // the agent doesn't ask, or doesn't record the answer
	Trusted      Trust = "yes"
	Untrusted    Trust = "no"
)

// trusting holds the inputs of an agent's trust in a file with hooks: the file's path, the worktree
// in which the agent works, and the agent's own folder.
type trusting struct{ file, root, home string }

// TrustNote returns what the agent asks of the user before it runs the hooks of these settings, ""
// for nothing.
func (s Settings) TrustNote() string {
	d := s.dialect()
	if s.User && d.trustsUser {
		return ""
	}
	return d.trustNote
}

// Trust reports whether the agent runs these hooks in the worktree root, according to its own
// settings. home is the agent's folder, empty if unknown.
func (s Settings) Trust(root, home string) Trust {
	d := s.dialect()
	if d.trust == nil || home == "" || s.User && d.trustsUser {
		return TrustUnknown
	}
	return d.trust(trusting{file: s.Path, root: root, home: home})
}

// isWithin reports whether path is the folder dir or inside it.
func isWithin(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
