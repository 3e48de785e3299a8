package strategy

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// step is what files were when a turn had ended, or before it began: a line of
// the side file "steps". A commit tells by them who wrote its lines.
type step struct {
	At   time.Time `json:"at"`
	Turn string    `json:"turn,omitempty"`
	// By is who made the files what they are.
	By stepAuthor `json:"by"`
	// Raw says that the blobs hold what stood in the worktree, unfiltered.
	Raw   bool          `json:"raw,omitempty"`
	Paths session.Paths `json:"paths"`
	// Blobs are the contents, goneBlob or unknownBlob.
	Blobs []git.OID `json:"blobs,omitempty"`
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
	// goneBlob is that of a file that doesn't exist.
	goneBlob git.OID = ""
	// unknownBlob is that of a file that could not be stored.
	unknownBlob git.OID = "?"
)

// maxSteps is the length of the side file from which it is written anew without
// what is settled.
const maxSteps = 256 << 10

// add adds a file.
func (s *step) add(path string, blob git.OID) {
	s.Paths, s.Blobs = append(s.Paths, path), append(s.Blobs, blob)
}

// readSteps answers the session's steps that are not settled, oldest first.
// What can't be read is left out: an attribution is then less exact.
func (r *Recorder) readSteps(ctx context.Context, s *session.State, n *notes) []step {
	data, err := n.steps.read(r.Sessions.SideOf(s, session.StepsKind), s.Recorder.Steps)
	if err != nil {
		r.Log.WarnContext(ctx, "what files were is lost", "session_id", s.ID, "error", err.Error())
		return nil
	}
	var steps []step
	for line := range bytes.Lines(data) {
		var next step
		if json.Unmarshal(line, &next) != nil {
			continue
		}
		if next.By == byCommit {
			steps = unsettled(steps, next.Paths)
		} else if len(next.Blobs) == len(next.Paths) {
			steps = append(steps, next)
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return a.At.Compare(b.At) })
	return steps
}

// unsettled reduces the steps to some paths.
func unsettled(steps []step, pending []string) []step {
	sorted := slices.Sorted(slices.Values(pending))
	var rest []step
	for _, s := range steps {
		kept := s
		kept.Paths, kept.Blobs = nil, nil
		for i, p := range s.Paths {
			if among(sorted, p) {
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
func (r *Recorder) addSteps(ctx context.Context, s *session.State, n *notes, steps ...step) error {
	rec := &s.Recorder
	steps = slices.DeleteFunc(steps, func(s step) bool { return s.By != byCommit && len(s.Paths) == 0 })
	if len(steps) == 0 {
		return nil
	}
	broken := len(n.steps.data) == 0 && r.Sessions.SideOf(s, session.StepsKind).Check(rec.Steps) != nil
	if broken || rec.Steps > maxSteps {
		steps = append(r.readSteps(ctx, s, n), steps...)
		rec.Steps, n.steps = 0, tail{}
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
	rec.Steps = n.steps.add(rec.Steps, data)
	return nil
}

// settleSteps notes a commit after which only some files are still pending.
func (r *Recorder) settleSteps(ctx context.Context, s *session.State, n *notes, pending []string) error {
	if s.Recorder.Steps == 0 {
		return nil
	}
	if len(pending) == 0 {
		s.Recorder.Steps, n.steps = 0, tail{}
		s.Renew(session.StepsKind)
		return nil
	}
	return r.addSteps(ctx, s, n, step{At: r.Env.Now().UTC(), By: byCommit, Paths: pending})
}

// renameSteps notes under their new names what the session wrote of files that
// were renamed.
func (r *Recorder) renameSteps(ctx context.Context, s *session.State, n *notes, renamed map[string]git.OID) error {
	wrote := step{At: r.Env.Now().UTC(), By: byAgent}
	for _, p := range slices.Sorted(maps.Keys(renamed)) {
		wrote.add(p, renamed[p])
	}
	return r.addSteps(ctx, s, n, wrote)
}

// keepSteps notes what the turn made of the files that it touched, and before
// that what persons had made of them since their last step.
func (r *Recorder) keepSteps(ctx context.Context, s *session.State, n *notes, turn stepTurn) error {
	made := step{At: r.Env.Now().UTC(), Turn: s.TurnID, By: byAgent}
	for _, p := range turn.touched {
		blob := unknownBlob
		if e, ok := turn.entries[p]; ok {
			blob = e.OID
		}
		if turn.entries[p].Mode != git.ModeModule {
			made.add(p, blob)
		}
	}
	before := r.stepBefore(ctx, s, n, turn)
	moved, before := r.splitMoved(ctx, s, n, before, turn.base.Tree)
	return r.addSteps(ctx, s, n, moved, before, made)
}

// stepTurn is a turn whose files become a step.
type stepTurn struct {
	touched []string
	entries map[string]git.Edit
	// base is the commit that they stand on.
	base git.Commit
}

// lastStep is the last known content of a path.
func lastStep(steps []step, path string) (blob git.OID, at time.Time, found bool) {
	for _, s := range slices.Backward(steps) {
		if i := slices.Index(s.Paths, path); i >= 0 {
			return s.Blobs[i], s.At, true
		}
	}
	return "", time.Time{}, false
}

// pathSteps are the steps of all sessions, by path and in the order of time.
type pathSteps map[string][]authoredStep

// authoredStep is what one step made of a path.
type authoredStep struct {
	at   time.Time
	by   string // a session, empty for a person
	blob git.OID
	raw  bool
}

// addSession adds the steps of a session.
func (m pathSteps) addSession(id string, steps []step) {
	for _, s := range steps {
		by := ""
		if s.By == byAgent {
			by = id
		}
		for i, p := range s.Paths {
			m[p] = append(m[p], authoredStep{at: s.At, by: by, blob: s.Blobs[i], raw: s.Raw})
		}
	}
}

// of answers a path's steps, oldest first. A file that was renamed has those of
// its old name before them, but its end.
func (m pathSteps) of(path, oldPath string) []authoredStep {
	steps := slices.Clone(m[path])
	if oldPath != "" {
		for _, s := range m[oldPath] {
			if s.blob != goneBlob {
				steps = append(steps, s)
			}
		}
	}
	slices.SortStableFunc(steps, func(a, b authoredStep) int { return a.at.Compare(b.at) })
	if len(steps) > mostSteps {
		steps = lastOfEach(steps)
	}
	return steps[max(0, len(steps)-mostSteps):]
}

// mostSteps is how many steps of a file are compared, of more of them the
// newest.
const mostSteps = 40

// lastOfEach keeps the last of several steps that one author made in a row: the
// others matter only to whoever goes back to them.
func lastOfEach(steps []authoredStep) []authoredStep {
	var last []authoredStep
	for _, s := range steps {
		if n := len(last); n > 0 && last[n-1].by == s.by {
			last[n-1] = s
			continue
		}
		last = append(last, s)
	}
	return last
}
