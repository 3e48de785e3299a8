// Package recall has the types of a saved context: what a session worked on, saved
// before its context is cleared, from which the next session is given a brief.
//
// The packages below read the transcript (digest), read the changed files (capture),
// store a context as git objects below refs/entire/context/ (contextstore), and write
// what the next session is given (brief). docs/formats/context.md is the format.
//
// They do not decide when to save and what to inject; package savedcontext does.
package recall

import (
	"errors"
	"time"
)

// Errors that callers distinguish with errors.Is.
var (
	// ErrNotFound means that there is no such saved context.
	ErrNotFound = errors.New("no such context checkpoint")
	// ErrAmbiguous means that several ids have a prefix.
	ErrAmbiguous = errors.New("the id fits several context checkpoints")
	// ErrDamaged means that a stored context can't be read.
	ErrDamaged = errors.New("damaged context checkpoint")
)

// Status is whether the user has decided to keep a saved context.
type Status string

// The statuses. A discarded context is deleted.
const (
	// Pending was saved before the user could be asked: it is kept, and announced with
	// the command that discards it.
	Pending Status = "pending"
	Kept    Status = "kept"
)

// Cause is why a context was saved.
type Cause string

// The causes.
const (
	Clear     Cause = "clear"     // before /clear
	Plan      Cause = "plan"      // before the context was cleared for an accepted plan
	Compact   Cause = "compact"   // before a compaction
	Exit      Cause = "exit"      // the session ended
	Threshold Cause = "threshold" // the context was nearly full
	Lost      Cause = "lost"      // the session ended without a hook: saved at the next start
	Requested Cause = "requested" // the user, or the agent for the user, asked for it
)

// Automatic reports whether the context was not requested, so that it is pruned when
// there are too many or it is old.
func (c Cause) Automatic() bool { return c != Requested }

// Mode is how much a saved context contains.
type Mode string

// The modes.
const (
	SummaryMode  Mode = "summary"  // no contents of files
	StatefulMode Mode = "stateful" // contents of files and analysis
)

// Checkpoint is a saved context. Its JSON is that of `entire recall show --json` and of
// the MCP tools: the fields up to State are those of the common format of stateful
// checkpoints. All texts are redacted.
type Checkpoint struct {
	ID          string    `json:"id"`
	Summary     string    `json:"summary"` // one line
	Description string    `json:"description"`
	CreatedAt   time.Time `json:"created_at"` // UTC, to the second
	State       State     `json:"state"`

	Tags   []string `json:"tags,omitempty"`
	Status Status   `json:"status"`
	Cause  Cause    `json:"cause"`
	Mode   Mode     `json:"mode"`
	// Worktree is the root of the worktree; Put sets it if it is empty.
	Worktree string `json:"worktree"`
	// Sessions are the sessions that did the work, the last one first; Checkpoints are
	// the ids of their committed checkpoints.
	Sessions    []string `json:"sessions"`
	Checkpoints []string `json:"checkpoints,omitempty"`
	// Prompts is the number of prompts of the session.
	Prompts int `json:"prompts"`
	// Tokens is the size of the session's context, 0 if unknown.
	Tokens int64 `json:"context_tokens,omitempty"`
	// Compaction is the agent's summary at the last compaction.
	Compaction string `json:"compaction_summary,omitempty"`
	// Warnings are what is missing and why, a line each.
	Warnings []string `json:"warnings,omitempty"`
}

// State is the state of the work.
type State struct {
	// Files are the files that the session changed, by path from the root of
	// the worktree.
	Files    map[string]File `json:"files"`
	Analysis Analysis        `json:"analysis"`
	Context  Context         `json:"context"`
	// TotalSize is the size of all contents that are kept, in bytes.
	TotalSize int64 `json:"total_size_bytes"`
}

