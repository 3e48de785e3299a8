package session

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// State is the recorded state of a session between two hooks. It is stored in
// <git common dir>/entire-sessions/<id>.json; docs/formats/session.md describes the format. The
// fields up to Recorder are shared with other versions of the tool; fields unknown to this version
// survive a load and save.
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
	// saved holds the names of the side files that the state on disk refers to.
	saved Names
	// savedSegments is the same for the segments.
	savedSegments bool
}

// Recorder is this program's own part of the state: how far the transcript has been read and
// stored, and what the running turn has done so far.
type Recorder struct {
	// Agent is the process in which the session runs, zero if unknown.
	Agent Process `json:"agent,omitzero"`
	// Background reports whether tasks were running at the last stop.
	Background bool `json:"background,omitempty"`
	// Cursor is the position at which the next scan of the transcript begins.
	Cursor transcript.Cursor `json:"cursor,omitzero"`
	// Model is the name of the model that wrote the agent's last message.
	Model string `json:"model,omitempty"`
	// LastUUID is the uuid of the last scanned line that has one.
	LastUUID string `json:"last_uuid,omitempty"`
	// Expect is a digest of the last message that a stop reported before the transcript had it,
	// Said a digest of the last message in the transcript.
	Expect string `json:"expect,omitempty"`
	Said   string `json:"said,omitempty"`
	// Turn is the running turn, or one that no stop has saved yet.
	Turn Turn `json:"turn,omitzero"`
	// Unclosed are earlier turns that had no stop before the next prompt, oldest first, until a
	// later hook or a child closes them.
	Unclosed []Turn `json:"unclosed,omitempty"`
	// Since maps each pending file to the transcript line at which the last turn that touched it
	// began.
	Since map[string]int `json:"since,omitempty"`
	// Counted is the token count of all checkpoints of the session so far, CountedBefore the count
	// before the last of them.
	Counted       Tokens `json:"counted,omitzero"`
	CountedBefore Tokens `json:"counted_before,omitzero"`
	// CountedIn is the id of the checkpoint that was counted last.
	CountedIn string `json:"counted_in,omitempty"`
	// Linked holds the ids of the checkpoints of the session's last commits, oldest first.
	Linked []string `json:"linked,omitempty"`
	// Applied is the nonce of the last commit decision that was carried out.
	Applied string `json:"applied,omitempty"`
	// Prompts, Usage and Steps are the valid lengths of the side files, in bytes.
	Prompts int64 `json:"prompts,omitempty"`
	Usage   int64 `json:"usage,omitempty"`
	Steps   int64 `json:"steps,omitempty"`
	// Second records which side files use the second of their two names.
	Second Names `json:"second,omitzero"`
	// Stored is how far the transcript is stored in git.
	Stored Segments `json:"stored,omitzero"`
	// Rules is the version of the redaction rules at the session's start, 0 if unknown: what was
	// stored since may be masked by these.
	Rules int `json:"rules,omitempty"`
	// Known is the list of values that are known to be secrets, as salted hashes. Values are only
	// ever appended to it. Masked is the length of its part whose values were replaced in the texts
	// that were recorded before they were known, apart from the stored transcript.
	Known  []byte `json:"known,omitempty"`
	Masked int    `json:"masked,omitempty"`
	// Seen is the snapshot that belongs to the list of untracked files.
	Seen Seen `json:"seen,omitzero"`
	// Unlisted reports whether the untracked files at the session's start have not been listed yet.
	Unlisted bool `json:"unlisted,omitempty"`
	// Shared holds the pending files that another session may have changed: both sessions were
	// active, and no edit tool named the files.
	Shared Paths `json:"shared,omitempty"`
	// Withheld holds files that were committed without some lines of the session, which the worktree
	// didn't have any more; a later commit may have them. WithheldFor counts the commits since.
	Withheld    Paths `json:"withheld,omitempty"`
	WithheldFor int   `json:"withheld_for,omitempty"`
	// Tasks are the subagents that are running, or whose checkpoints no commit has taken up yet.
	Tasks []Task `json:"tasks,omitempty"`
	// Agents records how far the transcripts of subagents have been read.
	Agents Agents `json:"agents,omitzero"`
	// Due holds the files that the auto-commit strategy has to commit.
	Due Due `json:"due,omitzero"`
	// Incomplete holds the ids of checkpoints whose transcript is not stored to its end.
	Incomplete []string `json:"incomplete,omitempty"`
	// Launched is the folder in which the session started if that is outside of this repository,
	// else empty.
	Launched string `json:"launched,omitempty"`
	// Elsewhere are other repositories that tool calls named and that haven't been looked at since.
	Elsewhere []Elsewhere `json:"elsewhere,omitempty"`
	// Changed is the last turn that changed files here or committed.
	Changed ChangedTurn `json:"changed,omitzero"`
	// Others are the other repositories that the session changed.
	Others []Other `json:"others,omitempty"`
}

