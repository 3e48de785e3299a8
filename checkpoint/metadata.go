package checkpoint

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Tokens counts tokens.
type Tokens = session.Tokens

// SessionMeta is a session's metadata.json in a checkpoint. Its fields are in the order in which
// they are written.
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
	// Model is the model that the agent used last, empty if unknown.
	Model               string `json:"model,omitempty"`
	TurnID              string `json:"turn_id,omitempty"`
	IsTask              bool   `json:"is_task,omitempty"`
	ToolUseID           string `json:"tool_use_id,omitempty"`
	TranscriptIDAtStart string `json:"transcript_identifier_at_start,omitempty"`
	TranscriptStart     int    `json:"checkpoint_transcript_start,omitempty"`
	// LinesAtStart is the deprecated name of TranscriptStart, written as a copy of it.
	LinesAtStart int `json:"transcript_lines_at_start,omitempty"`
	// TranscriptEnd is the line after this checkpoint's part, 0 if the part extends to the end.
	// TranscriptLines is the length of the stored transcript in lines, 0 if unknown.
	TranscriptEnd   int `json:"checkpoint_transcript_end,omitempty"`
	TranscriptLines int `json:"transcript_lines,omitempty"`
	// TokenUsage is the number of tokens in this checkpoint, SessionTokenUsage the session's total
	// up to it.
	TokenUsage        *Tokens `json:"token_usage,omitempty"`
	SessionTokenUsage *Tokens `json:"session_token_usage,omitempty"`
	// Title is the request of the turn that wrote most of the commit's lines, redacted and cut.
	Title string `json:"title,omitempty"`
	// OtherRepositories are the names of the other repositories that the session had changed.
	OtherRepositories []string `json:"other_repositories,omitempty"`
	// Summary and Attribution are kept unchanged.
	Summary     json.RawMessage `json:"summary,omitempty"`
	Attribution json.RawMessage `json:"initial_attribution,omitempty"`
	// TranscriptPath is relative to the home directory: see RelTranscript.
	TranscriptPath string `json:"transcript_path,omitempty"`
	// RedactionRules is the lowest version of redaction rules that masked the session's files, 0 if
	// unknown.
	RedactionRules int `json:"redaction_rules,omitempty"`
	// Kind is Imported, or empty: see IsImported.
	Kind string `json:"kind,omitempty"`

	unknown fields
}

// Summary is the metadata.json of a checkpoint, the sum of its sessions.
type Summary struct {
	CLIVersion       string         `json:"cli_version,omitempty"`
	CheckpointID     ID             `json:"checkpoint_id"`
	Strategy         string         `json:"strategy"`
	Branch           string         `json:"branch,omitempty"`
	CheckpointsCount int            `json:"checkpoints_count"`
	FilesTouched     session.Paths  `json:"files_touched"`
	Sessions         []SessionFiles `json:"sessions"`
	TokenUsage       *Tokens        `json:"token_usage,omitempty"`
	// Forgotten reports that the content of the checkpoint was removed on purpose.
	Forgotten bool `json:"forgotten,omitempty"`

	unknown fields
}

// SessionFiles holds the paths of a session's files on the metadata branch, from the root of the
// tree with a leading slash.
type SessionFiles struct {
	Metadata    string `json:"metadata"`
	Transcript  string `json:"transcript"`
	Context     string `json:"context"`
	ContentHash string `json:"content_hash"`
	Prompt      string `json:"prompt"`
}

// encode returns the content of the session's metadata.json.
func (m SessionMeta) encode() ([]byte, error) {
	m.CreatedAt = m.CreatedAt.UTC()
	m.LinesAtStart = m.TranscriptStart
	m.FilesTouched = notNil(m.FilesTouched)
	return encodeFields(m, m.unknown)
}

// encode returns the content of the checkpoint's metadata.json.
func (s Summary) encode() ([]byte, error) {
	s.FilesTouched = notNil(s.FilesTouched)
	s.Sessions = notNil(s.Sessions)
	return encodeFields(s, s.unknown)
}

// decodeSession decodes a session's metadata.json of any version.
func decodeSession(data []byte) (SessionMeta, error) {
	var m SessionMeta
	var err error
	m.unknown, err = decodeFields(data, &m)
	m.TranscriptStart = max(m.TranscriptStart, m.LinesAtStart)
	return m, err
}

// decodeSummary decodes a checkpoint's metadata.json of any version.
func decodeSummary(data []byte) (Summary, error) {
	var s Summary
	var err error
	s.unknown, err = decodeFields(data, &s)
	return s, err
}

// checked returns m without values that are unsafe as part of a path or a command.
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

// RelTranscript returns the value of SessionMeta.TranscriptPath for a transcript: its path relative
// to home, empty if it is not below home. Both paths must be absolute.
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

// notNil returns s, or an empty slice for nil, which JSON would encode as null.
func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// Imported is the Kind of a session that was read from an agent's files after the fact.
const Imported = "imported"

// IsImported reports whether the session was read from an agent's files after the fact. It is evidence of
// commits as far as its attribution has files: other versions store none.
func (m SessionMeta) IsImported() bool { return m.Kind == Imported }

// IsUnlinked reports whether this is the part of an imported session that no commit has.
func (m SessionMeta) IsUnlinked() bool { return m.IsImported() && len(m.Attribution) == 0 }

// Part returns the span of the session's transcript that belongs to the checkpoint.
func (m SessionMeta) Part() LineSpan {
	return LineSpan{From: m.TranscriptStart, To: m.TranscriptEnd, Total: m.TranscriptLines}
}
