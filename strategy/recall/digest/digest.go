// Package digest reads a session's transcript line by line, without a model, into a
// Digest of bounded size, and derives from it the analysis of a saved context.
package digest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
)

// Digest summarizes a session's work from its transcript so far. Hooks store it as JSON;
// its size is bounded for any transcript. The zero Digest is that of an empty transcript.
// Its texts are redacted.
//
// It includes all lines of the file, even those that the user has rewound.
type Digest struct {
	// Format is the version of this format; a digest of another version restarts.
	Format int `json:"format,omitempty"`
	// Cursor is the position in the transcript up to which it was read.
	Cursor transcript.Cursor `json:"cursor"`
	// Prompts is the number of prompts, PromptID the agent's id of the last one, empty
	// if unknown.
	Prompts  int    `json:"prompts"`
	PromptID string `json:"prompt_id,omitempty"`
	// Tokens is the size of the context at the agent's last message, 0 if unknown, for
	// example after a compaction.
	Tokens int64 `json:"tokens,omitempty"`
	// Model and MessageID are those of the agent's last message.
	Model     string `json:"model,omitempty"`
	MessageID string `json:"message_id,omitempty"`
	// Edited holds the absolute paths that edit tools changed, Read those that the session
	// read, the most recent last.
	Edited []string `json:"edited,omitempty"`
	Read   []string `json:"read,omitempty"`
	// Uses counts the uses of the files in both lists. Lines is the number of lines of the
	// conversation.
	Uses  []Use `json:"uses,omitempty"`
	Lines int   `json:"lines,omitempty"`
	// Compaction is the agent's summary at the last compaction, CompactedAt the number of
	// requests before it.
	Compaction  string `json:"compaction,omitempty"`
	CompactedAt int    `json:"compacted_at,omitempty"`
	// PlanOffered is set while the agent's last action is an offered plan (ExitPlanMode).
	PlanOffered bool `json:"plan_offered,omitempty"`

	// Cwd is the session's directory according to the last line that has one.
	Cwd string `json:"cwd,omitempty"`
	// Branch is the checked out branch according to the last line that has one.
	Branch string `json:"branch,omitempty"`
	// Title is the session's title, set by the user or the agent.
	Title string `json:"title,omitempty"`
	// Asked are the last prompts of at least four words, the most recent last; Short
	// is a shorter prompt after them.
	Asked []Asked `json:"asked,omitempty"`
	Short string  `json:"short,omitempty"`
	// Requests holds the person's last requests; Asks counts all of them. Queue holds
	// prompts that the client has not passed to the agent yet.
	Requests []recall.Request `json:"requests,omitempty"`
	Asks     int              `json:"asks,omitempty"`
	Queue    []string         `json:"queue,omitempty"`
	// Acted is set if the agent has written anything since the last prompt, Ended while its
	// last action is a text. LastCall is its last tool call.
	Acted    bool   `json:"acted,omitempty"`
	Ended    bool   `json:"ended,omitempty"`
	LastCall string `json:"last_call,omitempty"`
	// Commits are the session's commits; Pushed is set if a push followed them. Pulls are
	// pull requests, Opened is the URL of the last one that the session created. Staged
	// holds the arguments of git add, rm and mv since the last commit.
	Commits []recall.Commit `json:"commits,omitempty"`
	Pushed  bool            `json:"pushed,omitempty"`
	Pulls   Pulls           `json:"pulls,omitempty"`
	Opened  string          `json:"opened,omitempty"`
	Staged  []string        `json:"staged,omitempty"`
	// Notes are notes on edited files, the most recently edited last.
	Notes []Note `json:"notes,omitempty"`
	// Said is the agent's last text, SaidAt the number of prompts before it.
	Said   string `json:"said,omitempty"`
	SaidAt int    `json:"said_at,omitempty"`
	// Question is the last question asked with the agent's tool, until there is a reply.
	Question Question `json:"question,omitzero"`
	// Tasks is the agent's list of tasks. Worked is set if a file was edited after the
	// agent's last text, Doing is the task that was begun after that edit.
	Tasks  Tasks  `json:"tasks,omitempty"`
	Worked bool   `json:"worked,omitempty"`
	Doing  string `json:"doing,omitempty"`
	// Plan is the last offered plan.
	Plan Plan `json:"plan,omitzero"`
	// Facts are what was decided, tried and told, the oldest first.
	Facts []Fact `json:"facts,omitempty"`
	// Missing is the last command that failed because a program or a script was missing,
	// Background the last one that was started in the background.
	Missing    Missing `json:"missing,omitzero"`
	Background string  `json:"background,omitempty"`
	// Replaced holds the last edits, Corrections the last corrections of the person.
	Replaced    []Replaced   `json:"replaced,omitempty"`
	Corrections []Correction `json:"corrections,omitempty"`
	// Commands holds the shell commands that did more than show output, the most recent
	// last.
	Commands []recall.Command `json:"commands,omitempty"`
	Troubles Troubles         `json:"troubles,omitempty"`
	// Docs holds the fetched URLs.
	Docs []string `json:"docs,omitempty"`
	// Open holds the tool calls without a result.
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
	// For a command: Checks is the set of its checks, Judge the way to judge its success,
	// Trivial is set if it only shows something, Shown holds the files that it shows.
	Checks  shellcmd.Checks `json:"checks,omitempty"`
	Judge   shellcmd.Judge  `json:"judge,omitempty"`
	Trivial bool            `json:"trivial,omitempty"`
	// Subagent is set if a subagent made it.
	Subagent bool `json:"subagent,omitempty"`
	// Background is set if it runs in the background.
	Background bool     `json:"background,omitempty"`
	Shown      []string `json:"shown,omitempty"`
	// For an edit: Old and New are the hashes of the replaced text and of the new one.
	Old uint64 `json:"old,omitempty"`
	New uint64 `json:"new,omitempty"`
	// Git holds its git commands that change the repository, UsesGit is set if it runs git
	// at all. Reference is the pull request or issue that it works on.
	Git     []shellcmd.Git `json:"git,omitempty"`
	UsesGit bool           `json:"uses_git,omitempty"`

	Reference shellcmd.Reference `json:"reference,omitzero"`
}

