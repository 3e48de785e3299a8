// Package recall defines the types of a saved context: the state of a session's work, saved before
// its context is cleared. The next session gets a brief of it. Judge decides whether a prompt
// continues the work of a saved context. It is a pure function of texts and takes about a
// millisecond; it uses no model, so it is sometimes wrong: docs/guides/checkpoint-automation.md
// describes when.
//
// The packages below read the transcript (digest) and its shell commands (shellcmd), read the
// changed files and store a context as git objects below refs/entire/context/ (contextstore), and
// write the brief for the next session (brief). docs/formats/context.md describes the format.
//
// Package savedcontext decides when to save and what to inject.
package recall

import (
	"errors"
	"time"
)

// Errors that callers distinguish with errors.Is.
var (
	// ErrNotFound means that there is no such saved context.
	ErrNotFound = errors.New("no such context checkpoint")
	// ErrAmbiguous means that several ids have the given prefix.
	ErrAmbiguous = errors.New("the id is ambiguous")
	// ErrDamaged means that a stored context can't be read.
	ErrDamaged = errors.New("damaged context checkpoint")
)

// Status records whether the user has decided to keep a saved context.
type Status string

// The statuses. A discarded context is deleted.
const (
	// Pending is the status of a context that was saved without asking the user. It is
	// kept, and announced with the command that discards it.
	Pending Status = "pending"
	Kept    Status = "kept"
)

// Cause is the reason why a context was saved.
type Cause string

// The causes.
const (
	Clear     Cause = "clear"     // before /clear
	Plan      Cause = "plan"      // before the context was cleared for an accepted plan
	Compact   Cause = "compact"   // before a compaction
	Exit      Cause = "exit"      // the session ended
	Threshold Cause = "threshold" // the context was nearly full
	Lost      Cause = "lost"      // the session ended without a hook: saved at the next start
	Requested Cause = "requested" // requested by the user, or by the agent for the user
	Recorded  Cause = "recorded"  // read from the checkpoints of a branch: the session was not run in this clone
)

// Automatic reports whether the context was saved without a request. Such contexts are
// pruned when they are too many or too old.
func (c Cause) Automatic() bool { return c != Requested }

// Mode selects the contents of a saved context.
type Mode string

// The modes.
const (
	SummaryMode  Mode = "summary"  // no contents of files
	StatefulMode Mode = "stateful" // contents of files and analysis
)

// Checkpoint is a saved context. `entire recall show --json` and the MCP tools print its
// JSON. The fields up to State are those of the common format of stateful checkpoints. All
// texts are redacted.
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
	// Worktree is the root of the worktree; Put sets it if empty.
	Worktree string `json:"worktree"`
	// Sessions are the sessions that did the work, the last one first; Checkpoints are
	// the ids of their committed checkpoints.
	Sessions    []string `json:"sessions"`
	Checkpoints []string `json:"checkpoints,omitempty"`
	// Person is the person who ran the session, empty for the user of this clone.
	Person string `json:"person,omitempty"`
	// Prompts is the number of prompts of the session.
	Prompts int `json:"prompts"`
	// Tokens is the size of the session's context, 0 if unknown.
	Tokens int64 `json:"context_tokens,omitempty"`
	// Compaction is the agent's summary at the last compaction.
	Compaction string `json:"compaction_summary,omitempty"`
	// Warnings describe missing parts and the reasons, one per line.
	Warnings []string `json:"warnings,omitempty"`
}

// State is the state of the work.
type State struct {
	// Files are the files that the session changed, by path from the root of
	// the worktree.
	Files    map[string]File `json:"files"`
	Analysis Analysis        `json:"analysis"`
	Context  Context         `json:"context"`
	// TotalSize is the size of all stored contents, in bytes.
	TotalSize int64 `json:"total_size_bytes"`
}

// File is one file that the session changed.
type File struct {
	Path string `json:"path"`
	// Content is redacted; empty if only the hash is kept.
	Content string `json:"content"`
	// Hash is the SHA-256 of the file's own bytes, unredacted: 64 hex digits, empty for a
	// file that wasn't read because it is deleted, excluded or enormous or may hold
	// secrets. For a symbolic link, Hash and Size are those of its target path.
	Hash         string    `json:"hash"`
	Size         int64     `json:"size_bytes"`
	LastModified time.Time `json:"last_modified,omitzero"`

	// Change is how the session changed the file. Omitted is the reason for a missing
	// content, else "".
	Change  Change  `json:"change"`
	Omitted Omitted `json:"content_omitted,omitempty"`
	// Added and Removed count lines against the commit at the session's start.
	Added   int `json:"lines_added,omitempty"`
	Removed int `json:"lines_removed,omitempty"`
	// Tracked compares the file with the commit that was checked out when the context was
	// saved.
	Tracked Tracked `json:"tracked,omitempty"`
	// Outline holds the file's declarations with their lines.
	Outline []Declaration `json:"outline,omitempty"`

	// Blob is the id of the git object with the content, empty if there is none.
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

// Tracked is the result of comparing a file with a commit.
type Tracked string

// The results; an empty one means unknown.
const (
	Committed   Tracked = "committed"   // the commit has this content
	Uncommitted Tracked = "uncommitted" // it has another content or no such file
)

// Omitted is the reason why a file's content is not stored.
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

	// Requests holds the person's requests verbatim, the oldest first. A request that only
	// confirms or chooses includes the text that it replies to.
	Requests []Request `json:"requests,omitempty"`
	// Progress describes the state of the last request.
	Progress Progress `json:"progress,omitzero"`
	// Todo holds the unfinished items of the agent's list, those in progress first.
	Todo []Todo `json:"todo,omitempty"`
	// OpenQuestion is the question at the end of the agent's last message, empty if a
	// prompt followed.
	OpenQuestion string `json:"open_question,omitempty"`
	// OpenOptions are the alternatives offered by the question.
	OpenOptions []string `json:"open_options,omitempty"`
	// Facts are what the session decided, tried, was told and found out, the oldest first.
	// Decisions has the decisions among them, in the common format.
	Facts []Fact `json:"facts,omitempty"`
	// Rewritten reports that a model wrote CurrentTask and the first three lists; what the transcript
	// doesn't support was left out.
	Rewritten bool `json:"rewritten,omitempty"`
}

