package workspace

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/session"
)

func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// AllSessions are all sessions whose state can be read and that are at home in
// this worktree.
func (r *Workspace) AllSessions(ctx context.Context) []*session.State {
	return r.OwnSessions(ctx, r.Sessions.All)
}

// TranscriptCopies is where transcripts are kept that something has replaced.
func (r *Workspace) TranscriptCopies() string { return filepath.Join(r.RecordsDir(), "transcripts") }