// File is one file that the session changed.
type File struct {
	Path string `json:"path"`
	// Content is redacted; empty where only the hash is kept.
	Content string `json:"content"`
	// Hash is the SHA-256 of the file's own bytes, unredacted: 64 hex digits,
	// empty for a file that wasn't read: one that is deleted or excluded, may hold
	// secrets, or is enormous. Of a symbolic link it is that of its target.
	// Size is theirs.
	Hash         string    `json:"hash"`
	Size         int64     `json:"size_bytes"`
	LastModified time.Time `json:"last_modified,omitzero"`

	// Change is how the session changed it. Omitted is why there is no content, "" if
	// there is.
	Change  Change  `json:"change"`
	Omitted Omitted `json:"content_omitted,omitempty"`
	// Added and Removed count lines against the commit at the session's start.
	Added   int `json:"lines_added,omitempty"`
	Removed int `json:"lines_removed,omitempty"`
	// Tracked is how it compares with the commit that was checked out when the context was
	// saved.
	Tracked Tracked `json:"tracked,omitempty"`
	// Outline are its declarations, with lines.
	Outline []Declaration `json:"outline,omitempty"`

	// Blob is the git object of the content, empty where there is none.
	Blob string `json:"-"`
}

// Change is how a session changed a file.
type Change string

// The changes.
const (
	Added    Change = "added"
	Modified Change = "modified"
	Deleted  Change = "deleted"
)

// Tracked is how a file compares with a commit.
type Tracked string

// The results; the empty one means that it is unknown.
const (
	Committed   Tracked = "committed"   // the commit has this content
	Uncommitted Tracked = "uncommitted" // it has another one, or no such file
)

// Omitted is why a file's content is not kept.
type Omitted string

// The reasons.
const (
	TooLarge   Omitted = "file too large"
	NoRoom     Omitted = "checkpoint too large"
	Binary     Omitted = "binary"
	Excluded   Omitted = "excluded"
	Forgotten  Omitted = "forgotten"
	Ignored    Omitted = "ignored by git"
	Secret     Omitted = "may hold secrets"
	BuildMade  Omitted = "build output"
	Link       Omitted = "symbolic link"
	Unreadable Omitted = "not readable"
	Gone       Omitted = "deleted"
	Unread     Omitted = "not read in time"
	NotWanted  Omitted = "summary only"
)

// Declaration is a line of a file's outline.
type Declaration struct {
	Line int    `json:"line"` // from 1
	Text string `json:"text"` // of the file, trimmed, at most 160 bytes
}

// Analysis is the state of the work, derived from the transcript.
type Analysis struct {
	CurrentTask  string   `json:"current_task"`
	NextSteps    []string `json:"next_steps"`
	Decisions    []string `json:"decisions_made"`
	Blockers     []string `json:"blockers"`
	RelevantDocs []string `json:"relevant_docs"`

	// Requests are what the person asked, in their words, the oldest first; those that
	// only confirm or choose with what they reply to.
	Requests []Request `json:"requests,omitempty"`
	// Progress is how far the last request is.
	Progress Progress `json:"progress,omitzero"`
	// Todo are the unfinished items of the agent's list, those in progress first.
	Todo []Todo `json:"todo,omitempty"`
	// OpenQuestion is the question that the agent's last message ends with, empty if a
	// prompt followed.
	OpenQuestion string `json:"open_question,omitempty"`
	// OpenOptions are the alternatives that the question lets the person choose from.
	OpenOptions []string `json:"open_options,omitempty"`
}

// Request is a prompt, an accepted plan or a command with its arguments.
type Request struct {
	// Number counts the requests of the session from 1: not all of a long one are kept.
	Number int    `json:"number"`
	Text   string `json:"text"`
	// RepliesTo is what a text that only confirms or chooses replies to: the item of a
	// list, or the question, in the agent's words.
	RepliesTo string `json:"replies_to,omitempty"`
}