// Elsewhere is a repository that a tool call of a turn named.
type Elsewhere struct {
	// Root is the folder with the repository's .git.
	Root string `json:"root"`
	// Turn, Line and Start are the turn's id, its first line in the transcript and its beginning.
	Turn  string    `json:"turn_id,omitempty"`
	Line  int       `json:"line,omitempty"`
	Start time.Time `json:"start,omitzero"`
}

// Other is another repository that the session changed.
type Other struct {
	Root      string `json:"root"`
	CommonDir string `json:"common_dir"`
	Worktree  string `json:"worktree_id,omitempty"`
	// Turns are the turns that changed both repositories, oldest first.
	Turns []ChangedTurn `json:"turns,omitempty"`
}

// ChangedTurn is a turn that changed a repository. Line is a line of it in the transcript.
type ChangedTurn struct {
	ID   string `json:"id"`
	Line int    `json:"line"`
}

// Seen identifies a snapshot of a worktree.
type Seen struct {
	Version int    `json:"version"`
	Lineage string `json:"lineage"`
}

// Due holds uncommitted changes of turns, for the strategy that commits each turn.
type Due struct {
	// Files are pending files.
	Files Paths `json:"files,omitempty"`
	// Subject is the subject of the commit, redacted.
	Subject string `json:"subject,omitempty"`
	// Index is the time of git's index if the turn was the last to write it, else zero.
	Index time.Time `json:"index,omitzero"`
}

// Process identifies a process. Start distinguishes it from a later process with the same PID.
type Process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start,omitempty"`
}

// Turn holds the data of a turn before its stop.
type Turn struct {
	// ID is the id of an unclosed turn.
	ID string `json:"id,omitempty"`
	// Offset is the length of the transcript at the prompt if the turn before is unclosed and the
	// prompt's line hasn't been read yet. Line isn't exact until then.
	Offset int64 `json:"offset,omitempty"`
	// Start is the file system's time at the prompt.
	Start time.Time `json:"start,omitzero"`
	// Line is the transcript line at which the turn begins.
	Line int `json:"line,omitempty"`
	// Edits are the absolute paths that edit tools named.
	Edits []string `json:"edits,omitempty"`
	// Calls are the tool calls that can write any file.
	Calls []transcript.Call `json:"calls,omitempty"`
	// Timed reports whether transcript lines of the turn have times.
	Timed bool `json:"timed,omitempty"`
	// Mixed reports that pending files had already changed at the prompt while another session was
	// active, so that the author of the changes is unknown.
	Mixed bool `json:"mixed,omitempty"`
	// Unsure are files whose contents at the prompt aren't known, though an unclosed turn before had
	// changed them.
	Unsure Paths `json:"unsure,omitempty"`
	// Late reports that the repository wasn't observed at the prompt: only tool calls show what the
	// turn changed.
	Late bool `json:"late,omitempty"`
	// Prompts are the redacted prompts of the turn, Summary its last message.
	Prompts []string `json:"prompts,omitempty"`
	Summary string   `json:"summary,omitempty"`
}

// Turns returns the unclosed turns and the running one, in their order.
func (r *Recorder) Turns() []*Turn {
	turns := make([]*Turn, 0, len(r.Unclosed)+1)
	for i := range r.Unclosed {
		turns = append(turns, &r.Unclosed[i])
	}
	return append(turns, &r.Turn)
}

// TurnAt returns the running or unclosed turn to which a line of the transcript belongs, by its
// place, or by its time after a prompt whose line isn't known.
func (r *Recorder) TurnAt(line int, at time.Time) *Turn {
	turns := r.Turns()
	for _, t := range slices.Backward(turns) {
		isAfter := line >= t.Line
		if t.Offset > 0 && !at.IsZero() {
			isAfter = isAfter && !at.Before(t.Start)
		}
		if isAfter {
			return t
		}
	}
	return turns[0]
}

// Segments records how far a session's transcript is stored: closed segments, whose object ids are
// in the side file, and an open one that still grows.
type Segments struct {
	// Raw is the offset in the live transcript up to which it is stored, Lines the number of lines
	// before it.
	Raw   int64 `json:"raw"`
	Lines int   `json:"lines"`
	// Closed is the number of closed segments.
	Closed int `json:"closed,omitempty"`
	// Open is the id of the open segment's blob, empty if there is none, and OpenRaw the offset of
	// the segment in the live transcript.
	Open    string `json:"open,omitempty"`
	OpenRaw int64  `json:"open_raw,omitempty"`
	// Hash is the saved state of the SHA-256 over the stored transcript.
	Hash []byte `json:"hash,omitempty"`
	// List is the CRC-32 of the list of closed segments, 0 if unknown.
	List uint32 `json:"list,omitempty"`
	// Second reports whether the object ids are in the second of the two side files.
	Second bool `json:"second,omitempty"`
	// Masked is the length of the part of [Recorder.Known] whose values none of the segments has.
	Masked int `json:"masked,omitempty"`
}

// Anew returns the start of a new list of segments, for storing the transcript again from its
// beginning. It uses the other side file, so the current list stays intact.
func (s Segments) Anew() Segments { return Segments{Second: !s.Second} }

