package session

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/session/transcript"
)

// State is what is known of one session between two hooks, as it is in
// <git common dir>/entire-sessions/<id>.json. docs/formats/session.md is the
// format; the fields up to Recorder are those of other versions of the tool,
// and fields unknown to this one survive a load and save.
type State struct {
	ID                  string          `json:"session_id"`
	CLIVersion          string          `json:"cli_version,omitempty"`
	BaseCommit          string          `json:"base_commit"`
	AttributionBase     string          `json:"attribution_base_commit,omitempty"`
	WorktreePath        string          `json:"worktree_path,omitempty"`
	WorktreeID          string          `json:"worktree_id,omitempty"`
	StartedAt           time.Time       `json:"started_at"`
	EndedAt             *time.Time      `json:"ended_at,omitempty"`
	Phase               Phase           `json:"phase,omitempty"`
	TurnID              string          `json:"turn_id,omitempty"`
	TurnCheckpointIDs   []string        `json:"turn_checkpoint_ids,omitempty"`
	LastInteraction     *time.Time      `json:"last_interaction_time,omitempty"`
	CheckpointCount     int             `json:"checkpoint_count"`
	TranscriptStart     int             `json:"checkpoint_transcript_start,omitempty"`
	UntrackedAtStart    Paths           `json:"untracked_files_at_start,omitempty"`
	FilesTouched        Paths           `json:"files_touched,omitempty"`
	LastCheckpointID    string          `json:"last_checkpoint_id,omitempty"`
	AgentType           string          `json:"agent_type,omitempty"`
	TokenUsage          *Tokens         `json:"token_usage,omitempty"`
	TranscriptIDAtStart string          `json:"transcript_identifier_at_start,omitempty"`
	TranscriptPath      string          `json:"transcript_path,omitempty"`
	FirstPrompt         string          `json:"first_prompt,omitempty"`
	PromptAttributions  json.RawMessage `json:"prompt_attributions,omitempty"`
	PendingAttribution  json.RawMessage `json:"pending_prompt_attribution,omitempty"`

	Recorder Recorder `json:"recorder,omitzero"`

	unknown map[string]json.RawMessage
	// saved are the names of the side files that the state on disk counts.
	saved Names
}

// Recorder is this program's own part of the state: how far the transcript is
// read and stored, and what the running turn has done so far.
type Recorder struct {
	// Agent is the process that the session runs in, zero if unknown.
	Agent Process `json:"agent,omitzero"`
	// Background reports whether tasks were running at the last stop.
	Background bool `json:"background,omitempty"`
	// Cursor is where the next scan of the transcript begins.
	Cursor transcript.Cursor `json:"cursor,omitzero"`
	// Model is the name of the model of the agent's last message.
	Model string `json:"model,omitempty"`
	// LastUUID is that of the last line scanned which had one.
	LastUUID string `json:"last_uuid,omitempty"`
	// Expect is a digest of the last message that a stop reported and the
	// transcript didn't have yet, Said of the last one that it has.
	Expect string `json:"expect,omitempty"`
	Said   string `json:"said,omitempty"`
	// Turn is the turn that is running, or that no stop has saved yet.
	Turn Turn `json:"turn,omitzero"`
	// Since names for each pending file the transcript line at which the turn
	// began that touched it last.
	Since map[string]int `json:"since,omitempty"`
	// Counted is what all checkpoints of the session have counted so far, and
	// CountedBefore what those before the last one had.
	Counted       Tokens `json:"counted,omitzero"`
	CountedBefore Tokens `json:"counted_before,omitzero"`
	// CountedIn is the checkpoint that was counted last.
	CountedIn string `json:"counted_in,omitempty"`
	// Linked are the checkpoints of the session's last commits, the last one last.
	Linked []string `json:"linked,omitempty"`
	// Applied is the nonce of the last commit decision carried out.
	Applied string `json:"applied,omitempty"`
	// Prompts, Usage and Steps are the valid lengths of the side files, in bytes.
	Prompts int64 `json:"prompts,omitempty"`
	Usage   int64 `json:"usage,omitempty"`
	Steps   int64 `json:"steps,omitempty"`
	// Second are the side files that are under the second of their names.
	Second Names `json:"second,omitzero"`
	// Stored is how far the transcript is stored in git.
	Stored Segments `json:"stored,omitzero"`
	// Seen is the snapshot that goes with the list of untracked files.
	Seen Seen `json:"seen,omitzero"`
	// Unlisted reports whether the list of untracked files at the session's start is
	// not made yet.
	Unlisted bool `json:"unlisted,omitempty"`
	// Shared are pending files that another session may have changed: both were
	// at work, and no edit tool named them.
	Shared Paths `json:"shared,omitempty"`
	// Tasks are the subagents that run, or whose checkpoints no commit has taken
	// up yet.
	Tasks []Task `json:"tasks,omitempty"`
	// Agents is how far the transcripts of subagents are read.
	Agents Agents `json:"agents,omitzero"`
	// Due is what the auto-commit strategy has to commit.
	Due Due `json:"due,omitzero"`
	// Incomplete are checkpoints whose transcript is not stored to its end.
	Incomplete []string `json:"incomplete,omitempty"`
}

