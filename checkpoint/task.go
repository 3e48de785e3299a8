package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint/segments"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Files and folders of a task, in a session's directory in a shadow tree and in
// a checkpoint.
const (
	tasksDir     = "tasks"
	taskFile     = "checkpoint.json"
	taskStepsDir = "checkpoints"
)

// ErrToolID means that an id can't name a folder.
var ErrToolID = errors.New("invalid id of a tool use")

// Task is a subagent's task on its way to the shadow branch, all of it redacted.
type Task struct {
	Session, ToolUse string
	Strategy         string // empty for the usual one
	Subject          string
	// Files are what the session's metadata directory gets: see EndOfTask and
	// StepOfTask.
	Files []gittree.Edit
}

// TasksDir is the directory of a session's tasks in shadow trees.
func TasksDir(sessionID string) string { return MetadataDir(sessionID) + "/" + tasksDir }

// TaskDir is the directory of a task in shadow trees.
func TaskDir(sessionID, toolUse string) string { return TasksDir(sessionID) + "/" + toolUse }

// TaskEnd is what the last checkpoint of a task says.
type TaskEnd struct {
	Session string `json:"session_id"`
	ToolUse string `json:"tool_use_id"`
	// UUID is that of the line of the session's transcript with the result.
	UUID  string `json:"checkpoint_uuid"`
	Agent string `json:"agent_id"`
}

// Entry writes the file of a task's end, and returns its entry.
func (e TaskEnd) Entry(repo *git.Repo) (git.TreeEntry, error) {
	data, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return git.TreeEntry{}, fmt.Errorf("encode task: %w", err)
	}
	oid, err := segments.WriteBlob(repo, data)
	return git.TreeEntry{Mode: git.ModeFile, Name: taskFile, OID: oid}, err
}

// ReadTask reads the end of a task in [Checkpoint.Tasks], false if there is none.
func ReadTask(ctx context.Context, repo *git.Repo, tasks git.OID, toolUse string) (TaskEnd, bool, error) {
	if !transcript.IsToolID(toolUse) {
		return TaskEnd{}, false, nil
	}
	return readTask(ctx, repo, tasks, toolUse)
}

// ReadTaskEnd reads the end of a task in a shadow tree, false if there is none.
func ReadTaskEnd(ctx context.Context, repo *git.Repo, tree git.OID, sessionID, toolUse string) (TaskEnd, bool, error) {
	if valid := session.CheckID(sessionID) == nil && transcript.IsToolID(toolUse); !valid {
		return TaskEnd{}, false, nil
	}
	return readTask(ctx, repo, tree, TaskDir(sessionID, toolUse))
}

func readTask(ctx context.Context, repo *git.Repo, tree git.OID, dir string) (TaskEnd, bool, error) {
	entry, found, err := gittree.Lookup(ctx, repo, tree, dir+"/"+taskFile)
	if err != nil || !found {
		return TaskEnd{}, false, err
	}
	data, err := segments.ReadBlob(ctx, repo, entry.OID)
	if err != nil {
		return TaskEnd{}, false, err
	}
	var end TaskEnd
	whole := json.Unmarshal(data, &end) == nil // a damaged one is as good as none
	return end, whole, nil
}

// EndOfTask writes what the last checkpoint of a task keeps: how it ended, the
// subagent's transcript, and the session's as it is now. It returns the edits
// for [Task.Files].
func EndOfTask(repo *git.Repo, end TaskEnd, agent []git.OID, main segments.Transcript) ([]gittree.Edit, error) {
	edits, err := end.files(repo, TaskDir(end.Session, end.ToolUse), agent)
	if err != nil {
		return nil, err
	}
	parts, err := main.Entries()
	for _, e := range parts {
		edits = append(edits, gittree.Edit{Path: MetadataDir(end.Session) + "/" + e.Name, Mode: e.Mode, OID: e.OID})
	}
	return edits, err
}

// FilesOfTask writes what a checkpoint of a commit keeps of a task: how it ended, and the
// subagent's transcript. It returns the edits for [PutTasks].
func FilesOfTask(repo *git.Repo, end TaskEnd, agent []git.OID) ([]gittree.Edit, error) {
	return end.files(repo, end.ToolUse, agent)
}

