package checkpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// StoreTaskTranscript stores the first size bytes of a subagent's transcript, redacted, as blobs of
// whole lines that other versions can read. If the deadline of ctx passes, a last line records the
// omission of the rest.
func StoreTaskTranscript(ctx context.Context, repo *git.Repo, redact Redactor, path string, size int64) ([]git.OID, error) {
	var chunks []git.OID
	var text bytes.Buffer
	flush := func() error {
		oid, err := WriteBlob(repo, text.Bytes())
		chunks = append(chunks, oid)
		text.Reset()
		return err
	}
	var done int64
	add := func(line []byte, end int64) error {
		stored, err := RedactLine(ctx, redact, transcript.Stored(line))
		if err != nil {
			return err
		}
		if len(stored) > MaxLine {
			stored = OmittedLine(len(line))
		}
		if text.Len() > 0 && text.Len()+1+len(stored) > MaxLine {
			if err := flush(); err != nil {
				return err
			}
		}
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		text.Write(stored)
		done = end
		return nil
	}
	err := transcript.Lines(ctx, path, 0, size, add)
	if errors.Is(err, context.DeadlineExceeded) {
		err = add(OmittedLine(int(size-done)), size)
	}
	if err == nil && text.Len() > 0 {
		err = flush()
	}
	if err != nil {
		return nil, fmt.Errorf("store transcript of a subagent: %w", err)
	}
	return chunks, nil
}

// TaskTranscript returns a subagent's transcript in the directory dir of a tree, empty if there is
// none. In a shadow tree dir is the value of the trailer with [TaskKey], in
// [Checkpoint.Tasks] it is the tool use.
func TaskTranscript(ctx context.Context, repo *git.Repo, tree git.OID, dir string) (StoredTranscript, error) {
	dir = strings.TrimRight(dir, "/")
	entry, found, err := git.LookupPath(ctx, repo, tree, dir)
	if err != nil || !found || entry.Mode != git.ModeTree {
		return StoredTranscript{}, err
	}
	entries, err := repo.Tree(ctx, entry.OID)
	if err != nil {
		return StoredTranscript{}, fmt.Errorf("read task: %w", err)
	}
	return agentTranscript(entries), nil
}

// agentTranscript returns the transcript in the directory of a task.
func agentTranscript(entries []git.TreeEntry) (t StoredTranscript) {
	name := ""
	for _, e := range entries { // sorted by name
		file := e.Mode == git.ModeFile || e.Mode == git.ModeExec
		switch {
		case !file:
		case name == "" && strings.HasPrefix(e.Name, "agent-") && strings.HasSuffix(e.Name, ".jsonl"),
			name != "" && e.Name == fmt.Sprintf("%s.%03d", name, len(t.Segments)):
			if name == "" {
				name = e.Name
			}
			t.Segments = append(t.Segments, e.OID)
		}
	}
	return t
}

// StoredTask is a task of a checkpoint, and the transcript of its subagent.
type StoredTask struct {
	TaskEnd

	Text StoredTranscript
}

// ReadStoredTasks reads the tasks in [Checkpoint.Tasks] that have ended and whose subagents'
// transcripts are stored. Entries that are invalid or missing in this clone are left out, and those
// that name no session, unless the checkpoint has only one.
func (c Checkpoint) ReadStoredTasks(ctx context.Context, repo *git.Repo) ([]StoredTask, error) {
	tasks := c.Tasks
	if tasks == "" {
		return nil, nil
	}
	dirs, err := repo.Tree(ctx, tasks)
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	var found []StoredTask
	for _, dir := range dirs[:min(len(dirs), maxTaskFiles)] {
		if dir.Mode != git.ModeTree || !transcript.IsToolID(dir.Name) {
			continue
		}
		task, err := storedTask(ctx, repo, dir.OID)
		switch {
		case errors.Is(err, git.ErrMissing) && ctx.Err() == nil:
			continue
		case err != nil:
			return nil, fmt.Errorf("read task %s: %w", dir.Name, err)
		}
		if task.ToolUse = dir.Name; task.Session == "" && len(c.Sessions) == 1 {
			task.Session = c.Sessions[0].Meta.SessionID
		}
		if len(task.Text.Segments) > 0 && session.CheckID(task.Session) == nil && transcript.IsToolID(task.Agent) {
			found = append(found, task)
		}
	}
	return found, nil
}

// storedTask reads the directory of a task.
func storedTask(ctx context.Context, repo *git.Repo, dir git.OID) (task StoredTask, err error) {
	entries, err := repo.Tree(ctx, dir)
	if err != nil {
		return task, err
	}
	isRecord := func(e git.TreeEntry) bool {
		return e.Mode != git.ModeTree && (e.Name == TaskFile || e.Name == otherTaskFile)
	}
	at := slices.IndexFunc(entries, isRecord) // sorted by name: TaskFile first
	if at < 0 {
		return StoredTask{}, nil
	}
	data, err := ReadBlob(ctx, repo, entries[at].OID)
	if err != nil || json.Unmarshal(data, &task.TaskEnd) != nil {
		return StoredTask{}, err
	}
	task.Text = agentTranscript(entries)
	return task, nil
}