// Pending reports whether a commit hook may have something to do for the session.
func (s *State) Pending() bool {
	return s.Phase != Ended || len(s.FilesTouched)+len(s.TurnCheckpointIDs)+len(s.Recorder.Incomplete)+len(s.Recorder.Withheld) > 0
}

// Total returns the session's token count so far.
func (s *State) Total() Tokens {
	if s.TokenUsage == nil {
		return Tokens{}
	}
	return *s.TokenUsage
}

// Touch adds paths to the pending files and records the line of the current turn for them.
func (s *State) Touch(paths []string) {
	if s.Recorder.Since == nil && len(paths) > 0 {
		s.Recorder.Since = make(map[string]int, len(paths))
	}
	for _, p := range paths {
		s.Recorder.Since[p] = s.Recorder.Turn.Line
	}
	s.FilesTouched = slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.FilesTouched, paths))))
	s.Recorder.Withheld = slices.DeleteFunc(s.Recorder.Withheld, func(p string) bool { return slices.Contains(paths, p) })
}

// Withhold replaces the withheld files after a commit. Above a maximum all are dropped, as they are
// after some commits.
func (s *State) Withhold(paths []string) {
	const most, longest = 20, 10
	if s.Recorder.WithheldFor++; slices.ContainsFunc(paths, func(p string) bool { return !slices.Contains(s.Recorder.Withheld, p) }) {
		s.Recorder.WithheldFor = 0
	}
	s.Recorder.Withheld = slices.Compact(slices.Sorted(slices.Values(paths)))
	if len(s.Recorder.Withheld) == 0 || len(s.Recorder.Withheld) > most || s.Recorder.WithheldFor > longest {
		s.Recorder.Withheld, s.Recorder.WithheldFor = nil, 0
	}
}

// Rename changes the name of a pending file.
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

// decode parses a state file, including fields of other versions.
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
	maps.DeleteFunc(all, func(k string, _ json.RawMessage) bool { // the decoder ignores case, too
		return slices.ContainsFunc(known, func(name string) bool { return strings.EqualFold(k, name) })
	})
	if len(all) > 0 {
		s.unknown = all
	}
	s.Phase = parsePhase(string(s.Phase))
	s.saved, s.savedSegments = s.Recorder.Second, s.Recorder.Stored.Second
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

// Tokens counts tokens as the API reports them.
type Tokens struct {
	Input         int64   `json:"input_tokens"`
	CacheCreation int64   `json:"cache_creation_tokens"`
	CacheRead     int64   `json:"cache_read_tokens"`
	Output        int64   `json:"output_tokens"`
	Calls         int64   `json:"api_call_count"`
	Subagents     *Tokens `json:"subagent_tokens,omitempty"`
}

// Plus returns the sum of two counts; the counts of subagents are added separately.
func (t Tokens) Plus(o Tokens) Tokens {
	t.Input += o.Input
	t.CacheCreation += o.CacheCreation
	t.CacheRead += o.CacheRead
	t.Output += o.Output
	t.Calls += o.Calls
	t.Subagents = sum(t.Subagents, o.Subagents)
	return t
}

// Minus returns t less o.
func (t Tokens) Minus(o Tokens) Tokens {
	return t.Plus(o.negated())
}

// Max returns the greater count of each kind.
func (t Tokens) Max(o Tokens) Tokens { return t.Plus(o.Minus(t).Positive()) }

// Positive returns t with zero in place of negative counts.
func (t Tokens) Positive() Tokens {
	t.Input, t.CacheCreation, t.CacheRead = max(t.Input, 0), max(t.CacheCreation, 0), max(t.CacheRead, 0)
	t.Output, t.Calls = max(t.Output, 0), max(t.Calls, 0)
	if t.Subagents != nil {
		below := t.Subagents.Positive()
		t.Subagents = sum(&below, nil)
	}
	return t
}

func (t Tokens) negated() Tokens {
	n := Tokens{Input: -t.Input, CacheCreation: -t.CacheCreation, CacheRead: -t.CacheRead, Output: -t.Output, Calls: -t.Calls}
	if t.Subagents != nil {
		below := t.Subagents.negated()
		n.Subagents = &below
	}
	return n
}

// sum returns the sum of two counts of subagents, nil if it is zero.
func sum(a, b *Tokens) *Tokens {
	var total Tokens
	for _, t := range []*Tokens{a, b} {
		if t != nil {
			total = total.Plus(*t)
		}
	}
	if total == (Tokens{}) {
		return nil
	}
	return &total
}

// Paths are file names in JSON.
type Paths = plain.GitPaths

// Path is a file name in JSON.
type Path = plain.GitName

// LastActive returns the time of the session's last event.
func (s *State) LastActive() time.Time {
	if s.LastInteraction != nil {
		return *s.LastInteraction
	}
	return s.StartedAt
}

// IDs returns the ids of states.
func IDs(states []*State) []string {
	ids := make([]string, len(states))
	for i, s := range states {
		ids[i] = s.ID
	}
	return ids
}
