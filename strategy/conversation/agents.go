package conversation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/checkpoint/tasks"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/session/transcript/subagents"
)

// tasks returns the tasks of the sessions of a checkpoint: its own, then those of their
// earlier checkpoints, the newest first.
func (lo *Logs) tasks(ctx context.Context, c checkpoint.Checkpoint) ([]tasks.Stored, error) {
	trees, err := checkpoint.Trees(ctx, lo.Repo)
	if err != nil {
		return nil, err
	}
	ids, err := lo.candidates(ctx, trees, c)
	if err != nil {
		return nil, err
	}
	of := []earlier{{c.Tasks, time.Time{}}}
	for _, id := range ids {
		other, found, err := lo.readFirst(ctx, trees, id)
		if err != nil {
			return nil, err
		}
		if at, is := sharesEarlier(other, c); found && is {
			of = append(of, earlier{other.Tasks, at})
		}
	}
	slices.SortStableFunc(of[1:], func(a, b earlier) int { return b.at.Compare(a.at) })
	var all []tasks.Stored
	for _, e := range of {
		stored, err := tasks.ReadStored(ctx, lo.Repo, e.tasks)
		if err != nil {
			return nil, err
		}
		all = append(all, stored...)
	}
	return all, nil
}

// candidates returns the other checkpoints that may have a session of c: those that the
// messages on the metadata branches name, and all where none names c, as in a branch that was
// squashed.
func (lo *Logs) candidates(ctx context.Context, trees []git.OID, c checkpoint.Checkpoint) ([]checkpoint.ID, error) {
	var ids []checkpoint.ID
	for _, s := range c.Sessions {
		if s.Meta.SessionID == "" {
			continue
		}
		of, err := checkpoint.OfSession(ctx, lo.Repo, s.Meta.SessionID)
		if err != nil {
			return nil, err
		}
		ids = append(ids, of...)
	}
	if !slices.Contains(ids, c.ID) {
		for _, tree := range trees {
			of, err := checkpoint.Find(ctx, lo.Repo, tree, "")
			if err != nil {
				return nil, err
			}
			ids = append(ids, of...)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return slices.DeleteFunc(ids, func(id checkpoint.ID) bool { return id == c.ID }), nil
}

// readFirst reads a checkpoint from the first tree that has it whole. One that can't be read
// is logged and not found.
func (lo *Logs) readFirst(ctx context.Context, trees []git.OID, id checkpoint.ID) (checkpoint.Checkpoint, bool, error) {
	for _, tree := range trees {
		c, err := checkpoint.ReadAvailable(ctx, lo.Repo, tree, id)
		if ctx.Err() != nil {
			return checkpoint.Checkpoint{}, false, ctx.Err()
		}
		if err == nil {
			return c, true, nil
		}
		if !errors.Is(err, checkpoint.ErrNotFound) {
			lo.Log.WarnContext(ctx, "tasks of a checkpoint not read", "checkpoint", string(id), "error", err.Error())
		}
	}
	return checkpoint.Checkpoint{}, false, nil
}

// earlier is the tasks of a checkpoint, and when it was made.
type earlier struct {
	tasks git.OID
	at    time.Time
}

// sharesEarlier reports whether a checkpoint has a session of c from before c, and when it
// was made.
func sharesEarlier(other, c checkpoint.Checkpoint) (time.Time, bool) {
	for _, s := range c.Sessions {
		for _, o := range other.Sessions {
			same := transcript.SessionID(s.Meta.SessionID) == transcript.SessionID(o.Meta.SessionID) && s.Meta.SessionID != ""
			if same && !o.Meta.CreatedAt.After(s.Meta.CreatedAt) {
				return o.Meta.CreatedAt, true
			}
		}
	}
	return time.Time{}, false
}

// lackingAgents returns the tasks of a session whose subagents' transcripts the agent doesn't
// have here. One that is here stays: it is the original of what is stored redacted.
func (lo *Logs) lackingAgents(ctx context.Context, log Log, stored []tasks.Stored) []tasks.Stored {
	var lacking []tasks.Stored
	for _, task := range stored {
		if transcript.SessionID(task.Session) != log.Session {
			continue
		}
		path := subagents.Path(log.Path, task.Agent)
		if path == "" {
			continue // the agent resumes without it
		}
		if err := transcript.CheckPath(path, filepath.Dir(log.Path)); err != nil {
			lo.Log.WarnContext(ctx, "transcript of a subagent not restored", "session_id", log.Session, "error", err.Error())
			continue
		}
		if _, found := subagents.Find(log.Path, task.Agent); !found {
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
	if err := disk.MkdirAll(subagents.Dir(log.Path), 0o700); err != nil {
		return nil, err
	}
	for _, task := range log.agents {
		path := subagents.Path(log.Path, task.Agent)
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
