package tracking

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Step is the state of files after a turn, or before it: a line of the side file "steps". A
// commit attributes its lines by these steps.
type Step struct {
	At time.Time `json:"at"`
	// Begun is when the turn began; zero if that isn't known.
	Begun time.Time `json:"begun,omitzero"`
	Turn  string    `json:"turn,omitempty"`
	// Line is where the turn begins in the transcript, from 0.
	Line int `json:"line,omitempty"`
	// Prompt is the prompt of the turn, redacted and cut.
	Prompt string `json:"prompt,omitempty"`
	// Beside are other sessions that were at work in the turn.
	Beside []string `json:"beside,omitempty"`
	// Mixed reports that the files may have been changed before the turn, by an unknown
	// author.
	Mixed bool `json:"mixed,omitempty"`
	// By is the author of that state.
	By stepAuthor `json:"by"`
	// Unsure reports that lines that appear in that state may be others'. They are By's if one of
	// its calls wrote them.
	Unsure bool `json:"unsure,omitempty"`
	// Raw reports whether the blobs hold the files of the worktree unfiltered.
	Raw   bool          `json:"raw,omitempty"`
	Paths session.Paths `json:"paths"`
	// Blobs are the contents, [GoneBlob] or [UnknownBlob].
	Blobs []git.OID `json:"blobs,omitempty"`
	// Early reports that a commit came after it.
	Early bool `json:"early,omitempty"`
}

// stepAuthor is the author of a step.
type stepAuthor string

const (
	byAgent  stepAuthor = "agent"
	byPerson stepAuthor = "human"
	// byCommit marks a commit: earlier steps are settled for all files but those that it
	// names, which are still pending.
	byCommit stepAuthor = "commit"
)

const (
	// GoneBlob is the blob of a file that doesn't exist.
	GoneBlob git.OID = ""
	// UnknownBlob is the blob of a file that could not be stored.
	UnknownBlob git.OID = "?"
)

// maxSteps is the length of the side file above which it is rewritten without settled steps.
const maxSteps = 256 << 10

// add adds a file.
func (s *Step) add(path string, blob git.OID) {
	s.Paths, s.Blobs = append(s.Paths, path), append(s.Blobs, blob)
}

// ReadSteps returns the session's steps that are not settled, oldest first. Unreadable steps
// are left out, which makes an attribution less exact.
func ReadSteps(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending) []Step {
	data, err := n.Steps.Read(w.Sessions.SideOf(s, session.StepsKind), s.Recorder.Steps)
	if err != nil {
		w.Log.WarnContext(ctx, "steps not read", "session_id", s.ID, "error", err.Error())
		return nil
	}
	var steps []Step
	for line := range bytes.Lines(data) {
		var next Step
		if json.Unmarshal(line, &next) != nil {
			continue
		}
		if next.By == byCommit {
			steps = unsettled(steps, next.Paths)
		} else if len(next.Blobs) == len(next.Paths) {
			steps = append(steps, next)
		}
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return a.At.Compare(b.At) })
	return steps
}

// unsettled reduces the steps to the pending paths.
func unsettled(steps []Step, pending []string) []Step {
	sorted := slices.Sorted(slices.Values(pending))
	var rest []Step
	for _, s := range steps {
		kept := s
		kept.Paths, kept.Blobs, kept.Early = nil, nil, true
		for i, p := range s.Paths {
			if workspace.ContainsPath(sorted, p) {
				kept.add(p, s.Blobs[i])
			}
		}
		if len(kept.Paths) > 0 {
			rest = append(rest, kept)
		}
	}
	return rest
}

// addSteps adds to n the steps to be appended to the session's.
func addSteps(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, steps ...Step) error {
	rec := &s.Recorder
	steps = slices.DeleteFunc(steps, func(s Step) bool { return s.By != byCommit && len(s.Paths) == 0 })
	if len(steps) == 0 {
		return nil
	}
	broken := len(n.Steps.Data) == 0 && w.Sessions.SideOf(s, session.StepsKind).Check(rec.Steps) != nil
	if broken || rec.Steps > maxSteps {
		steps = append(ReadSteps(ctx, w, s, n), steps...)
		rec.Steps, n.Steps = 0, Tail{}
		s.Renew(session.StepsKind)
	}
	var data []byte
	for _, next := range steps {
		line, err := json.Marshal(next)
		if err != nil {
			return err
		}
		data = append(append(data, line...), '\n')
	}
	rec.Steps = n.Steps.Add(rec.Steps, data)
	return nil
}

// SettleSteps records a commit after which only some files are still pending.
func SettleSteps(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, pending []string) error {
	if s.Recorder.Steps == 0 {
		return nil
	}
	if len(pending) == 0 {
		s.Recorder.Steps, n.Steps = 0, Tail{}
		s.Renew(session.StepsKind)
		return nil
	}
	return addSteps(ctx, w, s, n, Step{At: w.Env.Now().UTC(), By: byCommit, Paths: pending})
}

// RenameSteps records renamed files under their new names, with the contents that the session
// wrote.
func RenameSteps(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, renamed map[string]git.OID) error {
	wrote := Step{At: w.Env.Now().UTC(), By: byAgent}
	for _, p := range slices.Sorted(maps.Keys(renamed)) {
		wrote.add(p, renamed[p])
	}
	return addSteps(ctx, w, s, n, wrote)
}

// AddTurn records the steps of a turn.
func AddTurn(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, turn StepTurn) error {
	return addSteps(ctx, w, s, n, TurnSteps(ctx, w, s, n, turn)...)
}

// TitleOf returns a title for the prompts of the session's turn, empty if there is none or
// only replies.
func TitleOf(s *session.State) string {
	for _, prompt := range slices.Backward(s.Recorder.Turn.Prompts) {
		if title := transcript.PromptTitle(prompt); title != "" {
			return checkpoint.FirstPrompt(title)
		}
	}
	return ""
}

// StepTurn is a turn whose files become a step.
type StepTurn struct {
	Touched []string
	Entries map[string]git.TreeEdit
	// Raw reports that the entries hold the files of the worktree unfiltered.
	Raw bool
	// Base is the commit that they are based on.
	Base git.Commit
	// Work is the work of the turn, nil if it isn't known.
	Work *Work
	// Unsure are files that others may have changed after the turn's last call.
	Unsure map[string]bool
	// End is the prompt that ended the turn, zero for another end. Late has the contents that files
	// had then and were changed since.
	End  time.Time
	Late map[string]git.OID
}

// lastStep returns the last known content of a path.
func lastStep(steps []Step, path string) (blob git.OID, at time.Time, found bool) {
	for _, s := range slices.Backward(steps) {
		if i := slices.Index(s.Paths, path); i >= 0 {
			return s.Blobs[i], s.At, true
		}
	}
	return "", time.Time{}, false
}