// Seen is a snapshot of a worktree.
type Seen struct {
	Version int    `json:"version"`
	Lineage string `json:"lineage"`
}

// Due is what turns changed and nobody has committed yet, where each turn gets
// a commit.
type Due struct {
	// Files are pending files.
	Files Paths `json:"files,omitempty"`
	// Subject is that of the commit, redacted.
	Subject string `json:"subject,omitempty"`
	// Index is the time of git's index where the turn was the last to write it.
	Index time.Time `json:"index,omitzero"`
}

// Process names a process so that a later one with its number isn't taken for
// it.
type Process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start,omitempty"`
}

// Turn is what is known of a turn before its stop.
type Turn struct {
	// Start is the file system's time at the prompt.
	Start time.Time `json:"start,omitzero"`
	// Line is where the turn begins in the transcript.
	Line int `json:"line,omitempty"`
	// Edits are the absolute paths that edit tools named.
	Edits []string `json:"edits,omitempty"`
	// Calls are the tool calls that can write anything.
	Calls []transcript.Call `json:"calls,omitempty"`
	// Timed reports whether the turn's lines carry times of the turn.
	Timed bool `json:"timed,omitempty"`
	// Mixed reports that pending files were found changed at the prompt while another session
	// was at work: whose the changes are isn't known.
	Mixed bool `json:"mixed,omitempty"`
	// Prompts are the redacted prompts of the turn, Summary its last words.
	Prompts []string `json:"prompts,omitempty"`
	Summary string   `json:"summary,omitempty"`
}

// Segments is how far a session's transcript is stored: closed segments, whose
// object ids stand in the side file, and an open one that still grows.
type Segments struct {
	// Raw is the offset in the live transcript up to which it is stored, Lines
	// the number of lines before it.
	Raw   int64 `json:"raw"`
	Lines int   `json:"lines"`
	// Closed is the number of closed segments.
	Closed int `json:"closed,omitempty"`
	// Open is the blob of the open segment, empty if there is none, and OpenRaw
	// the offset in the live transcript where it begins.
	Open    string `json:"open,omitempty"`
	OpenRaw int64  `json:"open_raw,omitempty"`
	// Hash is the saved state of the SHA-256 over all that is stored.
	Hash []byte `json:"hash,omitempty"`
	// Second reports whether the ids are in the second of the two side files.
	Second bool `json:"second,omitempty"`
}

// Anew is the beginning of storing the transcript once more, which leaves the
// list of what is stored now alone.
func (s Segments) Anew() Segments { return Segments{Second: !s.Second} }

// Pending reports whether a commit hook may have something to do for the session.
func (s *State) Pending() bool {
	return s.Phase != Ended || len(s.FilesTouched)+len(s.TurnCheckpointIDs)+len(s.Recorder.Incomplete) > 0
}

