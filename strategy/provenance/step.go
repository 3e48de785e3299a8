// Package provenance records what files were when a turn ended or began, and reads
// what sessions did since, as evidence of who made a change. Package authorship
// judges by it. Stops and prompts record steps; commits, rewinds and status read them.
//
// It imports the packages workspace, snapshots, tracking and attribution of strategy.
package provenance

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript/prompts"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Step is what files were when a turn had ended, or before it began: a line of
// the side file "steps". A commit attributes its lines by them.
type Step struct {
	At time.Time `json:"at"`
	// Begun is when the turn began; zero if that isn't known.
	Begun time.Time `json:"begun,omitzero"`
	Turn  string    `json:"turn,omitempty"`
	// Line is where the turn begins in the transcript, from 0.
	Line int `json:"line,omitempty"`
	// Prompt is what was asked in the turn, redacted and cut.
	Prompt string `json:"prompt,omitempty"`
	// Beside are other sessions that were at work in the turn.
	Beside []string `json:"beside,omitempty"`
	// Mixed reports that the files may have been changed before the turn, it isn't known by whom.
	Mixed bool `json:"mixed,omitempty"`
	// By is who made the files what they are.
	By stepAuthor `json:"by"`
	// Raw reports whether the blobs hold the files of the worktree unfiltered.
	Raw   bool          `json:"raw,omitempty"`
	Paths session.Paths `json:"paths"`
	// Blobs are the contents, [GoneBlob] or [UnknownBlob].
	Blobs []git.OID `json:"blobs,omitempty"`
	// Early reports that a commit came after it.
	Early bool `json:"early,omitempty"`
}

// stepAuthor is who made a step.
type stepAuthor string

const (
	byAgent  stepAuthor = "agent"
	byPerson stepAuthor = "human"
	// byCommit is a commit: of all files but those that it names, which are
	// still pending, what came before is settled.
	byCommit stepAuthor = "commit"
)

const (
	// GoneBlob is that of a file that doesn't exist.
	GoneBlob git.OID = ""
	// UnknownBlob is that of a file that could not be stored.
	UnknownBlob git.OID = "?"
)

// maxSteps is the length of the side file from which it is rewritten without
// what is settled.
const maxSteps = 256 << 10

// add adds a file.
func (s *Step) add(path string, blob git.OID) {
	s.Paths, s.Blobs = append(s.Paths, path), append(s.Blobs, blob)
}

// ReadSteps returns the session's steps that are not settled, oldest first. What can't
// be read is left out: an attribution is then less exact.
func (sp *Steps) ReadSteps(ctx context.Context, s *session.State, n *tracking.Pending) []Step {
	data, err := n.Steps.Read(sp.Sessions.SideOf(s, session.StepsKind), s.Recorder.Steps)
	if err != nil {
		sp.Log.WarnContext(ctx, "steps not read", "session_id", s.ID, "error", err.Error())
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

// unsettled reduces the steps to some paths.
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

// addSteps leaves in n what is to be added to the session's steps.
func (sp *Steps) addSteps(ctx context.Context, s *session.State, n *tracking.Pending, steps ...Step) error {
	rec := &s.Recorder
	steps = slices.DeleteFunc(steps, func(s Step) bool { return s.By != byCommit && len(s.Paths) == 0 })
	if len(steps) == 0 {
		return nil
	}
	broken := len(n.Steps.Data) == 0 && sp.Sessions.SideOf(s, session.StepsKind).Check(rec.Steps) != nil
	if broken || rec.Steps > maxSteps {
		steps = append(sp.ReadSteps(ctx, s, n), steps...)
		rec.Steps, n.Steps = 0, tracking.Tail{}
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
func (sp *Steps) SettleSteps(ctx context.Context, s *session.State, n *tracking.Pending, pending []string) error {
	if s.Recorder.Steps == 0 {
		return nil
	}
	if len(pending) == 0 {
		s.Recorder.Steps, n.Steps = 0, tracking.Tail{}
		s.Renew(session.StepsKind)
		return nil
	}
	return sp.addSteps(ctx, s, n, Step{At: sp.Env.Now().UTC(), By: byCommit, Paths: pending})
}

// RenameSteps records under their new names what the session wrote of files that were
// renamed.
func (sp *Steps) RenameSteps(ctx context.Context, s *session.State, n *tracking.Pending, renamed map[string]git.OID) error {
	wrote := Step{At: sp.Env.Now().UTC(), By: byAgent}
	for _, p := range slices.Sorted(maps.Keys(renamed)) {
		wrote.add(p, renamed[p])
	}
	return sp.addSteps(ctx, s, n, wrote)
}

// AddTurn records what the turn made of the files that it touched, and before that
// what persons had made of them since their last step.
func (sp *Steps) AddTurn(ctx context.Context, s *session.State, n *tracking.Pending, turn StepTurn) error {
	since := s.Recorder.Turn.Start
	var beside []string
	if !since.IsZero() {
		// Sessions that were at work in the turn count even if they have nothing pending.
		for _, o := range append(sp.OtherPendingSessions(ctx, s.ID), sp.Sessions.RestingSince(since)...) {
			worked := o.Phase == session.Active || o.LastInteraction != nil && o.LastInteraction.After(since)
			if o.ID != s.ID && worked && sp.OwnsSession(o) {
				beside = append(beside, o.ID)
			}
		}
	}
	made := Step{
		At: sp.Env.Now().UTC(), Begun: since.UTC(), Turn: s.TurnID, Line: s.Recorder.Turn.Line, Prompt: TitleOf(s),
		Beside: beside, Mixed: s.Recorder.Turn.Mixed, By: byAgent,
	}
	for _, p := range turn.Touched {
		blob := UnknownBlob
		if e, ok := turn.Entries[p]; ok {
			blob = e.OID
		}
		if turn.Entries[p].Mode != git.ModeModule {
			made.add(p, blob)
		}
	}
	before := sp.StepBefore(ctx, s, n, turn)
	moved, before := sp.splitMoved(ctx, s, n, before, turn.Base.Tree)
	return sp.addSteps(ctx, s, n, moved, before, made)
}

// TitleOf returns what was asked in the session's turn as a title, empty if that isn't
// known or was only a reply.
func TitleOf(s *session.State) string {
	for _, prompt := range slices.Backward(s.Recorder.Turn.Prompts) {
		if title := prompts.Title(prompt); title != "" {
			return checkpoint.FirstPrompt(title)
		}
	}
	return ""
}

// StepTurn is a turn whose files become a step.
type StepTurn struct {
	Touched []string
	Entries map[string]gittree.Edit
	// Base is the commit that they are based on.
	Base git.Commit
}

// lastStep is the last known content of a path.
func lastStep(steps []Step, path string) (blob git.OID, at time.Time, found bool) {
	for _, s := range slices.Backward(steps) {
		if i := slices.Index(s.Paths, path); i >= 0 {
			return s.Blobs[i], s.At, true
		}
	}
	return "", time.Time{}, false
}
