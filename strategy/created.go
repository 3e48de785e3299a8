package strategy

import (
	"bytes"
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/attribution"
)

// mostCompared is how much content is read to compare the files that a commit
// creates, all together.
const mostCompared = 16 << 20

// created decides which of the files that a commit creates are a session's
// share, by the lines that the session wrote (docs/formats/attribution.md).
// Linking and the preview of it ask it, the decision keeps its answer, and what
// is attributed and carried forward goes by the decision.
type created struct {
	r       *Recorder
	changes staged
	states  []*session.State
	// steps are those of all states, read when they are first needed.
	steps   pathSteps
	shadows map[string]git.OID
	// room is how much more may be read. The second file that is too large to
	// be read takes all of it: each costs a process.
	room, tooLarge int
}

func (r *Recorder) created(changes staged, states []*session.State) *created {
	return &created{r: r, changes: changes, states: states, shadows: map[string]git.OID{}, room: mostCompared}
}

// isShare reports whether a file that the commit creates is the session's share.
// One that is what the session left is, and one of which it isn't known what
// the session left. Of a binary file or an LFS pointer, only one that the
// session left like this; one that is too large to compare belongs to whoever
// changed it last.
func (c *created) isShare(ctx context.Context, s *session.State, path string) (bool, error) {
	committed := c.changes[path]
	left, found, err := c.left(ctx, s, path)
	if err != nil || found && left == committed.New {
		return err == nil, err
	}
	steps := c.history(ctx, s, path, left)
	if len(steps) == 0 || !isBlob(committed.NewMode) {
		return len(steps) == 0, nil
	}
	for _, step := range steps {
		if step.by == s.ID && step.blob == committed.New {
			return true, nil
		}
	}
	last := steps[len(steps)-1]
	if last.blob == unknownBlob {
		return last.by == s.ID, nil
	}
	share, ok, err := c.compare(ctx, s, comparison{committed.New, goneBlob, steps})
	if err != nil || ok {
		return ok && share.Counts(), err
	}
	return last.by == s.ID, nil
}

// left returns what the session's shadow branch has of a path.
func (c *created) left(ctx context.Context, s *session.State, path string) (git.OID, bool, error) {
	tree, ok := c.shadows[s.ID]
	if !ok {
		var err error
		if tree, err = c.r.shadowTree(ctx, s); err != nil {
			return "", false, err
		}
		c.shadows[s.ID] = tree
	}
	e, found, err := c.r.lookup(ctx, tree, path)
	return e.OID, found, err
}

// history returns what is known of a path before the commit: its steps, or
// without any what the session's shadow branch has.
func (c *created) history(ctx context.Context, s *session.State, path string, left git.OID) []authoredStep {
	if c.steps == nil {
		c.steps = pathSteps{}
		for _, state := range c.states {
			c.steps.addSession(state.ID, c.r.readSteps(ctx, state, new(notes)))
		}
	}
	steps := c.steps.of(path, "")
	if len(steps) == 0 && left != "" {
		steps = append(steps, authoredStep{at: s.StartedAt, by: s.ID, blob: left})
	}
	return steps
}

// comparison is a file whose lines are to be followed, by its blobs.
type comparison struct {
	final, base git.OID
	steps       []authoredStep
}

// compare returns the session's share of a file; false if that is too large to
// compare, or not all here. A file that can't be compared by lines has none.
func (c *created) compare(ctx context.Context, s *session.State, f comparison) (attribution.Share, bool, error) {
	file := attribution.File{}
	var err error
	if file.Final, err = c.read(ctx, f.final); err == nil && opaque(file.Final) {
		return attribution.Share{}, true, nil
	}
	if err == nil {
		file.Base, err = c.read(ctx, f.base)
	}
	for _, step := range f.steps {
		if err != nil {
			break
		}
		if step.blob == unknownBlob {
			continue
		}
		state := attribution.State{By: attribution.Author(step.by), Raw: step.raw}
		state.Content, err = c.read(ctx, step.blob)
		file.States = append(file.States, state)
	}
	if err != nil {
		return attribution.Share{}, false, ignoreUncomparable(err)
	}
	return file.Shares()[attribution.Author(s.ID)], true, nil
}

// read reads a blob, or nothing for no file.
func (c *created) read(ctx context.Context, blob git.OID) ([]byte, error) {
	if blob == goneBlob {
		return nil, nil
	}
	if c.room <= 0 {
		return nil, git.ErrTooMuch
	}
	object, err := c.r.Repo.ReadWithin(ctx, string(blob), int64(min(c.room, largestFile)))
	if errors.Is(err, git.ErrTooMuch) {
		if c.tooLarge++; c.tooLarge > 1 {
			c.room = 0
		}
	}
	c.room -= len(object.Data)
	return object.Data, err
}

// isBlob reports whether a mode is that of a file or a symbolic link.
func isBlob(mode git.Mode) bool { return mode != git.ModeModule && mode != git.ModeTree && mode != 0 }

// opaque reports whether the lines of a file say nothing of its content: git
// takes it for binary, or it is what Git LFS stores in the place of another.
func opaque(content []byte) bool {
	const looked = 8000 // as git does
	return bytes.IndexByte(content[:min(len(content), looked)], 0) >= 0 ||
		bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/"))
}
