package health

import (
	"context"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/ui"
)

// storedJSON is what is stored of a session in its last checkpoint.
type storedJSON struct {
	CreatedAt   time.Time        `json:"created_at"`
	Attribution *attributionJSON `json:"attribution,omitempty"`
}

// attributionJSON is who wrote the lines of a commit, as far as `status` prints it.
type attributionJSON struct {
	AgentLines      int     `json:"agent_lines"`
	TotalCommitted  int     `json:"total_committed"`
	AgentPercentage float64 `json:"agent_percentage"`
}

// addCheckpoints looks up the last checkpoint of each session. One that isn't
// stored here is left as a bare id.
func addCheckpoints(ctx context.Context, repo *git.Repo, sessions []sessionJSON) {
	tree := git.OID("")
	for i := range sessions {
		s := &sessions[i]
		id, err := checkpoint.ParseID(s.LastCheckpoint)
		if err != nil {
			continue
		}
		if tree == "" {
			if tree, err = checkpoint.Tree(ctx, repo); err != nil {
				return
			}
		}
		s.Checkpoint = lastStored(ctx, repo, tree, id, s.ID)
	}
}

func lastStored(ctx context.Context, repo *git.Repo, tree git.OID, id checkpoint.ID, session string) *storedJSON {
	stored, err := checkpoint.ReadAvailable(ctx, repo, tree, id)
	if err != nil {
		return nil
	}
	for _, slot := range stored.Sessions {
		if slot.Meta.SessionID != session {
			continue
		}
		found := &storedJSON{CreatedAt: slot.Meta.CreatedAt}
		if by, ok := checkpoint.ParseAttribution(slot.Meta.Attribution); ok && by.TotalCommitted > 0 {
			found.Attribution = &attributionJSON{by.AgentLines, by.TotalCommitted, by.AgentPercentage}
		}
		return found
	}
	return nil
}

// checkpointText is a line's part about a session's last checkpoint.
func checkpointText(s sessionJSON, now time.Time) string {
	text := "last checkpoint " + ui.Line(s.LastCheckpoint, 12)
	if s.Checkpoint == nil {
		return text
	}
	text += " " + ui.Ago(now, s.Checkpoint.CreatedAt)
	if by := s.Checkpoint.Attribution; by != nil {
		text += ", " + format.WrittenBy(checkpoint.Attribution{AgentLines: by.AgentLines, TotalCommitted: by.TotalCommitted, AgentPercentage: by.AgentPercentage})
	}
	return text
}
