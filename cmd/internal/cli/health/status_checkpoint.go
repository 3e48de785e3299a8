package health

import (
	"context"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/git"
)

// storedJSON holds data of a session from its last checkpoint.
type storedJSON struct {
	CreatedAt   time.Time        `json:"created_at"`
	Attribution *attributionJSON `json:"attribution,omitempty"`
}

// attributionJSON is the part of a commit's attribution that `status` prints.
type attributionJSON struct {
	AgentLines      int     `json:"agent_lines"`
	UnknownLines    int     `json:"unknown_lines,omitempty"`
	TotalCommitted  int     `json:"total_committed"`
	AgentPercentage float64 `json:"agent_percentage"`
	AgentRemoved    int     `json:"agent_removed"`
	HumanRemoved    int     `json:"human_removed"`

	wrote string // in a few words
}

// addCheckpoints reads the last checkpoint of each session. If it isn't stored here, only its id is
// reported.
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
		stored, err := checkpoint.ReadAvailable(ctx, repo, tree, id)
		if err != nil {
			continue
		}
		slot := slices.IndexFunc(stored.Sessions, func(slot checkpoint.Stored) bool { return slot.Meta.SessionID == s.ID })
		if slot < 0 {
			continue
		}
		meta := stored.Sessions[slot].Meta
		s.Checkpoint = &storedJSON{CreatedAt: meta.CreatedAt}
		if by, ok := checkpoint.ParseAttribution(meta.Attribution); ok && format.WrittenBy(by) != "" {
			s.Checkpoint.Attribution = &attributionJSON{
				by.AgentLines, by.UnknownLines, by.TotalCommitted, by.AgentPercentage, by.AgentRemoved, by.HumanRemoved, format.WrittenBy(by),
			}
		}
	}
}