// format is the version of the format of a digest.
const format = 4

// Catch reads the new lines of the transcript at path, up to the end of the line at limit
// bytes (0: all); rest reports whether there are more. If the transcript was replaced, the
// digest restarts. A missing transcript is not an error. On an error the digest is
// unchanged.
func (d *Digest) Catch(ctx context.Context, path string, redact plain.Redactor, limit int64) (rest bool, err error) {
	// Copy the digest and its lists, so that d is unchanged on an error.
	next := *d
	next.Edited, next.Read, next.Docs = slices.Clone(d.Edited), slices.Clone(d.Read), slices.Clone(d.Docs)
	next.Uses = slices.Clone(d.Uses)
	next.Asked, next.Tasks, next.Commands = slices.Clone(d.Asked), slices.Clone(d.Tasks), slices.Clone(d.Commands)
	next.Facts, next.Replaced, next.Corrections = slices.Clone(d.Facts), slices.Clone(d.Replaced), slices.Clone(d.Corrections)
	next.Troubles, next.Open = slices.Clone(d.Troubles), slices.Clone(d.Open)
	next.Requests, next.Queue, next.Commits = slices.Clone(d.Requests), slices.Clone(d.Queue), slices.Clone(d.Commits)
	next.Pulls, next.Staged, next.Notes = slices.Clone(d.Pulls), slices.Clone(d.Staged), slices.Clone(d.Notes)
	if next.Format != format {
		next = Digest{Format: format}
	}
	r := reader{Digest: &next, redact: redact, events: transcript.Events{Subagents: true}}
	r.linesOf = func(id string, line func([]byte)) bool {
		const longest = 8 << 20
		f, ok := transcript.FindSubagent(path, id)
		if !ok || f.Size > longest {
			return false
		}
		_, _, err := transcript.Follow(ctx, f.Path, transcript.Cursor{}, transcript.Follower{Restart: func() {}, Line: line})
		return err == nil
	}
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
	maxFact       = 300
	maxCall       = 200
	maxQuestion   = 200
	maxName       = 128
	maxPlanName   = 100
	maxPath       = 1 << 10
)

func editedBound() plain.Bound { return plain.Bound{Items: 300, Bytes: 24 << 10} }

func tasksBound() plain.Bound { return plain.Bound{Items: 40, Bytes: 12 << 10} }
