// Package tasks implements the format of subagents' tasks: their directories in shadow trees and in
// checkpoints, the shadow commits of their checkpoints, and the stored transcripts of the
// subagents. docs/formats/checkpoint.md describes it.
package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/checkpoint/segments"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// stepsDir is the folder of the checkpoints within a task, in its directory.
const stepsDir = "checkpoints"

// ErrToolID means that an id is not valid as a folder name.
var ErrToolID = errors.New("invalid id of a tool use")

// Task holds the data for a shadow commit of a subagent's task, all of it redacted.
type Task struct {
	Session, ToolUse string
	Strategy         string // empty for the default
	Subject          string
	// Files are the edits of the session's metadata directory: see WriteEnd and WriteStep.
	Files []gittree.Edit
}

// ShadowDir returns the directory of a session's tasks in shadow trees.
func ShadowDir(sessionID string) string {
	return checkpoint.MetadataDir(sessionID) + "/" + checkpoint.TasksDir
}

// Dir returns the directory of a task in shadow trees.
func Dir(sessionID, toolUse string) string { return ShadowDir(sessionID) + "/" + toolUse }

// End is the record of a task's end, written by its last checkpoint.
type End struct {
	Session string `json:"session_id"`
	ToolUse string `json:"tool_use_id"`
	// UUID is the uuid of the line with the result in the session's transcript.
	UUID  string `json:"checkpoint_uuid"`
	Agent string `json:"agent_id"`
}

// WriteEntry writes the file of a task's end and returns its tree entry.
func (e End) WriteEntry(repo *git.Repo) (git.TreeEntry, error) {
	data, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return git.TreeEntry{}, fmt.Errorf("encode task: %w", err)
	}
	oid, err := segments.WriteBlob(repo, data)
	return git.TreeEntry{Mode: git.ModeFile, Name: checkpoint.TaskFile, OID: oid}, err
}

// ReadEnd reads the end of a task in [checkpoint.Checkpoint.Tasks], false if there is none.
func ReadEnd(ctx context.Context, repo *git.Repo, tasks git.OID, toolUse string) (End, bool, error) {
	if !transcript.IsToolID(toolUse) {
		return End{}, false, nil
	}
	return readEnd(ctx, repo, tasks, toolUse)
}

// ReadShadowEnd reads the end of a task in a shadow tree, false if there is none.
func ReadShadowEnd(ctx context.Context, repo *git.Repo, tree git.OID, sessionID, toolUse string) (End, bool, error) {
	if valid := session.CheckID(sessionID) == nil && transcript.IsToolID(toolUse); !valid {
		return End{}, false, nil
	}
	return readEnd(ctx, repo, tree, Dir(sessionID, toolUse))
}

func readEnd(ctx context.Context, repo *git.Repo, tree git.OID, dir string) (End, bool, error) {
	entry, found, err := gittree.Lookup(ctx, repo, tree, dir+"/"+checkpoint.TaskFile)
	if err != nil || !found {
		return End{}, false, err
	}
	data, err := segments.ReadBlob(ctx, repo, entry.OID)
	if err != nil {
		return End{}, false, err
	}
	var end End
	whole := json.Unmarshal(data, &end) == nil // a damaged one is treated as missing
	return end, whole, nil
}

// WriteEnd writes the files of a task's last checkpoint: the end of the task, the subagent's
// transcript, and the session's present one. It returns the edits for [Task.Files].
func WriteEnd(repo *git.Repo, end End, agent []git.OID, main segments.Transcript) ([]gittree.Edit, error) {
	edits, err := end.files(repo, Dir(end.Session, end.ToolUse), agent)
	if err != nil {
		return nil, err
	}
	parts, err := main.Entries()
	for _, e := range parts {
		edits = append(edits, gittree.Edit{Path: checkpoint.MetadataDir(end.Session) + "/" + e.Name, Mode: e.Mode, OID: e.OID})
	}
	return edits, err
}

// WriteFiles writes the files of a task in a checkpoint of a commit: the end of the task and the
// subagent's transcript. It returns the edits for [Put].
func WriteFiles(repo *git.Repo, end End, agent []git.OID) ([]gittree.Edit, error) {
	return end.files(repo, end.ToolUse, agent)
}

// files writes the file of a task's end and returns the edits that add it and the subagent's
// transcript to dir.
func (e End) files(repo *git.Repo, dir string, agent []git.OID) ([]gittree.Edit, error) {
	entry, err := e.WriteEntry(repo)
	if err != nil {
		return nil, err
	}
	edits := []gittree.Edit{{Path: dir + "/" + entry.Name, Mode: entry.Mode, OID: entry.OID}}
	for i, oid := range agent {
		name := "agent-" + e.Agent + ".jsonl"
		if i > 0 {
			name = fmt.Sprintf("%s.%03d", name, i)
		}
		edits = append(edits, gittree.Edit{Path: dir + "/" + name, Mode: git.ModeFile, OID: oid})
	}
	return edits, nil
}