// Progress is how far the last request is, as far as the transcript shows it.
type Progress struct {
	// Commits are those that the session made, the most recent first.
	Commits []Commit `json:"commits,omitempty"`
	// Pushed reports whether a push succeeded after the last commit.
	Pushed bool `json:"pushed,omitempty"`
	// PullRequests are those that the session created or worked on, the most recent
	// first: numbers or URLs.
	PullRequests []string `json:"pull_requests,omitempty"`
	// Opened is the URL of the pull request that the session created last.
	Opened string `json:"opened,omitempty"`
	// Reported is what the agent wrote at the end of its turn, empty if the turn did not
	// end.
	Reported string `json:"reported,omitempty"`
	// PastCompaction reports whether the work went on after the last compaction: what its
	// summary calls pending may be done.
	PastCompaction bool `json:"past_compaction,omitempty"`
	// Stopped is why the turn did not end, LastCall its last tool call; both are empty if
	// the turn ended or that is unknown.
	Stopped  Stop   `json:"stopped,omitempty"`
	LastCall string `json:"last_call,omitempty"`
}

// Stop is why a turn did not end.
type Stop string

// The reasons.
const (
	ByPerson  Stop = "interrupted" // by the person
	ByError   Stop = "error"       // of the model or the connection
	Unstarted Stop = "unstarted"   // the agent wrote nothing after the last prompt
	Midway    Stop = "midway"      // the transcript ends with a tool call or its result
)

// Commit is a commit that the session made.
type Commit struct {
	Hash    string `json:"hash"` // abbreviated, as git printed it
	Subject string `json:"subject"`
	// Request is the number of requests before the commit, from 1; 0 if unknown.
	Request int `json:"request,omitempty"`
}

// Todo is an item of the agent's list.
type Todo struct {
	Text  string `json:"text"`
	State string `json:"state"` // pending or in_progress
}

// Context is where the work was done.
type Context struct {
	WorkingDirectory string   `json:"working_directory"`
	RelevantPackages []string `json:"relevant_packages"`
	// RecentCommands are the texts of Commands.
	RecentCommands []string `json:"recent_commands"`
	GitBranch      string   `json:"git_branch"` // empty on a detached HEAD
	GitCommit      string   `json:"git_commit"` // empty before the first one

	Commands []Command `json:"commands,omitempty"`
	// FilesRead are files that the session read and didn't change, the most
	// recently read first: from the root of the worktree, absolute outside it.
	FilesRead []string `json:"files_read,omitempty"`
	// FileNotes are what the transcript has about the files that the session edited, the
	// most recently edited first.
	FileNotes []FileNote `json:"file_notes,omitempty"`
	// FileUses are how often the session used its files, the most recently used first.
	FileUses []FileUse `json:"file_uses,omitempty"`
}

// FileUse is how often and how long ago a session used a file.
type FileUse struct {
	Path  string `json:"path"` // as in State.Files
	Edits int    `json:"edits,omitempty"`
	Reads int    `json:"reads,omitempty"`
	// RequestsSince is the number of requests after the last use.
	RequestsSince int `json:"requests_since,omitempty"`
	// Lately reports whether the file was used, or its name was in the conversation, in
	// the last 100 lines of the transcript.
	Lately bool `json:"lately,omitempty"`
}

// FileNote is what a transcript has about an edited file.
type FileNote struct {
	Path string `json:"path"` // as in State.Files
	// Why are the agent's words before the last edits, empty if it wrote none; Request is
	// the number of the request that the edits were for, 0 if unknown.
	Why     string `json:"why,omitempty"`
	Request int    `json:"request,omitempty"`
	// Tracked is Committed if a commit of the session has the last edit, as its commands
	// show.
	Tracked Tracked `json:"tracked,omitempty"`
}

// Command is a shell command that the agent ran, the most recent first.
type Command struct {
	Text   string  `json:"command"`
	Result Outcome `json:"result"`
}

// Outcome is how a command ended.
type Outcome string

// The outcomes.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Unknown Outcome = "unknown" // no result, interrupted or in the background
)
