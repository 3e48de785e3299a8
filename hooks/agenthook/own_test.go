package agenthook

import (
	"path"
	"slices"
	"testing"

	"github.com/seed-3aff656d/entire/session/agent"
)

// TestOwnFiles checks that every file of a worktree into which hooks or servers are written is known
// as one of our own.
func TestOwnFiles(t *testing.T) {
	t.Parallel()
	for _, d := range dialects() {
		for _, parts := range append(slices.Clone(d.files), d.servers.file) {
			if name := path.Join(parts...); name != "" && !agent.IsOwnFile(name) {
				t.Error(name)
			}
		}
	}
}