// files writes the file of a task's end and returns the edits that put it and the
// subagent's transcript into dir.
func (e TaskEnd) files(repo *git.Repo, dir string, agent []git.OID) ([]gittree.Edit, error) {
	entry, err := e.Entry(repo)
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

// TaskStep is what a checkpoint within a task says: what the subagent noted of
// its plan.
type TaskStep struct {
	Tool    string          `json:"type"`
	ToolUse string          `json:"tool_use_id"`
	Time    time.Time       `json:"timestamp"`
	Data    json.RawMessage `json:"data"`
}

// StepOfTask writes the file of the n-th step of a task, from 1, and returns
// the edits for [Task.Files].
func StepOfTask(repo *git.Repo, sessionID string, n int, step TaskStep) ([]gittree.Edit, error) {
	data, err := json.MarshalIndent(step, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode step of a task: %w", err)
	}
	oid, err := segments.WriteBlob(repo, data)
	name := fmt.Sprintf("%03d-%s.json", n, step.ToolUse)
	return []gittree.Edit{{Path: path.Join(TaskDir(sessionID, step.ToolUse), taskStepsDir, name), Mode: git.ModeFile, OID: oid}}, err
}

// WriteTask makes the shadow commit of a task: at.Tree with the edits and the
// task's files. It writes objects only. It returns false, and makes no commit,
// if nothing differs from the tip.
func WriteTask(ctx context.Context, repo *git.Repo, at Tip, edits []gittree.Edit, t Task, by git.Signature) (git.OID, bool, error) {
	if err := session.CheckID(t.Session); err != nil {
		return "", false, fmt.Errorf("write task checkpoint: %w", err)
	}
	if !transcript.IsToolID(t.ToolUse) {
		return "", false, fmt.Errorf("write task checkpoint: %w: %.40q", ErrToolID, t.ToolUse)
	}
	return commitShadow(ctx, repo, at, slices.Concat(edits, t.Files), git.Commit{Author: by, Committer: by, Message: taskMessage(t)})
}

// taskMessage is the message of a task's shadow commit.
func taskMessage(t Task) string {
	return shadowMessage(t.Subject, TaskKey+": "+TaskDir(t.Session, t.ToolUse), t.Session, t.Strategy)
}

// TaskOf returns the tool use that the value of a trailer with TaskKey names,
// on the shadow branch or the metadata branch; false if it names none.
func TaskOf(dir string) (toolUse string, ok bool) {
	_, rest, found := strings.Cut(dir, "/"+tasksDir+"/")
	toolUse, _, _ = strings.Cut(rest, "/")
	return toolUse, found && transcript.IsToolID(toolUse)
}

// Subject parts of task commits.
const (
	subjectText = 60
	subjectID   = 12
)

// EndSubject is the subject of a task's last checkpoint.
func EndSubject(kind, description, toolUse string) string {
	id, description := shortID(toolUse), shorten(oneLine(description), subjectText)
	switch {
	case kind != "" && description != "":
		return fmt.Sprintf("Completed '%s' agent: %s (%s)", oneLine(kind), description, id)
	case kind != "":
		return fmt.Sprintf("Completed '%s' agent (%s)", oneLine(kind), id)
	case description != "":
		return fmt.Sprintf("Completed agent: %s (%s)", description, id)
	default:
		return "Task: " + id
	}
}

// Todo is an item of a subagent's plan.
type Todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// StepSubject is the subject of the n-th checkpoint within a task.
func StepSubject(todos []Todo, n int, toolUse string) string {
	id, last := shortID(toolUse), ""
	for _, t := range todos {
		if t.Status == "completed" && t.Content != "" {
			last = shorten(oneLine(t.Content), subjectText)
		}
	}
	switch {
	case last != "":
		return fmt.Sprintf("%s (%s)", last, id)
	case len(todos) > 0:
		return fmt.Sprintf("Planning: %d todos (%s)", len(todos), id)
	default:
		return fmt.Sprintf("Checkpoint #%d: %s", n, id)
	}
}

func shortID(toolUse string) string { return toolUse[:min(len(toolUse), subjectID)] }

// shorten cuts a text to so many code points, the dots that say so included.
func shorten(text string, most int) string {
	const dots = "..."
	if cutRunes(text, most) == text {
		return text
	}
	return cutRunes(text, most-len(dots)) + dots
}

// maxTaskFiles bounds what is read of one session's task checkpoints.
const maxTaskFiles = 10_000

// Tasks lists the files of a session's task checkpoints in a shadow tree, by
// their paths below the directory of tasks. What can't be a part of one is left
// out.
func Tasks(ctx context.Context, repo *git.Repo, shadow git.OID, sessionID string) ([]gittree.Edit, error) {
	dir, found, err := gittree.Lookup(ctx, repo, shadow, TasksDir(sessionID))
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

// taskFiles adds the files of a task: those in its directory and in the one of
// its incremental checkpoints.
func taskFiles(ctx context.Context, repo *git.Repo, files []gittree.Edit, dir string, tree git.OID) ([]gittree.Edit, error) {
	entries, err := repo.Tree(ctx, tree)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		switch {
		case len(files) >= maxTaskFiles || !git.ValidPath(name):
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

// PutTasks puts files of task checkpoints, by the paths that Tasks gives, into
// the checkpoint id in v1Tree, and returns the new tree. Their contents must be
// redacted.
func PutTasks(ctx context.Context, repo *git.Repo, v1Tree git.OID, id ID, files []gittree.Edit) (git.OID, error) {
	if len(files) == 0 {
		return v1Tree, nil
	}
	edits := make([]gittree.Edit, len(files))
	for i, f := range files {
		edits[i] = gittree.Edit{Path: id.Dir() + "/" + tasksDir + "/" + f.Path, Mode: f.Mode, OID: f.OID}
	}
	next, err := gittree.Apply(ctx, repo, v1Tree, edits)
	if err != nil {
		return "", fmt.Errorf("put tasks into checkpoint %s: %w", id, err)
	}
	return next, nil
}