// Request is a prompt, an accepted plan or a command with its arguments.
type Request struct {
	// Number counts the requests of the session from 1. Of a long session not all are kept.
	Number int    `json:"number"`
	Text   string `json:"text"`
	// RepliesTo is set if Text only confirms or chooses: the list item or question that it
	// answers, in the agent's words.
	RepliesTo string `json:"replies_to,omitempty"`
	// Edits is the number of edits of files between this request and the next.
	Edits int `json:"edits,omitempty"`
}

// Progress describes the state of the last request, as far as the transcript shows it.
type Progress struct {
	// Commits are the session's commits, the most recent first.
	Commits []Commit `json:"commits,omitempty"`
	// Pushed reports whether a push succeeded after the last commit.
	Pushed bool `json:"pushed,omitempty"`
	// PullRequests are the pull requests that the session created or worked on, the most
	// recent first: numbers or URLs.
	PullRequests []string `json:"pull_requests,omitempty"`
	// Opened is the URL of the pull request that the session created last.
	Opened string `json:"opened,omitempty"`
	// Reported is the agent's message at the end of its turn, empty if the turn did not
	// end.
	Reported string `json:"reported,omitempty"`
	// PastCompaction reports whether the work continued after the last compaction: tasks
	// that its summary lists as pending may be done.
	PastCompaction bool `json:"past_compaction,omitempty"`
	// Stopped is the reason why the turn did not end, LastCall its last tool call. Both are
	// empty if the turn ended or its end is unknown.
	Stopped  Stop   `json:"stopped,omitempty"`
	LastCall string `json:"last_call,omitempty"`
}

// Stop is the reason why a turn did not end.
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

// Context describes where the work was done: directory, branch, commands and files.
type Context struct {
	WorkingDirectory string   `json:"working_directory"`
	RelevantPackages []string `json:"relevant_packages"`
	// RecentCommands holds the texts of Commands.
	RecentCommands []string `json:"recent_commands"`
	GitBranch      string   `json:"git_branch"` // empty on a detached HEAD
	GitCommit      string   `json:"git_commit"` // empty before the first one

	Commands []Command `json:"commands,omitempty"`
	// FilesRead lists the files that the session read and didn't change, the most recently
	// read first. Paths are relative to the root of the worktree, or absolute outside it.
	FilesRead []string `json:"files_read,omitempty"`
	// FileNotes are the transcript's notes on edited files, the most recently edited first.
	FileNotes []FileNote `json:"file_notes,omitempty"`
	// FileUses counts the uses of the session's files, the most recently used first.
	FileUses []FileUse `json:"file_uses,omitempty"`
}

// FileUse records how often and how long ago a session used a file.
type FileUse struct {
	Path  string `json:"path"` // as in State.Files
	Edits int    `json:"edits,omitempty"`
	Reads int    `json:"reads,omitempty"`
	// Subagents is the number of edits and reads by subagents, among the others. A file that a
	// subagent's report names counts as read once.
	Subagents int `json:"subagents,omitempty"`
	// Test reports whether it is a test, judged by its path.
	Test bool `json:"test,omitempty"`
	// RequestsSince is the number of requests after the last use.
	RequestsSince int `json:"requests_since,omitempty"`
	// Lately reports whether the file was used or mentioned in the last 100 lines of the
	// conversation.
	Lately bool `json:"lately,omitempty"`
}

// FileNote is information from a transcript about an edited file.
type FileNote struct {
	Path string `json:"path"` // as in State.Files
	// Why is the agent's text before the last edits, empty if there is none. Request is the
	// number of the request that the edits were for, 0 if unknown.
	Why     string `json:"why,omitempty"`
	Request int    `json:"request,omitempty"`
	// Tracked is Committed if the session's commands show that one of its commits has the
	// last edit.
	Tracked Tracked `json:"tracked,omitempty"`
}

// Command is a shell command that the agent ran.
type Command struct {
	Text   string  `json:"command"`
	Result Outcome `json:"result"`
}

// Outcome is the outcome of a command.
type Outcome string

// The outcomes.
const (
	Passed  Outcome = "passed"
	Failed  Outcome = "failed"
	Unknown Outcome = "unknown" // no result, interrupted or in the background
)

// Filled returns the context without nil lists, which JSON would encode as null.
func (c Checkpoint) Filled() Checkpoint {
	if c.State.Files == nil {
		c.State.Files = map[string]File{}
	}
	a, in := &c.State.Analysis, &c.State.Context
	for _, list := range []*[]string{
		&c.Sessions, &a.NextSteps, &a.Decisions, &a.Blockers, &a.RelevantDocs, &in.RelevantPackages, &in.RecentCommands,
	} {
		if *list == nil {
			*list = []string{}
		}
	}
	return c
}
