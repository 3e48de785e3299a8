package checkpoint

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint/segments"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Tokens counts tokens.
type Tokens = session.Tokens

// SessionMeta is a session's metadata.json in a checkpoint, its fields in the
// order in which they are written.
type SessionMeta struct {
	CLIVersion       string        `json:"cli_version,omitempty"`
	CheckpointID     ID            `json:"checkpoint_id"`
	SessionID        string        `json:"session_id"`
	Strategy         string        `json:"strategy"`
	CreatedAt        time.Time     `json:"created_at"`
	Branch           string        `json:"branch,omitempty"`
	CheckpointsCount int           `json:"checkpoints_count"`
	FilesTouched     session.Paths `json:"files_touched"`
	Agent            string        `json:"agent,omitempty"`
	// Model is the one that the agent used last, empty if that isn't known.
	Model               string `json:"model,omitempty"`
	TurnID              string `json:"turn_id,omitempty"`
	IsTask              bool   `json:"is_task,omitempty"`
	ToolUseID           string `json:"tool_use_id,omitempty"`
	TranscriptIDAtStart string `json:"transcript_identifier_at_start,omitempty"`
	TranscriptStart     int    `json:"checkpoint_transcript_start,omitempty"`
	// LinesAtStart is the deprecated name of TranscriptStart. It is written as
	// a copy of that.
	LinesAtStart int `json:"transcript_lines_at_start,omitempty"`
	// TranscriptEnd is the line behind this checkpoint's part, 0 if that goes on
	// to the end, and TranscriptLines the length of the stored transcript in
	// lines, 0 if unknown.
	TranscriptEnd   int `json:"checkpoint_transcript_end,omitempty"`
	TranscriptLines int `json:"transcript_lines,omitempty"`
	// TokenUsage is this checkpoint's share, SessionTokenUsage the session's
	// total up to it.
	TokenUsage        *Tokens `json:"token_usage,omitempty"`
	SessionTokenUsage *Tokens `json:"session_token_usage,omitempty"`
	// Title is what was asked in the turn that wrote most of the commit's lines,
	// redacted and cut.
	Title string `json:"title,omitempty"`
	// Summary and Attribution are kept as they are.
	Summary     json.RawMessage `json:"summary,omitempty"`
	Attribution json.RawMessage `json:"initial_attribution,omitempty"`
	// TranscriptPath is relative to the home directory: see RelTranscript.
	TranscriptPath string `json:"transcript_path,omitempty"`

	unknown fields
}

// Summary is the metadata.json of a checkpoint: what its sessions add up to.
type Summary struct {
	CLIVersion       string         `json:"cli_version,omitempty"`
	CheckpointID     ID             `json:"checkpoint_id"`
	Strategy         string         `json:"strategy"`
	Branch           string         `json:"branch,omitempty"`
	CheckpointsCount int            `json:"checkpoints_count"`
	FilesTouched     session.Paths  `json:"files_touched"`
	Sessions         []SessionFiles `json:"sessions"`
	TokenUsage       *Tokens        `json:"token_usage,omitempty"`
	// Forgotten reports that what the checkpoint held was removed on purpose.
	Forgotten bool `json:"forgotten,omitempty"`

	unknown fields
}

// SessionFiles names the files of a session on the metadata branch, by their
// paths from the root of the tree with a leading slash.
type SessionFiles struct {
	Metadata    string `json:"metadata"`
	Transcript  string `json:"transcript"`
	Context     string `json:"context"`
	ContentHash string `json:"content_hash"`
	Prompt      string `json:"prompt"`
}

// encode is the content of the session's metadata.json.
func (m SessionMeta) encode() ([]byte, error) {
	m.CreatedAt = m.CreatedAt.UTC()
	m.LinesAtStart = m.TranscriptStart
	m.FilesTouched = notNil(m.FilesTouched)
	return encodeFields(m, m.unknown)
}

// encode is the content of the checkpoint's metadata.json.
func (s Summary) encode() ([]byte, error) {
	s.FilesTouched = notNil(s.FilesTouched)
	s.Sessions = notNil(s.Sessions)
	return encodeFields(s, s.unknown)
}

// decodeSession reads a session's metadata.json of any version.
func decodeSession(data []byte) (SessionMeta, error) {
	var m SessionMeta
	var err error
	m.unknown, err = decodeFields(data, &m)
	m.TranscriptStart = max(m.TranscriptStart, m.LinesAtStart)
	return m, err
}

// decodeSummary reads a checkpoint's metadata.json of any version.
func decodeSummary(data []byte) (Summary, error) {
	var s Summary
	var err error
	s.unknown, err = decodeFields(data, &s)
	return s, err
}

// checked is m without the values that are not safe to use as
// part of a path or a command.
func (m SessionMeta) checked() SessionMeta {
	if session.CheckID(m.SessionID) != nil {
		m.SessionID = ""
	}
	if _, err := ParseID(string(m.CheckpointID)); err != nil {
		m.CheckpointID = ""
	}
	if m.ToolUseID != "" && !transcript.IsToolID(m.ToolUseID) {
		m.ToolUseID = ""
	}
	if !filepath.IsLocal(m.TranscriptPath) || strings.ContainsRune(m.TranscriptPath, 0) {
		m.TranscriptPath = ""
	}
	return m
}

// RelTranscript is the value of SessionMeta.TranscriptPath for a transcript:
// its path relative to home, empty if it doesn't lie below. Both are absolute.
func RelTranscript(home, path string) string {
	if !filepath.IsAbs(home) || !filepath.IsAbs(path) {
		return ""
	}
	rel, err := filepath.Rel(home, path)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// notNil is an empty slice for a nil one, which JSON would write as null.
func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Part is the span of the session's transcript that is the checkpoint's.
func (m SessionMeta) Part() segments.Span {
	return segments.Span{From: m.TranscriptStart, To: m.TranscriptEnd, Total: m.TranscriptLines}
}
