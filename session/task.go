package session

import (
	"maps"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/session/transcript"
)

// Task describes a subagent and the tool call that started it.
type Task struct {
	ToolUse string `json:"tool_use_id"`
	// Agent is the subagent's id, empty until it is known.
	Agent string `json:"agent_id,omitempty"`
	// Type and Description are taken from the call, redacted.
	Type        string    `json:"type,omitempty"`
	Description string    `json:"description,omitempty"`
	Turn        string    `json:"turn_id,omitempty"`
	Started     time.Time `json:"started,omitzero"`
	// Steps is the number of its checkpoints before the last one.
	Steps int       `json:"steps,omitempty"`
	Phase TaskPhase `json:"phase,omitempty"`
	// Answer is the uuid of the transcript line with the call's result.
	Answer string `json:"answer,omitempty"`
	// Stored are the ids of the blobs with the subagent's redacted transcript, as of the end of the
	// task. Git may remove them before a checkpoint refers to them.
	Stored []string `json:"stored,omitempty"`
}

// TaskPhase is the phase of a task.
type TaskPhase string

// The phases of a task.
const (
	TaskRunning    TaskPhase = ""           // the agent waits for it
	TaskBackground TaskPhase = "background" // the agent does not wait for it
	TaskStopped    TaskPhase = "stopped"    // its last checkpoint has not been made yet
	TaskDone       TaskPhase = "done"
)

// Runs reports whether the task may still change files.
func (t *Task) Runs() bool { return t.Phase == TaskRunning || t.Phase == TaskBackground }

// maxTasks is the maximum number of tasks in a state.
const maxTasks = 200

// AddTask adds a task and returns it. If there are maxTasks already, it removes the oldest one that
// is done, or else the oldest.
func (r *Recorder) AddTask(t Task) *Task {
	if len(r.Tasks) >= maxTasks {
		at := max(0, slices.IndexFunc(r.Tasks, func(t Task) bool { return t.Phase == TaskDone }))
		r.Tasks = slices.Delete(r.Tasks, at, at+1)
	}
	r.Tasks = append(r.Tasks, t)
	return &r.Tasks[len(r.Tasks)-1]
}

// FindTask returns the first wanted task, nil if there is none. The pointer is valid until tasks
// are added or dropped.
func (r *Recorder) FindTask(wanted func(*Task) bool) *Task {
	for i := range r.Tasks {
		if wanted(&r.Tasks[i]) {
			return &r.Tasks[i]
		}
	}
	return nil
}

// DropTasks removes the tasks that are done, except those of kept turns. From these it removes the
// stored transcripts, which a checkpoint has by now.
func (r *Recorder) DropTasks(kept func(turn string) bool) {
	r.Tasks = slices.DeleteFunc(r.Tasks, func(t Task) bool { return t.Phase == TaskDone && !kept(t.Turn) })
	for i := range r.Tasks {
		if t := &r.Tasks[i]; t.Phase == TaskDone {
			t.Stored = nil
		}
	}
}

// Agents records how far the transcripts of a session's subagents have been read.
type Agents struct {
	// Read holds the cursors by file name. A file without one is new if it changed after Since.
	Read  map[string]transcript.Cursor `json:"read,omitempty"`
	Since time.Time                    `json:"since,omitzero"`
}

// SubagentFiles lists the transcripts of the subagents of the session whose transcript is path:
// those in its folder, those of tasks and, if there is no folder, those read before.
func (r *Recorder) SubagentFiles(path string) ([]transcript.SubagentFile, error) {
	files, err := transcript.SubagentFiles(path)
	if err != nil {
		return nil, err
	}
	listed := map[string]bool{}
	for _, f := range files {
		listed[transcript.SubagentID(f.Name)] = true
	}
	add := func(id string) {
		if listed[id] {
			return
		}
		if f, found := transcript.FindSubagent(path, id); found {
			files, listed[id] = append(files, f), true
		}
	}
	for _, t := range r.Tasks {
		add(t.Agent)
	}
	if transcript.SubagentDir(path) == "" {
		for _, name := range slices.Sorted(maps.Keys(r.Agents.Read)) {
			add(transcript.SubagentID(name))
		}
	}
	return files, nil
}