// Total is the session's token count so far.
func (s *State) Total() Tokens {
	if s.TokenUsage == nil {
		return Tokens{}
	}
	return *s.TokenUsage
}

// Touched adds paths to the pending files, with the turn's line as the place
// where their story begins.
func (s *State) Touched(paths []string) {
	if s.Recorder.Since == nil && len(paths) > 0 {
		s.Recorder.Since = make(map[string]int, len(paths))
	}
	for _, p := range paths {
		s.Recorder.Since[p] = s.Recorder.Turn.Line
	}
	s.FilesTouched = slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.FilesTouched, paths))))
}

// Rename gives a pending file another name.
func (s *State) Rename(from, to string) {
	i, found := slices.BinarySearch(s.FilesTouched, from)
	if !found {
		return
	}
	line, known := s.Recorder.Since[from]
	s.FilesTouched = slices.Delete(s.FilesTouched, i, i+1)
	s.FilesTouched = slices.Compact(slices.Sorted(slices.Values(append(s.FilesTouched, to))))
	if known {
		delete(s.Recorder.Since, from)
		s.Recorder.Since[to] = line
	}
}

// Keep reduces the pending files to those in paths.
func (s *State) Keep(paths []string) {
	keep := slices.Compact(slices.Sorted(slices.Values(paths)))
	s.FilesTouched = slices.DeleteFunc(s.FilesTouched, func(p string) bool {
		_, found := slices.BinarySearch(keep, p)
		return !found
	})
	gone := func(p string) bool {
		_, found := slices.BinarySearch(s.FilesTouched, p)
		return !found
	}
	s.Recorder.Shared = slices.DeleteFunc(s.Recorder.Shared, gone)
	s.Recorder.Due.Files = slices.DeleteFunc(s.Recorder.Due.Files, gone)
	for p := range s.Recorder.Since {
		if _, found := slices.BinarySearch(s.FilesTouched, p); !found {
			delete(s.Recorder.Since, p)
		}
	}
}

// decode reads a state file, fields of other versions included.
func decode(data []byte) (*State, error) {
	s := new(State)
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("decode: %w", err)
	}
	if s.TranscriptStart == 0 {
		s.TranscriptStart = max(number(all["condensed_transcript_lines"]), number(all["transcript_lines_at_start"]))
	}
	known := []string{
		"session_id", "cli_version", "base_commit", "attribution_base_commit", "worktree_path", "worktree_id",
		"started_at", "ended_at", "phase", "turn_id", "turn_checkpoint_ids", "last_interaction_time", "checkpoint_count",
		"checkpoint_transcript_start", "condensed_transcript_lines", "transcript_lines_at_start", "untracked_files_at_start",
		"files_touched", "last_checkpoint_id", "agent_type", "token_usage", "transcript_identifier_at_start",
		"transcript_path", "first_prompt", "prompt_attributions", "pending_prompt_attribution", "recorder",
	}
	maps.DeleteFunc(all, func(k string, _ json.RawMessage) bool { // as the decoder matches names
		return slices.ContainsFunc(known, func(name string) bool { return strings.EqualFold(k, name) })
	})
	if len(all) > 0 {
		s.unknown = all
	}
	s.Phase = parsePhase(string(s.Phase))
	s.saved = s.Recorder.Second
	slices.Sort(s.FilesTouched)
	return s, nil
}

func number(raw json.RawMessage) int {
	var n int
	if json.Unmarshal(raw, &n) != nil {
		return 0
	}
	return n
}

// encode is the inverse of decode.
func encode(s *State) ([]byte, error) {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	if len(s.unknown) == 0 {
		return append(data, '\n'), nil
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	for k, v := range s.unknown {
		if _, ours := all[k]; !ours {
			all[k] = v
		}
	}
	data, err = json.MarshalIndent(all, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return append(data, '\n'), nil
}
