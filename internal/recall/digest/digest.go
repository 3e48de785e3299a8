// Package digest reads a session's transcript line by line, without a model, into a
// Digest of bounded size, and derives from it the analysis of a saved context.
package digest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/plain"
	"github.com/seed-3aff656d/entire/internal/recall/shellcmd"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Digest is what a transcript has of a session's work so far. Hooks store it as
// JSON; its size is bounded, whatever the transcript contains. The zero Digest is that
// of an empty transcript. Its texts are redacted.
//
// It has all lines of the file, also those that the user has rewound.
type Digest struct {
	// Format is the version of this form: a digest of another one restarts.
	Format int `json:"format,omitempty"`
	// Cursor is the position up to which the transcript is read.
	Cursor transcript.Cursor `json:"cursor"`
	// Prompts is the number of prompts, PromptID the agent's id of the last one, empty
	// if unknown.
	Prompts  int    `json:"prompts"`
	PromptID string `json:"prompt_id,omitempty"`
	// Tokens is the size of the context at the last message of the agent, 0 if unknown,
	// as after a compaction.
	Tokens int64 `json:"tokens,omitempty"`
	// Model and MessageID are those of the agent's last message.
	Model     string `json:"model,omitempty"`
	MessageID string `json:"message_id,omitempty"`
	// Edited are the absolute paths that edit tools changed, Read those that the
	// session read, the most recent last.
	Edited []string `json:"edited,omitempty"`
	Read   []string `json:"read,omitempty"`
	// Uses are the files of both, with how often they were used, Lines the number of lines
	// of the conversation.
	Uses  []Use `json:"uses,omitempty"`
	Lines int   `json:"lines,omitempty"`
	// Compaction is the agent's summary at the last compaction, CompactedAt the number of
	// requests before it.
	Compaction  string `json:"compaction,omitempty"`
	CompactedAt int    `json:"compacted_at,omitempty"`
	// PlanOffered is set while the agent's last action is to offer a plan
	// (ExitPlanMode).
	PlanOffered bool `json:"plan_offered,omitempty"`

	// Cwd is the session's directory at the last line that names one.
	Cwd string `json:"cwd,omitempty"`
	// Branch is the branch that was checked out at the last line that names one.
	Branch string `json:"branch,omitempty"`
	// Title is the session's title, by the user or the agent.
	Title string `json:"title,omitempty"`
	// Asked are the last prompts of at least four words, the most recent last; Short
	// is a shorter prompt after them.
	Asked []Asked `json:"asked,omitempty"`
	Short string  `json:"short,omitempty"`
	// Requests are what the person asked, with the number of all requests in Asks. Queue
	// are prompts that the client has not given to the agent.
	Requests []recall.Request `json:"requests,omitempty"`
	Asks     int              `json:"asks,omitempty"`
	Queue    []string         `json:"queue,omitempty"`
	// Acted is set when the agent has written something since the last prompt, Ended while
	// its last action is a text. LastCall is its last tool call.
	Acted    bool   `json:"acted,omitempty"`
	Ended    bool   `json:"ended,omitempty"`
	LastCall string `json:"last_call,omitempty"`
	// Commits are those that the session made, Pushed is set when a push followed them,
	// Pulls are pull requests, Opened is the URL of the last one that the session created,
	// Staged the arguments of git add since the last commit.
	Commits []recall.Commit `json:"commits,omitempty"`
	Pushed  bool            `json:"pushed,omitempty"`
	Pulls   Pulls           `json:"pulls,omitempty"`
	Opened  string          `json:"opened,omitempty"`
	Staged  []string        `json:"staged,omitempty"`
	// Notes are about edited files, the most recently edited last.
	Notes []Note `json:"notes,omitempty"`
	// Said is the agent's last text, SaidAt the number of prompts before it.
	Said   string `json:"said,omitempty"`
	SaidAt int    `json:"said_at,omitempty"`
	// Question is the last one that the agent's tool asked, until there is a reply.
	Question Question `json:"question,omitzero"`
	// Tasks is the agent's list of tasks. Worked reports that a file was edited after the
	// agent's last text, Doing is the task that was begun after that.
	Tasks  Tasks  `json:"tasks,omitempty"`
	Worked bool   `json:"worked,omitempty"`
	Doing  string `json:"doing,omitempty"`
	// Plan is the last plan that was offered.
	Plan Plan `json:"plan,omitzero"`
	// Answers are decisions of the user, Chosen decisions that the agent reported.
	Answers []string `json:"answers,omitempty"`
	Chosen  []string `json:"chosen,omitempty"`
	// Commands are the shell commands that did more than show something, the most
	// recent last.
	Commands []recall.Command `json:"commands,omitempty"`
	Troubles Troubles         `json:"troubles,omitempty"`
	// Docs are URLs that were fetched.
	Docs []string `json:"docs,omitempty"`
	// Open are the tool calls without a result.
	Open []Call `json:"open,omitempty"`
}

