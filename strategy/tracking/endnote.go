package tracking

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const endPrefix = "end-"

// EndNote is the note of a session's end that may not be fully recorded yet: a file in
// .entire/tmp, written first and removed last.
type EndNote struct {
	SessionID string          `json:"session_id"`
	Reason    string          `json:"reason,omitempty"`
	PromptID  string          `json:"prompt_id,omitempty"`
	Agent     session.Process `json:"agent,omitzero"`
	// PID and Start are the process that records the end.
	PID   int    `json:"pid"`
	Start uint64 `json:"process_start,omitempty"`
}

// Input returns the payload of the hook that wrote the note.
func (n EndNote) Input() workspace.Input {
	return workspace.Input{SessionID: n.SessionID, Reason: n.Reason, PromptID: n.PromptID, Agent: n.Agent}
}

// EndMark returns the path of the note of a session's end.
func EndMark(w *workspace.Workspace, id string) string {
	return filepath.Join(MarksDir(w), endPrefix+id+MarkSuffix)
}

// EndNoted returns the note of a session's end, false if there is none.
func EndNoted(w *workspace.Workspace, id string) (note EndNote, found bool) {
	data, err := disk.ReadFile(EndMark(w, id))
	if err != nil {
		return note, false
	}
	if json.Unmarshal(data, &note) != nil || note.SessionID != id {
		note = EndNote{SessionID: id} // only the reason is lost
	}
	return note, true
}

// RequestEnds starts children that finish the ends of this worktree's sessions whose
// hooks no longer run.
func RequestEnds(ctx context.Context, w *workspace.Workspace, marks []os.DirEntry) {
	for _, e := range marks {
		id, is := MarkedSession(e.Name(), endPrefix)
		if !is {
			continue
		}
		if note, found := EndNoted(w, id); found && !w.Env.Alive(note.PID, note.Start) {
			w.DetachRecall(ctx, id)
		}
	}
}