// Step is the record of a checkpoint within a task: a change of the subagent's plan.
type Step struct {
	Tool    string          `json:"type"`
	ToolUse string          `json:"tool_use_id"`
	Time    time.Time       `json:"timestamp"`
	Data    json.RawMessage `json:"data"`
}

// WriteStep writes the file of the n-th step of a task, from 1, and returns
// the edits for [Task.Files].
func WriteStep(repo *git.Repo, sessionID string, n int, step Step) ([]gittree.Edit, error) {
	data, err := json.MarshalIndent(step, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode step of a task: %w", err)
	}
	oid, err := segments.WriteBlob(repo, data)
	name := fmt.Sprintf("%03d-%s.json", n, step.ToolUse)
	return []gittree.Edit{{Path: path.Join(Dir(sessionID, step.ToolUse), stepsDir, name), Mode: git.ModeFile, OID: oid}}, err
}

// WriteShadow writes the shadow commit of a task: at.Tree with the edits and the task's files. It
// writes objects only. It returns false, and makes no commit, if nothing differs from the tip.
func WriteShadow(ctx context.Context, repo *git.Repo, at checkpoint.Tip, edits []gittree.Edit, t Task, by git.Signature) (git.OID, bool, error) {
	if err := session.CheckID(t.Session); err != nil {
		return "", false, fmt.Errorf("write task checkpoint: %w", err)
	}
	if !transcript.IsToolID(t.ToolUse) {
		return "", false, fmt.Errorf("write task checkpoint: %w: %.40q", ErrToolID, t.ToolUse)
	}
	return checkpoint.CommitShadow(ctx, repo, at, slices.Concat(edits, t.Files), checkpoint.ShadowCommit{
		Session: t.Session, Strategy: t.Strategy, Subject: t.Subject, Key: checkpoint.TaskKey, Dir: Dir(t.Session, t.ToolUse), By: by,
	})
}

// ToolUse returns the tool use named by the value of a trailer with checkpoint.TaskKey, on the
// shadow branch or the metadata branch; false if it names none.
func ToolUse(dir string) (toolUse string, ok bool) {
	_, rest, found := strings.Cut(dir, "/"+checkpoint.TasksDir+"/")
	toolUse, _, _ = strings.Cut(rest, "/")
	return toolUse, found && transcript.IsToolID(toolUse)
}

// maxFiles is the maximum number of files read of one session's task checkpoints.
const maxFiles = 10_000

// ListShadow lists the files of a session's task checkpoints in a shadow tree, with paths relative
// to the directory of tasks. Entries that can't belong to a task are left out.
func ListShadow(ctx context.Context, repo *git.Repo, shadow git.OID, sessionID string) ([]gittree.Edit, error) {
	dir, found, err := gittree.Lookup(ctx, repo, shadow, ShadowDir(sessionID))
	if err != nil || !found || dir.Mode != git.ModeTree {
		return nil, err
	}
	tasks, err := repo.Tree(ctx, dir.OID)
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	var files []gittree.Edit
	for _, task := range tasks {
		if task.Mode != git.ModeTree || !transcript.IsToolID(task.Name) {
			continue
		}
		if files, err = taskFiles(ctx, repo, files, task.Name, task.OID); err != nil {
			return nil, fmt.Errorf("list task %s: %w", task.Name, err)
		}
	}
	return files, nil
}

// taskFiles appends the files of a task: those in its directory and in its directory of incremental
// checkpoints.
func taskFiles(ctx context.Context, repo *git.Repo, files []gittree.Edit, dir string, tree git.OID) ([]gittree.Edit, error) {
	entries, err := repo.Tree(ctx, tree)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		switch {
		case len(files) >= maxFiles || !git.ValidPath(name):
		case e.Mode == git.ModeFile:
			files = append(files, gittree.Edit{Path: name, Mode: e.Mode, OID: e.OID})
		case e.Mode == git.ModeTree && !strings.Contains(dir, "/"):
			if files, err = taskFiles(ctx, repo, files, name, e.OID); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// Put adds files of task checkpoints, with paths as returned by ListShadow, to the checkpoint id in
// v1Tree, and returns the new tree. Their contents must be redacted.
func Put(ctx context.Context, repo *git.Repo, v1Tree git.OID, id checkpoint.ID, files []gittree.Edit) (git.OID, error) {
	if len(files) == 0 {
		return v1Tree, nil
	}
	edits := make([]gittree.Edit, len(files))
	for i, f := range files {
		edits[i] = gittree.Edit{Path: id.Dir() + "/" + checkpoint.TasksDir + "/" + f.Path, Mode: f.Mode, OID: f.OID}
	}
	next, err := gittree.Apply(ctx, repo, v1Tree, edits)
	if err != nil {
		return "", fmt.Errorf("put tasks into checkpoint %s: %w", id, err)
	}
	return next, nil
}
