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

// Digest is what a transcript says of a session's work so far. It is kept as
// JSON between hooks; its size is bounded, whatever the transcript holds. The
// zero Digest is of an empty transcript. Its texts are redacted.
//
// Lines are taken in as they stand in the file: what a person has rewound stays
// in.
type Digest struct {
	// Cursor is how far the transcript is read.
	Cursor transcript.Cursor `json:"cursor"`
	// Prompts counts what people asked, PromptID is the last one's, as hooks
	// and transcript name it, empty if unknown.
	Prompts  int    `json:"prompts"`
	PromptID string `json:"prompt_id,omitempty"`
	// Tokens is how full the context was at the last answer, 0 if unknown, as
	// after a compaction.
	Tokens int64 `json:"tokens,omitempty"`
	// Model is the last answer's, MessageID its message's.
	Model     string `json:"model,omitempty"`
	MessageID string `json:"message_id,omitempty"`
	// Edited are the absolute paths that edit tools changed, Read those that the
	// session read, the most recent last.
	Edited []string `json:"edited,omitempty"`
	Read   []string `json:"read,omitempty"`
	// Compaction is the agent's own last summary.
	Compaction string `json:"compaction,omitempty"`
	// PlanOffered says that the last thing the agent did was to offer a plan
	// (ExitPlanMode), with nothing after it but its answer.
	PlanOffered bool `json:"plan_offered,omitempty"`

	// Cwd is the session's directory at the last line that names one.
	Cwd string `json:"cwd,omitempty"`
	// Title is what the session is called, by the user or the agent.
	Title string `json:"title,omitempty"`
	// Asked are the last prompts that are more than a word or two, the last of
	// them last; Short is one that is not, if it came after.
	Asked []Asked `json:"asked,omitempty"`
	Short string  `json:"short,omitempty"`
	// Said is the agent's last text, SaidAt how many prompts there were then.
	Said   string `json:"said,omitempty"`
	SaidAt int    `json:"said_at,omitempty"`
	// Tasks is the agent's own list.
	Tasks []Task `json:"tasks,omitempty"`
	// Plan is the last plan that was offered.
	Plan Outlined `json:"plan,omitzero"`
	// Answers are what people decided, Chosen what the agent says that it did.
	Answers []string `json:"answers,omitempty"`
	Chosen  []string `json:"chosen,omitempty"`
	// Commands are the shell commands that did more than look, the last one last.
	Commands []recall.Command `json:"commands,omitempty"`
	// Troubles are what went wrong and was not seen to go right after.
	Troubles []Trouble `json:"troubles,omitempty"`
	// Docs are URLs that were fetched.
	Docs []string `json:"docs,omitempty"`
	// Open are the tools' calls without a result yet.
	Open []Call `json:"open,omitempty"`

	// said is the text that Said becomes, raw.
	said   []byte
	events transcript.Events
}

// Asked is a prompt, and how many there were with it.
type Asked struct {
	Text string `json:"text"`
	At   int    `json:"at"`
}

// Task is an item of the agent's list.
type Task struct {
	ID    string `json:"id,omitempty"`
	Text  string `json:"text"`
	State string `json:"state"` // pending, in_progress or completed
}

// Outlined is what is kept of a plan.
type Outlined struct {
	Title string   `json:"title"`
	Steps []string `json:"steps,omitempty"`
	// Accepted says that a person agreed to it, Begun that files were edited
	// since, At how many prompts there were.
	Accepted bool `json:"accepted,omitempty"`
	Begun    bool `json:"begun,omitempty"`
	At       int  `json:"at,omitempty"`
}

// Call is the use of a tool whose result is still to come.
type Call struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
	// Text is the file, the command, the task or the URL.
	Text string `json:"text,omitempty"`
	// Of a command: Checks is what it checks, Judge how its success is judged,
	// Trivial that it only looks, Shown the files that it shows.
	Checks  shellcmd.Checks `json:"checks,omitempty"`
	Judge   shellcmd.Judge  `json:"judge,omitempty"`
	Trivial bool            `json:"trivial,omitempty"`
	Shown   []string        `json:"shown,omitempty"`
}

