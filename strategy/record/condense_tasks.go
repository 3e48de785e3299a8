package record

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// maxTaskBlob is the maximum size of a file of a task. Larger files are omitted.
const maxTaskBlob = 95 << 20

// taskEdits returns the files of the session's tasks since its last commit. With auto-commit these are
// the files of the task checkpoints, including steps, redacted once more: another version of the
// tool doesn't redact them on shadow branches. Otherwise they are the ends of the tasks and the
// stored transcripts of the subagents: nothing large is read or redacted.
func taskEdits(ctx context.Context, w *workspace.Workspace, s *session.State) ([]git.TreeEdit, error) {
	if w.Options.Strategy != workspace.AutoCommit {
		return storedTasks(ctx, w, s)
	}
	tree, err := w.ShadowTree(ctx, s)
	if err != nil {
		return nil, err
	}
	files, err := checkpoint.ListShadowTasks(ctx, w.Repo, tree, s.ID)
	if err != nil {
		return nil, err
	}
	kept := files[:0]
	for _, f := range files {
		object, err := w.Repo.Read(ctx, string(f.OID))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", f.Path, err)
		}
		if len(object.Data) > maxTaskBlob {
			w.Log.WarnContext(ctx, "task file left out", "session_id", s.ID, "bytes", len(object.Data))
			continue
		}
		lines := bytes.Split(object.Data, []byte("\n"))
		if json.Valid(object.Data) { // else each line is a document
			lines = [][]byte{object.Data}
		}
		for i, line := range lines {
			if lines[i], err = w.Redact.LineContext(ctx, line); err != nil {
				return nil, fmt.Errorf("redact %s: %w", f.Path, err)
			}
		}
		clean := bytes.Join(lines, []byte("\n"))
		if !bytes.Equal(clean, object.Data) {
			if f.OID, err = w.Repo.WriteBlob(clean); err != nil {
				return nil, fmt.Errorf("write %s: %w", f.Path, err)
			}
		}
		kept = append(kept, f)
	}
	return kept, nil
}

// storedTasks returns the files of the tasks whose transcripts are stored.
func storedTasks(ctx context.Context, w *workspace.Workspace, s *session.State) ([]git.TreeEdit, error) {
	var files []git.TreeEdit
	for i := range s.Recorder.Tasks {
		task := &s.Recorder.Tasks[i]
		var agent []git.OID // nil if one of the blobs no longer exists
		for _, id := range task.Stored {
			oid := git.OID(id)
			there := w.Repo.Format.Valid(oid)
			if there && !w.Repo.Loose.Has(oid) {
				object, err := w.Repo.ReadWithin(ctx, id, maxTaskBlob)
				there = err == nil && object.Type == "blob"
			}
			if !there {
				agent = nil
				w.Log.WarnContext(ctx, "transcript of a subagent is lost", "session_id", s.ID)
				break
			}
			agent = append(agent, oid)
		}
		if len(agent) == 0 || task.Phase != session.TaskDone || !transcript.IsToolID(task.ToolUse) || session.CheckID(task.Agent) != nil {
			continue
		}
		end := checkpoint.TaskEnd{Session: s.ID, ToolUse: task.ToolUse, UUID: task.Answer, Agent: task.Agent}
		edits, err := checkpoint.WriteTaskFiles(w.Repo, end, agent)
		if err != nil {
			return nil, err
		}
		files = append(files, edits...)
	}
	return files, nil
}