// Asked is a prompt, and the number of prompts up to it.
type Asked struct {
	Text string `json:"text"`
	At   int    `json:"at"`
}

// Call is a tool call whose result is not in the transcript yet.
type Call struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
	// Text is the file, the command, the task or the URL.
	Text string `json:"text,omitempty"`
	// Of a command: Checks is what it checks, Judge how its success is judged,
	// Trivial that it only shows something, Shown the files that it shows.
	Checks  shellcmd.Checks `json:"checks,omitempty"`
	Judge   shellcmd.Judge  `json:"judge,omitempty"`
	Trivial bool            `json:"trivial,omitempty"`
	Shown   []string        `json:"shown,omitempty"`
	// Git are its git commands that change something, UsesGit is set if it has any; Pull is the pull request that it works on.
	Git     []shellcmd.Git `json:"git,omitempty"`
	UsesGit bool           `json:"uses_git,omitempty"`
	Pull    string         `json:"pull,omitempty"`
}

// format is the version of the form of a digest.
const format = 3

// Catch reads the new lines of the transcript at path, up to the end of the line at
// limit bytes (0: all); rest reports whether there are more. If the transcript was
// replaced, the digest restarts. A missing transcript is no error. After an error the
// digest is unchanged.
func (d *Digest) Catch(ctx context.Context, path string, redact plain.Redactor, limit int64) (rest bool, err error) {
	// A copy whose lists can be changed independently.
	next := *d
	next.Edited, next.Read, next.Docs = slices.Clone(d.Edited), slices.Clone(d.Read), slices.Clone(d.Docs)
	next.Uses = slices.Clone(d.Uses)
	next.Asked, next.Tasks, next.Commands = slices.Clone(d.Asked), slices.Clone(d.Tasks), slices.Clone(d.Commands)
	next.Answers, next.Chosen = slices.Clone(d.Answers), slices.Clone(d.Chosen)
	next.Troubles, next.Open = slices.Clone(d.Troubles), slices.Clone(d.Open)
	next.Requests, next.Queue, next.Commits = slices.Clone(d.Requests), slices.Clone(d.Queue), slices.Clone(d.Commits)
	next.Pulls, next.Staged, next.Notes = slices.Clone(d.Pulls), slices.Clone(d.Staged), slices.Clone(d.Notes)
	if next.Format != format {
		next = Digest{Format: format}
	}
	r := reader{Digest: &next, redact: redact}
	at, rest, err := transcript.Follow(ctx, path, next.Cursor, transcript.Follower{
		Restart: func() { next, r.text = Digest{Format: format}, lastText{} },
		Line:    r.line,
		Limit:   limit,
	})
	if errors.Is(err, transcript.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("digest: %w", err)
	}
	r.finish()
	next.Cursor = at
	*d = next
	return rest, nil
}

// The limits of texts in a digest, in bytes of JSON.
const (
	maxCompaction = 16 << 10
	maxSaid       = 6 << 10
	maxAsked      = 2 << 10
	maxItem       = 300
	maxCall       = 200
	maxQuestion   = 200
	maxName       = 128
	maxPath       = 1 << 10
)

func tasksBound() plain.Bound { return plain.Bound{Items: 40, Bytes: 12 << 10} }
