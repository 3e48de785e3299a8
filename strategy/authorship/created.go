package authorship

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// mostCompared limits the content that is read to compare the files created by a commit, for all
// files together.
const mostCompared = 16 << 20

// Created decides which of the files created by a commit are a session's share, by the lines that
// the session wrote (docs/formats/attribution.md). Linking and its preview use it. The decision
// stores the result for attribution and for carrying files forward.
type Created struct {
	w       *workspace.Workspace
	Changes tracking.CommitChanges
	// Amended is the tree of the commit that the commit amends, "" if it amends none.
	Amended git.OID
	states  []*session.State
	// steps are the steps of all states, read when they are first needed.
	steps   tracking.PathSteps
	shadows map[string]git.OID
	// room is the number of bytes that may still be read. The second file that is too large sets it
	// to 0: each of them costs a process.
	room, tooLarge int
}

// NewCreated returns a Created for the changes of a commit.
func NewCreated(w *workspace.Workspace, changes tracking.CommitChanges, states []*session.State) *Created {
	return &Created{w: w, Changes: changes, states: states, shadows: map[string]git.OID{}, room: mostCompared}
}

// IsShare reports whether a file that the commit creates is the session's share. It is if the
// session left it with this content, or if its history is unknown. A binary file or an LFS pointer
// is a share only with a content that the session left. A file that is too large to compare is one
// if the session was the last to change it.
func (c *Created) IsShare(ctx context.Context, s *session.State, path string) (bool, error) {
	committed := c.Changes[path]
	left, found, err := c.left(ctx, s, path)
	if err != nil || found && left == committed.New {
		return err == nil, err
	}
	steps := c.History(ctx, s, path, left)
	if len(steps) == 0 || !workspace.IsBlob(committed.NewMode) {
		return len(steps) == 0, nil
	}
	for _, step := range steps {
		if step.By == s.ID && step.Blob == committed.New {
			return true, nil
		}
	}
	last := steps[len(steps)-1]
	if last.Blob == tracking.UnknownBlob {
		return last.By == s.ID, nil
	}
	share, ok, err := c.Compare(ctx, s, Comparison{committed.New, tracking.GoneBlob, steps})
	if err != nil || ok {
		return ok && share.Counts(), err
	}
	return last.By == s.ID, nil
}

// HasLines reports whether the commit adds lines to a file that the session wrote there. Lines that
// an amended commit has don't count, and a file that the commit creates needs enough lines for a share.
func (c *Created) HasLines(ctx context.Context, s *session.State, path string) (bool, error) {
	committed := c.Changes[path]
	steps := c.History(ctx, s, path, "")
	if len(steps) == 0 || !workspace.IsBlob(committed.NewMode) {
		return false, nil
	}
	base := committed.Old
	if committed.OldMode == 0 {
		base = tracking.GoneBlob
		share, ok, err := c.Compare(ctx, s, Comparison{committed.New, base, steps})
		if err != nil || !ok || !share.Counts() {
			return false, err
		}
	}
	if c.Amended != "" {
		was, found, err := c.w.Lookup(ctx, c.Amended, path)
		if err != nil {
			return false, err
		}
		if found {
			base = was.OID
		}
	}
	share, ok, err := c.Compare(ctx, s, Comparison{committed.New, base, steps})
	return ok && share.Kept > 0, err
}

// left returns the blob of a path on the session's shadow branch.
func (c *Created) left(ctx context.Context, s *session.State, path string) (git.OID, bool, error) {
	tree, ok := c.shadows[s.ID]
	if !ok {
		var err error
		if tree, err = c.w.ShadowTree(ctx, s); err != nil {
			return "", false, err
		}
		c.shadows[s.ID] = tree
	}
	e, found, err := c.w.Lookup(ctx, tree, path)
	return e.OID, found, err
}