// Trouble is something that went wrong.
type Trouble struct {
	Kind TroubleKind `json:"kind"`
	// Text is the command, file or tool, Why the line that tells what was wrong.
	Text string `json:"text"`
	Why  string `json:"why,omitempty"`
	// Checks are those of a command that have not passed since.
	Checks shellcmd.Checks `json:"checks,omitempty"`
}

// TroubleKind is what went wrong.
type TroubleKind string

// The kinds. All but failed commands are over with the next prompt.
const (
	FailedCommand TroubleKind = "command"
	FailedEdit    TroubleKind = "edit"
	Denied        TroubleKind = "denied"
	Interrupted   TroubleKind = "interrupted"
	FailedTurn    TroubleKind = "turn"
)

// Catch reads what is new in the transcript at path and takes it in, no more
// than limit bytes (0: all) but for the line that it ends with; rest says that
// there is more. Where the transcript was replaced, the digest begins anew. A
// transcript that isn't there is no error. After an error the digest is as before.
func (d *Digest) Catch(ctx context.Context, path string, redact plain.Redactor, limit int64) (rest bool, err error) {
	next := d.clone()
	at, rest, err := transcript.Follow(ctx, path, d.Cursor, transcript.Follower{
		Restart: func() { next = Digest{} },
		Line:    func(raw []byte) { next.take(raw, redact) },
		Limit:   limit,
	})
	if errors.Is(err, transcript.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("digest: %w", err)
	}
	next.settle(redact)
	next.Cursor = at
	*d = next
	return rest, nil
}

// Line takes in one raw line. Catch does no more than hand it lines.
func (d *Digest) Line(raw []byte, redact plain.Redactor) {
	d.take(raw, redact)
	d.settle(redact)
}

// clone is a copy that shares nothing which changes.
func (d *Digest) clone() Digest {
	c := *d
	c.Edited, c.Read, c.Docs = slices.Clone(d.Edited), slices.Clone(d.Read), slices.Clone(d.Docs)
	c.Asked, c.Tasks, c.Commands = slices.Clone(d.Asked), slices.Clone(d.Tasks), slices.Clone(d.Commands)
	c.Answers, c.Chosen = slices.Clone(d.Answers), slices.Clone(d.Chosen)
	c.Troubles, c.Open = slices.Clone(d.Troubles), slices.Clone(d.Open)
	c.said, c.events = nil, transcript.Events{}
	return c
}

// The bounds of what a digest keeps, in bytes of JSON.
const (
	maxCompaction = 16 << 10
	maxSaid       = 6 << 10
	maxAsked      = 2 << 10
	maxItem       = 300
	maxName       = 128
	maxPath       = 1 << 10
)

// The bounds of lists: items, and bytes in JSON.
func editedBound() plain.Bound  { return plain.Bound{Items: 300, Bytes: 24 << 10} }
func readBound() plain.Bound    { return plain.Bound{Items: 120, Bytes: 12 << 10} }
func askedBound() plain.Bound   { return plain.Bound{Items: 3, Bytes: 3 * maxAsked} }
func tasksBound() plain.Bound   { return plain.Bound{Items: 40, Bytes: 12 << 10} }
func stepsBound() plain.Bound   { return plain.Bound{Items: 12, Bytes: 4 << 10} }
func answersBound() plain.Bound { return plain.Bound{Items: 12, Bytes: 4 << 10} }
func chosenBound() plain.Bound  { return plain.Bound{Items: 5, Bytes: 2 << 10} }
func runBound() plain.Bound     { return plain.Bound{Items: 20, Bytes: 8 << 10} }
func troubleBound() plain.Bound { return plain.Bound{Items: 10, Bytes: 6 << 10} }
func docsBound() plain.Bound    { return plain.Bound{Items: 15, Bytes: 4 << 10} }
func openBound() plain.Bound    { return plain.Bound{Items: 64, Bytes: 16 << 10} }
