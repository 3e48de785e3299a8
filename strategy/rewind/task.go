package rewind

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// errFound ends a search.
var errFound = errors.New("found")

// TaskAnswered returns the offset after the transcript line with the result of the task whose
// last checkpoint is p; the agent can't continue without that line. It returns 0 if p is
// another point, or there is no such line.
func TaskAnswered(ctx context.Context, w *workspace.Workspace, p Point, s *session.State) (int64, error) {
	if p.TaskID == "" || p.Shadow == "" {
		return 0, nil
	}
	c, err := w.Repo.Commit(ctx, string(p.Shadow))
	if err != nil {
		return 0, err
	}
	end, ended, err := checkpoint.ReadShadowTaskEnd(ctx, w.Repo, c.Tree, s.ID, p.TaskID)
	if err != nil || !ended {
		return 0, err
	}
	scan, err := transcript.Read(ctx, s.TranscriptPath, transcript.Cursor{})
	if err != nil {
		return 0, fmt.Errorf("read transcript: %w", err)
	}
	if end.UUID == "" {
		end.UUID = scan.Answers[p.TaskID]
	}
	if end.UUID == "" {
		return 0, nil
	}
	var found int64
	err = transcript.Lines(ctx, s.TranscriptPath, 0, scan.Cursor.Offset, func(line []byte, behind int64) error {
		var is struct{ UUID string }
		if bytes.Contains(line, []byte(end.UUID)) && json.Unmarshal(line, &is) == nil && is.UUID == end.UUID {
			found = behind
			return errFound
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFound) {
		return 0, fmt.Errorf("read transcript: %w", err)
	}
	return found, nil
}
