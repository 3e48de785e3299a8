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

	"github.com/seed-3aff656d/entire/internal/git"
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
	// Files are the edits of the session's metadata directory: see WriteTaskEnd and WriteTaskStep.
	Files []git.TreeEdit
}

// ShadowTasksDir returns the directory of a session's tasks in shadow trees.
func ShadowTasksDir(sessionID string) string {
	return MetadataDir(sessionID) + "/" + TasksDir
}

// TaskDir returns the directory of a task in shadow trees.
func TaskDir(sessionID, toolUse string) string { return ShadowTasksDir(sessionID) + "/" + toolUse }

// TaskEnd is the record of a task's end, written by its last checkpoint.
type TaskEnd struct {
	// Session is empty if the record doesn't name it: see IsOf.
	Session string `json:"session_id"`
	ToolUse string `json:"tool_use_id"`
	// UUID is the uuid of the line with the result in the session's transcript.
	UUID  string `json:"checkpoint_uuid"`
	Agent string `json:"agent_id"`
}

// IsOf reports whether the task belongs to a session of its checkpoint. only reports that the checkpoint
// has no other session.
func (e TaskEnd) IsOf(session string, only bool) bool {
	return e.Session == session || e.Session == "" && only
}

// WriteEntry writes the file of a task's end and returns its tree entry.
func (e TaskEnd) WriteEntry(repo *git.Repo) (git.TreeEntry, error) {
	data, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return git.TreeEntry{}, fmt.Errorf("encode task: %w", err)
	}
	oid, err := WriteBlob(repo, data)
	return git.TreeEntry{Mode: git.ModeFile, Name: TaskFile, OID: oid}, err
}

// ReadTaskEnd reads the end of a task in [Checkpoint.Tasks], false if there is none.
func ReadTaskEnd(ctx context.Context, repo *git.Repo, tasks git.OID, toolUse string) (TaskEnd, bool, error) {
	if !transcript.IsToolID(toolUse) {
		return TaskEnd{}, false, nil
	}
	return readEndIn(ctx, repo, tasks, toolUse)
}

// ReadShadowTaskEnd reads the end of a task in a shadow tree, false if there is none.
func ReadShadowTaskEnd(ctx context.Context, repo *git.Repo, tree git.OID, sessionID, toolUse string) (TaskEnd, bool, error) {
	if valid := session.CheckID(sessionID) == nil && transcript.IsToolID(toolUse); !valid {
		return TaskEnd{}, false, nil
	}
	return readEndIn(ctx, repo, tree, TaskDir(sessionID, toolUse))
}

func readEndIn(ctx context.Context, repo *git.Repo, tree git.OID, dir string) (TaskEnd, bool, error) {
	entry, found, err := git.LookupPath(ctx, repo, tree, dir+"/"+TaskFile)
	if err == nil && !found {
		entry, found, err = git.LookupPath(ctx, repo, tree, dir+"/"+otherTaskFile)
	}
	if err != nil || !found {
		return TaskEnd{}, false, err
	}
	data, err := ReadBlob(ctx, repo, entry.OID)
	if err != nil {
		return TaskEnd{}, false, err
	}
	var end TaskEnd
	whole := json.Unmarshal(data, &end) == nil // a damaged one is treated as missing
	return end, whole, nil
}

// WriteTaskEnd writes the files of a task's last checkpoint: the end of the task, the subagent's
// transcript, and the session's present one. It returns the edits for [Task.Files].
func WriteTaskEnd(repo *git.Repo, end TaskEnd, agent []git.OID, main StoredTranscript) ([]git.TreeEdit, error) {
	edits, err := end.files(repo, TaskDir(end.Session, end.ToolUse), agent)
	if err != nil {
		return nil, err
	}
	parts, err := main.Entries()
	for _, e := range parts {
		edits = append(edits, git.TreeEdit{Path: MetadataDir(end.Session) + "/" + e.Name, Mode: e.Mode, OID: e.OID})
	}
	return edits, err
}

// WriteTaskFiles writes the files of a task in a checkpoint of a commit: the end of the task and
// the subagent's transcript. It returns the edits for [PutTasks].
func WriteTaskFiles(repo *git.Repo, end TaskEnd, agent []git.OID) ([]git.TreeEdit, error) {
	return end.files(repo, end.ToolUse, agent)
}

// files writes the file of a task's end and returns the edits that add it and the subagent's
// transcript to dir.
func (e TaskEnd) files(repo *git.Repo, dir string, agent []git.OID) ([]git.TreeEdit, error) {
	entry, err := e.WriteEntry(repo)
	if err != nil {
		return nil, err
	}
	edits := []git.TreeEdit{{Path: dir + "/" + entry.Name, Mode: entry.Mode, OID: entry.OID}}
	for i, oid := range agent {
		name := "agent-" + e.Agent + ".jsonl"
		if i > 0 {
			name = fmt.Sprintf("%s.%03d", name, i)
		}
		edits = append(edits, git.TreeEdit{Path: dir + "/" + name, Mode: git.ModeFile, OID: oid})
	}
	return edits, nil
}

// TaskStep is the record of a checkpoint within a task: a change of the subagent's plan.
type TaskStep struct {
	Tool    string          `json:"type"`
	ToolUse string          `json:"tool_use_id"`
	Time    time.Time       `json:"timestamp"`
	Data    json.RawMessage `json:"data"`
}

