// Package transcript reads the transcript that a coding agent keeps of a
// session: a file of JSON lines that grows while the agent works.
//
// A [Read] takes up where an earlier one ended, so that a hook pays for the new
// bytes only, and returns their prompts, edits, tool calls and tokens.
// The format is the agent's own and not documented: every field may be absent
// or of another type, a line may be of any length or be no JSON at all, and
// none of that is an error. Nothing here writes, and nothing is redacted.
package transcript

import (
	"errors"
	"time"
)

// Errors that Read, Lines and CheckPath wrap.
var (
	// ErrNotFound reports whether there is no such file (yet: an agent names its
	// transcript before it makes it).
	ErrNotFound = errors.New("no such transcript")
	// ErrNotRegular reports whether the path is a directory, pipe or device.
	ErrNotRegular = errors.New("not a regular file")
	// ErrOutside reports whether a path is not in the agent's session directories.
	ErrOutside = errors.New("outside the agent's session directories")
)

// Cursor is a place in a transcript, to be saved between two scans. The zero
// Cursor is the beginning of any file.
type Cursor struct {
	// Offset is where the next scan begins: behind a line that was read.
	Offset int64 `json:"offset"`
	// Lines counts the lines before Offset, empty ones too.
	Lines int `json:"lines"`
	// Device and Inode are the file's, 0 where the system has none.
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	// Tail is a hash of the last 4 KiB before Offset: 16 hex digits, "" at 0.
	Tail string `json:"tail"`
}

// Usage is a number of tokens, by kind.
type Usage struct {
	Input         int64 `json:"input_tokens"`
	CacheCreation int64 `json:"cache_creation_tokens"`
	CacheRead     int64 `json:"cache_read_tokens"`
	Output        int64 `json:"output_tokens"`
}

// Prompt is what a person asked of the agent.
type Prompt struct {
	// Text is without the tags that the agent adds, trimmed, never empty.
	Text string
	// Line is the number of its line, from 0.
	Line int
	// Time is zero if the line has none.
	Time time.Time
	UUID string
}

// Edit is one use of a tool that names the file it changes.
type Edit struct {
	// Path is as the tool was given it: absolute or not, unchecked, not clean.
	Path string
	// Line is the number of its line, from 0.
	Line int
	// ToolID is the id of the tool use.
	ToolID string
	// Start and End are the times of the use's line and of its result's, zero if
	// they have none or the scan ends between them.
	Start, End time.Time
}

// Call is one use of a tool that may write files without naming them.
type Call struct {
	ID string `json:"id"`
	// Tool is the tool's name as far as it is one: up to the first byte that
	// no tool name has.
	Tool string `json:"tool"`
	// Start and End are the times of the call's line and of its result's; End
	// is zero while the call is Open, both are zero if the lines have no time.
	Start time.Time `json:"start,omitzero"`
	End   time.Time `json:"end,omitzero"`
	// Open reports whether the call may still be writing: it has no result yet, or
	// it went on in the background and no line records its end.
	Open bool `json:"open,omitempty"`
	// Line is the number of its line, from 0.
	Line int `json:"line"`

	// Command is the beginning of what a shell was given.
	Command string `json:"-"`
	// Background reports whether the call is Open because it went on in the background.
	Background bool `json:"-"`
}

// Message is one answer of the model.
type Message struct {
	ID string
	// Usage is the record with the most output tokens among the lines of this
	// message in the scan: the lines repeat it, some with a placeholder. A scan
	// that begins within a message reports it once more.
	Usage Usage
}

// Scan is what [Read] found in the lines that it read.
type Scan struct {
	// Cursor is where the next scan continues.
	Cursor Cursor
	// Restarted reports whether the given cursor did not fit the file, so that this
	// scan is of the file from its beginning.
	Restarted bool
	// First is the number of the first line read, from 0.
	First int

	// Prompts, Edits, Calls and Messages are in the order of the file. Edits
	// whose result is an error in the same scan are left out.
	Prompts  []Prompt
	Edits    []Edit
	Calls    []Call
	Messages []Message
	// Closed holds the tool uses of earlier scans that ended in this one, by
	// id, and when. Nil if there are none.
	Closed map[string]time.Time

	// Answers are the uuids of the lines with the results of tool uses, by the
	// id of the use: those of subagents' tasks and those of earlier scans.
	Answers map[string]string

	// Subagents are those whose tool use began and has its result in this scan.
	Subagents []Subagent

	// Model is the name of the model of the last message, empty if there is none.
	Model string

	// LastAssistant is the last text that the agent itself, no subagent, wrote.
	LastAssistant string
	// LastUUID is the last line's of the conversation, subagents left out.
	LastUUID string
	// FirstTime and LastTime are the least and greatest time of a line in the
	// conversation; zero if no line has one.
	FirstTime, LastTime time.Time
	// Bad counts the lines that are no JSON object.
	Bad int
}
