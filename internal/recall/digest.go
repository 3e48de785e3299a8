package recall

import (
	"context"

	"github.com/seed-3aff656d/entire/session/transcript"
)

// Digest is what a transcript says of a session's work so far. It is kept as
// JSON between hooks; its size is bounded, whatever the transcript holds. The
// zero Digest is of an empty transcript. Its texts are redacted.
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
	// Model is the last answer's.
	Model string `json:"model,omitempty"`
	// Edited are the absolute paths that edit tools changed, Read those that the
	// session read, the most recent last.
	Edited []string `json:"edited,omitempty"`
	Read   []string `json:"read,omitempty"`
	// Compaction is the agent's own last summary.
	Compaction string `json:"compaction,omitempty"`
	// PlanOffered says that the last thing the agent did was to offer a plan
	// (ExitPlanMode), with nothing after it but its answer.
	PlanOffered bool `json:"plan_offered,omitempty"`
}

// Texts redacts what is kept of a transcript.
type Texts interface {
	Text(s string) string
	Path(path string) string
}

// Catch reads what is new in the transcript at path and takes it in, no more
// than limit bytes (0: all); rest says that there is more. Where the transcript
// was replaced, the digest begins anew. A transcript that isn't there is no error.
func (d *Digest) Catch(ctx context.Context, path string, redact Texts, limit int64) (rest bool, err error) {
	panic("unfinished")
}

// Line takes in one raw line. Catch does no more than hand it lines.
func (d *Digest) Line(raw []byte, redact Texts) { panic("unfinished") }

// Sources is what an analysis is made from beside the digest.
type Sources struct {
	// Root is the worktree's; paths below it are shown relative to it.
	Root   string
	Branch string
	// Subjects are those of the commits that the session made, the last first.
	Subjects []string
	// Said is the agent's last message, as a stop hook told it, where the
	// transcript may not have it yet.
	Said string
	// Files are the paths that the session changed, from the root.
	Files []string
	// Added and Removed are their lines.
	Added, Removed int
}

// Analysis is what was going on.
func (d *Digest) Analysis(src Sources) Analysis { panic("unfinished") }

// Summary is the work in one line: at most 80 characters and the figures.
func (d *Digest) Summary(src Sources) string { panic("unfinished") }

// Description are some sentences more: what was asked, what the agent said last.
func (d *Digest) Description(src Sources) string { panic("unfinished") }

// Context is where it was going on; the git fields are the caller's.
func (d *Digest) Context(src Sources) Context { panic("unfinished") }