// History returns the known states of a path before the commit: its steps, or without steps its
// content on the session's shadow branch.
func (c *Created) History(ctx context.Context, s *session.State, path string, left git.OID) []tracking.AuthoredStep {
	if c.steps == nil {
		c.steps = tracking.PathSteps{}
		for _, state := range c.states {
			c.steps.AddSession(state.ID, tracking.ReadSteps(ctx, c.w, state, new(tracking.Pending)))
		}
	}
	steps := c.steps.Of(path, "")
	if len(steps) == 0 && left != "" {
		steps = append(steps, tracking.AuthoredStep{At: s.StartedAt, By: s.ID, Blob: left})
	}
	return steps
}

// Comparison holds the blobs of a file whose lines are to be followed.
type Comparison struct {
	Final, Base git.OID
	Steps       []tracking.AuthoredStep
}

// Compare returns the session's share of a file. It returns false if the contents are too large to
// compare or some of them are missing. For a file that can't be compared by lines the share is
// zero.
func (c *Created) Compare(ctx context.Context, s *session.State, f Comparison) (attribution.Share, bool, error) {
	file, ok, err := c.file(ctx, f)
	if err != nil || !ok || workspace.IsOpaque(file.Final) {
		return attribution.Share{}, ok, err
	}
	return file.Shares()[attribution.Author(s.ID)], true, nil
}

// Wrote returns the lines that a session wrote in a file that the commit creates and that is not
// the session's share. For a file that can't be compared by lines it returns none.
func (c *Created) Wrote(ctx context.Context, s *session.State, path string) (checkpoint.LineRanges, error) {
	committed := c.Changes[path]
	left, found, err := c.left(ctx, s, path)
	if err != nil || found && left == committed.New || !workspace.IsBlob(committed.NewMode) {
		return nil, err
	}
	file, ok, err := c.file(ctx, Comparison{committed.New, tracking.GoneBlob, c.History(ctx, s, path, left)})
	if err != nil || !ok || workspace.IsOpaque(file.Final) || file.Shares()[attribution.Author(s.ID)].Counts() {
		return nil, err
	}
	file.Hunks = []git.Hunk{{New: 1, NewLines: len(splitLines(file.Final))}}
	var wrote checkpoint.LineRanges
	for _, l := range file.Attribute().Added {
		if l.By == attribution.Author(s.ID) {
			wrote = wrote.With(l.Number + 1)
		}
	}
	return wrote, nil
}

// file reads the states of a file. It returns false if they are too large to compare or some of
// them are missing. For an opaque file it reads only the final content.
func (c *Created) file(ctx context.Context, f Comparison) (attribution.File, bool, error) {
	file := attribution.File{}
	var err error
	if file.Final, err = c.read(ctx, f.Final); err == nil && workspace.IsOpaque(file.Final) {
		return file, true, nil
	}
	if err == nil {
		file.Base, err = c.read(ctx, f.Base)
	}
	for _, step := range f.Steps {
		if err != nil {
			break
		}
		if step.Blob == tracking.UnknownBlob {
			continue
		}
		state := attribution.State{By: attribution.Author(step.By), Raw: step.Raw}
		state.Content, err = c.read(ctx, step.Blob)
		file.States = append(file.States, state)
	}
	if err != nil {
		return attribution.File{}, false, tracking.IgnoreUncomparable(err)
	}
	return file, true, nil
}

// read reads a blob. For GoneBlob it returns nil.
func (c *Created) read(ctx context.Context, blob git.OID) ([]byte, error) {
	if blob == tracking.GoneBlob {
		return nil, nil
	}
	if c.room <= 0 {
		return nil, git.ErrTooMuch
	}
	object, err := c.w.Repo.ReadWithin(ctx, string(blob), int64(min(c.room, largestFile)))
	if errors.Is(err, git.ErrTooMuch) {
		if c.tooLarge++; c.tooLarge > 1 {
			c.room = 0
		}
	}
	c.room -= len(object.Data)
	return object.Data, err
}
