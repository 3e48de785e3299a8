// Package transcript reads the transcript that a coding agent keeps of a session: a file of JSON
// lines that grows while the agent works.
//
// A Read continues where an earlier one ended, so that a hook reads only new bytes, and returns
// their prompts, edits, tool calls and tokens. The format belongs to the agent and is not
// documented: every field may be absent or of another type, and a line may be of any length or not
// be JSON at all. None of these is an error. The package writes nothing and redacts nothing.
//
// The files prompts*.go interpret the texts of prompts: their titles, and short replies whose
// meaning depends on the agent's previous message. QuotedFiles finds and masks the quotations of
// files. SubagentFiles finds the transcripts of subagents where agents keep them. A PathMove
// replaces the paths of another machine.
package transcript

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

// Errors that Read, Lines and CheckPath wrap.
var (
	// ErrNotFound means that the file does not exist, or not yet: an agent names its transcript
	// before it creates it.
	ErrNotFound = errors.New("no such transcript")
	// ErrNotRegular means that the path is a directory, pipe or device.
	ErrNotRegular = errors.New("not a regular file")
	// ErrOutside means that a path is not in the agent's session directories.
	ErrOutside = errors.New("outside the agent's session directories")
	// ErrDocument means that the file is one JSON document, which its agent writes anew with each
	// message: early versions of Gemini CLI do. Stored ones are read, live ones are not.
	ErrDocument = errors.New("a transcript that is one JSON document can't be read while it is written")
)

// Cursor is a position in a transcript, to be saved between two scans. The zero Cursor is the
// beginning of any file.
type Cursor struct {
	// Offset is the offset at which the next scan begins, after the last line read.
	Offset int64 `json:"offset"`
	// Lines is the number of lines before Offset, including empty ones.
	Lines int `json:"lines"`
	// Device and Inode identify the file, 0 if the system has no such numbers.
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	// Tail is a hash of the last 4 KiB before Offset: 16 hex digits, "" at 0.
	Tail string `json:"tail"`
}

// Usage holds numbers of tokens by kind.
type Usage struct {
	Input         int64 `json:"input_tokens"`
	CacheCreation int64 `json:"cache_creation_tokens"`
	CacheRead     int64 `json:"cache_read_tokens"`
	Output        int64 `json:"output_tokens"`
}

// Prompt is a request of a person to the agent.
type Prompt struct {
	// Text is the prompt without tags added by the agent, trimmed, never empty.
	Text string
	// Line is the number of its line, from 0.
	Line int
	// Time is the time of the line, zero if it has none.
	Time time.Time
	UUID string
}

// Edit is one use of a tool whose input names the file to change.
type Edit struct {
	// Path is the file as passed to the tool: absolute or relative, neither checked nor cleaned.
	Path string
	// Line is the number of its line, from 0.
	Line int
	// ToolID is the id of the tool use.
	ToolID string
	// Dir is the session's directory at the line, empty if unknown.
	Dir string
	// Start and End are the times of the lines with the use and with its result, zero if they have
	// none or the scan ends between them.
	Start, End time.Time
}

// Call is one use of a tool that may write files without naming them.
type Call struct {
	ID string `json:"id"`
	// Tool is the tool's name, truncated at the first byte that no tool name contains.
	Tool string `json:"tool"`
	// Start and End are the times of the lines with the call and with its result. End is zero while
	// the call is Open; both are zero if the lines have no time.
	Start time.Time `json:"start,omitzero"`
	End   time.Time `json:"end,omitzero"`
	// Open reports whether the call may still be writing: it has no result yet, or it continued in
	// the background and no line records its end.
	Open bool `json:"open,omitempty"`
	// Line is the number of its line, from 0.
	Line int `json:"line"`

	// Command is the beginning of the command passed to a shell.
	Command string `json:"-"`
	// Dir is the session's directory at the line, empty if unknown.
	Dir string `json:"-"`
	// Background reports whether the call is Open because it continued in the background.
	Background bool `json:"-"`
}

// Message is one answer of the model.
type Message struct {
	ID string
	// Line is the number of its first line in the scan, from 0.
	Line int
	// Usage is the record with the most output tokens among the lines of this message in the scan:
	// the lines repeat it, some with a placeholder. A scan that begins within a message reports it
	// again.
	Usage Usage
}

// Scan is the result of a [Read].
type Scan struct {
	// Cursor is the position at which the next scan continues.
	Cursor Cursor
	// Restarted reports whether the given cursor did not fit the file, so that the file was read
	// from its beginning.
	Restarted bool
	// First is the number of the first line read, from 0.
	First int

	// Prompts, Edits, Calls and Messages are in the order of the file. Edits with an error as their
	// result in the same scan are left out.
	Prompts  []Prompt
	Edits    []Edit
	Calls    []Call
	Messages []Message
	// Closed maps the ids of tool uses of earlier scans that ended in this one to the times of
	// their ends. It is nil if there are none.
	Closed map[string]time.Time

	// Answers maps ids of tool uses to the uuids of the lines with their results. It contains the
	// tasks of subagents and the uses of earlier scans.
	Answers map[string]string

	// Subagents are the subagents whose tool use began and has its result in this scan.
	Subagents []Subagent

	// Model is the name of the model of the last message, empty if there is none.
	Model string

	// LastAssistant is the last text written by the main agent, not by a subagent.
	LastAssistant string
	// LastUUID is the uuid of the last line of the conversation, without subagents.
	LastUUID string
	// FirstTime and LastTime are the earliest and latest time of a line in the conversation, zero
	// if no line has a time.
	FirstTime, LastTime time.Time
	// Bad is the number of lines that are not JSON objects.
	Bad int
}

// SessionID returns the agent's id of a session that is recorded as id: early versions of other
// programs prepended a date ("2026-01-15-<uuid>").
func SessionID(id string) string {
	const date = "2006-01-02-"
	if len(id) != len(date)+36 || !hasForm(id[:len(date)], "dddd-dd-dd-") || !hasForm(strings.ToLower(id[len(date):]), "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh") {
		return id
	}
	return id[len(date):]
}

// SessionIDIn returns the session id in the first 50 lines of a transcript, "" if there is none.
func SessionIDIn(transcript []byte) string {
	const most = 50
	read := 0
	for line := range bytes.Lines(transcript) {
		if id := Value(forms.Line(line)).Member("sessionId").Text(); id != "" {
			return id
		}
		if read++; read == most {
			break
		}
	}
	return ""
}

// hasForm reports whether s has a digit for each d of form, a lower-case hexadecimal digit for each
// h, and equals form otherwise. s must be at least as long as form.
func hasForm(s, form string) bool {
	for i, f := range []byte(form) {
		digit := s[i] >= '0' && s[i] <= '9'
		switch f {
		case 'd':
			if !digit {
				return false
			}
		case 'h':
			if !digit && (s[i] < 'a' || s[i] > 'f') {
				return false
			}
		default:
			if s[i] != f {
				return false
			}
		}
	}
	return true
}
