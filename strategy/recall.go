package strategy

import (
	"context"
	"time"

	"github.com/seed-3aff656d/entire/internal/recall"
)

// Saving is a wish for a context checkpoint.
type Saving struct {
	// SessionID is whose work is saved; empty: the session at work here last.
	SessionID string
	Cause     recall.Cause
	// What the one who asks says of it; empty: as the transcript tells.
	Summary, Description string
	Tags                 []string
	// Mode is empty for what the settings say.
	Mode recall.Mode
}

// SaveContext saves a context checkpoint, and answers it without contents.
func (r *Recorder) SaveContext(ctx context.Context, want Saving) (recall.Checkpoint, error) {
	panic("unfinished")
}

// Contexts is where the context checkpoints are.
func (r *Recorder) Contexts() recall.Store { panic("unfinished") }

// Recalled is a checkpoint with the brief that it makes now.
type Recalled struct {
	Checkpoint recall.Checkpoint
	Brief      recall.Brief
}

// Recall makes the brief of the checkpoint id; of the one that a session which
// starts here now would get if id is empty. It wraps recall.ErrNotFound.
func (r *Recorder) Recall(ctx context.Context, id string, kind recall.Kind) (Recalled, error) {
	panic("unfinished")
}

// Clearing is a session whose context is about to be cleared, or one that
// begins with a cleared context.
type Clearing struct {
	SessionID, PromptID string
	// Transcript is the path of the transcript, empty if unknown.
	Transcript string
}

// Unsaved is what a clear would lose, if nobody kept it.
type Unsaved struct {
	// ID is the checkpoint that was saved, for the case that nobody answers;
	// empty if nothing is to be saved.
	ID string
	// Ask says that the person is to be asked.
	Ask bool
	// Files and Added count what changed since the last kept checkpoint, which
	// is as old as Last says; zero if there was none.
	Files, Added int
	Last         time.Time
	Summary      string
}

// BeforeClear saves what a clear would lose, and says whether to ask. It and
// the hook at the session's end may run in any order, at once, and twice.
func (r *Recorder) BeforeClear(ctx context.Context, c Clearing) (Unsaved, error) {
	panic("unfinished")
}

// ClearAnswer is what a person said before a clear.
type ClearAnswer int

// The answers.
const (
	NoAnswer ClearAnswer = iota // also: cancelled
	KeepIt
	DiscardIt
)

// AnswerClear carries out the answer.
func (r *Recorder) AnswerClear(ctx context.Context, c Clearing, answer ClearAnswer) error {
	panic("unfinished")
}

// AfterClear says whether the person is to be asked if a session that begins
// after a clear goes on from a checkpoint, and from which.
func (r *Recorder) AfterClear(ctx context.Context, c Clearing) (_ Recalled, ask bool, err error) {
	panic("unfinished")
}
