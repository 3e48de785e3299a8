package conversation

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// lackingAgents returns the tasks of a session whose subagents' transcripts the agent doesn't
// have here. One that is here stays: it is the original of what is stored redacted.
func (lo *Logs) lackingAgents(ctx context.Context, log Log, tasks []checkpoint.StoredTask) []checkpoint.StoredTask {
	var lacking []checkpoint.StoredTask
	for _, task := range tasks {
		if transcript.SessionID(task.Session) != log.Session {
			continue
		}
		path := transcript.AgentPath(log.Path, task.Agent)
		if err := transcript.CheckPath(path, filepath.Dir(log.Path)); err != nil {
			lo.Log.WarnContext(ctx, "transcript of a subagent not restored", "session_id", log.Session, "error", err.Error())
			continue
		}
		if _, found := transcript.FindAgent(log.Path, task.Agent); !found {
			lacking = append(lacking, task)
		}
	}
	return lacking
}

// putAgents writes the transcripts of subagents that the agent lacks, and returns where.
func (lo *Logs) putAgents(ctx context.Context, log Log) (paths []string, err error) {
	if len(log.agents) == 0 {
		return nil, nil
	}
	if err := disk.MkdirAll(transcript.AgentDir(log.Path), 0o700); err != nil {
		return nil, err
	}
	for _, task := range log.agents {
		path := transcript.AgentPath(log.Path, task.Agent)
		if _, err := os.Lstat(path); err == nil {
			continue // of two tasks of one subagent
		}
		err := disk.WriteStream(path, 0o600, func(w io.Writer) error { return lo.copyMoved(ctx, task.Text, log.move, w) })
		if err != nil {
			return paths, fmt.Errorf("write the transcript of a subagent: %w", err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}