// WriteTaskStep writes the file of the n-th step of a task, from 1, and returns
// the edits for [Task.Files].
func WriteTaskStep(repo *git.Repo, sessionID string, n int, step TaskStep) ([]git.TreeEdit, error) {
	data, err := json.MarshalIndent(step, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode step of a task: %w", err)
	}
	oid, err := WriteBlob(repo, data)
	name := fmt.Sprintf("%03d-%s.json", n, step.ToolUse)
	return []git.TreeEdit{{Path: path.Join(TaskDir(sessionID, step.ToolUse), stepsDir, name), Mode: git.ModeFile, OID: oid}}, err
}

// WriteShadowTask writes the shadow commit of a task: at.Tree with the edits and the task's files.
// It writes objects only. It returns false, and makes no commit, if nothing differs from the tip.
func WriteShadowTask(ctx context.Context, repo *git.Repo, at Tip, edits []git.TreeEdit, t Task, by git.Signature) (git.OID, bool, error) {
	if err := session.CheckID(t.Session); err != nil {
		return "", false, fmt.Errorf("write task checkpoint: %w", err)
	}
	if !transcript.IsToolID(t.ToolUse) {
		return "", false, fmt.Errorf("write task checkpoint: %w: %.40q", ErrToolID, t.ToolUse)
	}
	return CommitShadow(ctx, repo, at, slices.Concat(edits, t.Files), ShadowCommit{
		Session: t.Session, Strategy: t.Strategy, Subject: t.Subject, Key: TaskKey, Dir: TaskDir(t.Session, t.ToolUse), By: by,
	})
}

// TaskToolUse returns the tool use named by the value of a trailer with TaskKey, on the
// shadow branch or the metadata branch; false if it names none.
func TaskToolUse(dir string) (toolUse string, ok bool) {
	_, rest, found := strings.Cut(dir, "/"+TasksDir+"/")
	toolUse, _, _ = strings.Cut(rest, "/")
	return toolUse, found && transcript.IsToolID(toolUse)
}

// maxTaskFiles is the maximum number of files read of one session's task checkpoints.
const maxTaskFiles = 10_000

// ListShadowTasks lists the files of a session's task checkpoints in a shadow tree, with paths
// relative to the directory of tasks. Entries that can't belong to a task are left out.
func ListShadowTasks(ctx context.Context, repo *git.Repo, shadow git.OID, sessionID string) ([]git.TreeEdit, error) {
	dir, found, err := git.LookupPath(ctx, repo, shadow, ShadowTasksDir(sessionID))
	if err != nil || !found || dir.Mode != git.ModeTree {
		return nil, err
	}
	tasks, err := repo.Tree(ctx, dir.OID)
	if err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	var files []git.TreeEdit
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
func taskFiles(ctx context.Context, repo *git.Repo, files []git.TreeEdit, dir string, tree git.OID) ([]git.TreeEdit, error) {
	entries, err := repo.Tree(ctx, tree)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		switch {
		case len(files) >= maxTaskFiles || !git.ValidPath(name):
		case e.Mode == git.ModeFile:
			files = append(files, git.TreeEdit{Path: name, Mode: e.Mode, OID: e.OID})
		case e.Mode == git.ModeTree && !strings.Contains(dir, "/"):
			if files, err = taskFiles(ctx, repo, files, name, e.OID); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// PutTasks adds files of task checkpoints, with paths as returned by ListShadowTasks, to the
// directory of a checkpoint, and returns the new one. Their contents must be redacted.
func PutTasks(ctx context.Context, repo *git.Repo, dir git.OID, files []git.TreeEdit) (git.OID, error) {
	if len(files) == 0 {
		return dir, nil
	}
	edits := make([]git.TreeEdit, len(files))
	for i, f := range files {
		edits[i] = git.TreeEdit{Path: TasksDir + "/" + f.Path, Mode: f.Mode, OID: f.OID}
	}
	next, err := git.EditTree(ctx, repo, dir, edits)
	if err != nil {
		return "", fmt.Errorf("put tasks into a checkpoint: %w", err)
	}
	return next, nil
}

// Lengths of the parts of task commits' subjects.
const (
	subjectText = 60
	subjectID   = 12
)

// TaskEndSubject returns the subject of a task's last checkpoint.
func TaskEndSubject(kind, description, toolUse string) string {
	id, description := shortID(toolUse), shorten(OneLine(description), subjectText)
	switch {
	case kind != "" && description != "":
		return fmt.Sprintf("Completed '%s' agent: %s (%s)", OneLine(kind), description, id)
	case kind != "":
		return fmt.Sprintf("Completed '%s' agent (%s)", OneLine(kind), id)
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

// TaskStepSubject returns the subject of the n-th checkpoint within a task.
func TaskStepSubject(todos []Todo, n int, toolUse string) string {
	id, last := shortID(toolUse), ""
	for _, t := range todos {
		if t.Status == "completed" && t.Content != "" {
			last = shorten(OneLine(t.Content), subjectText)
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

// shorten cuts a text to at most the given number of code points, including the dots at its end.
func shorten(text string, most int) string {
	const dots = "..."
	points := []rune(text)
	if len(points) <= most {
		return text
	}
	return string(points[:most-len(dots)]) + dots
}
