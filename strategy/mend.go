package strategy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// errElsewhere means that a folder is no worktree of this repository.
var errElsewhere = errors.New("not a worktree of this repository")

// At is the recorder of the worktree at root, whose Repo the caller closes.
func (r *Recorder) At(root string) (*Recorder, error) {
	repo, err := git.Discover(git.Locate{Dir: root, Getenv: r.Env.Getenv})
	if err != nil {
		return nil, err
	}
	if repo.CommonDir != r.Repo.CommonDir || repo.Root == "" {
		return nil, errors.Join(fmt.Errorf("%s: %w", root, errElsewhere), repo.Close())
	}
	there := *r
	there.Repo = repo
	return &there, nil
}

// Open is a commit that was decided about and that no hook is about to see to.
type Open struct {
	Decision

	Path string // in the journal
	// Commit was made as decided; empty if no commit carries the id.
	Commit git.OID
	// Stale means that the commit was never made and won't be.
	Stale bool
	// Err is why the entry can't be read. Then nothing else is known of it.
	Err error
}

// OpenCommits returns what is open, and changes nothing.
func (r *Recorder) OpenCommits(ctx context.Context) ([]Open, error) {
	entries, err := os.ReadDir(r.journal())
	if err != nil {
		return nil, nil //nolint:nilerr // there is none: nothing is open
	}
	var list []Open
	var decisions []Decision
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		o := Open{Path: filepath.Join(r.journal(), e.Name())}
		o.Decision, o.Err = readDecision(o.Path)
		switch {
		case errors.Is(o.Err, os.ErrNotExist), o.Err == nil && r.isLive(o.Decision):
			continue
		case o.Err == nil:
			decisions = append(decisions, o.Decision)
		}
		list = append(list, o)
	}
	if len(decisions) == 0 {
		return list, nil
	}
	found, err := r.findCommits(ctx, decisions, allCommits)
	for i, o := range list {
		at, made := found[o.Nonce]
		list[i].Commit = at.OID
		list[i].Stale = err == nil && o.Err == nil && !made && r.Env.Now().Sub(o.Created) > stale && !r.mayStillBeMade(o.Decision)
	}
	return list, err
}

// FinishCommits carries out what was decided about commits that were made,
// forgets what is stale, and sets entries aside that can't be read.
func (r *Recorder) FinishCommits(ctx context.Context) error {
	_, err := r.finishAll(ctx, r.waiting(ctx), allCommits)
	return err
}

// EndTurn ends the turn of a session of this worktree whose agent is gone: what
// the turn changed is saved as at its stop.
func (r *Recorder) EndTurn(ctx context.Context, id string) error {
	return r.step(ctx, Input{SessionID: id}, session.TurnEnd, nil)
}

// EndSession notes that a session has ended whose worktree is gone. What it has
// pending stays so.
func (r *Recorder) EndSession(ctx context.Context, id string) error {
	return r.locked(ctx, func() error {
		s, err := r.Sessions.Load(id)
		if err != nil {
			return err
		}
		now := r.Env.Now()
		s.Phase, s.EndedAt = session.Ended, &now
		return r.Sessions.Save(s)
	})
}

// FinishTurn completes the checkpoints of a session's turn that is over. What
// the agent was to say last and the transcript doesn't have is not waited for.
func (r *Recorder) FinishTurn(ctx context.Context, id string) error {
	const nothing = session.Event("") // the phase stays
	err := r.step(ctx, Input{SessionID: id}, nothing, func(s *session.State, n *notes) error {
		s.Recorder.Expect = ""
		return r.finalize(ctx, s, n)
	})
	if err != nil {
		return err
	}
	return r.Complete(ctx, id)
}

// Unfinished are the checkpoints of a session that don't have all of its
// transcript yet.
func Unfinished(s *session.State) []string { return unfinished(s) }

// Linked is a commit that was given a checkpoint.
type Linked struct {
	Commit git.OID
	// Files are those of the sessions that it holds; nil if there are many.
	Files []string
}

// Linked answers the last commits of this repository that were given a
// checkpoint here.
func (r *Recorder) Linked() map[checkpoint.ID]Linked {
	found := map[checkpoint.ID]Linked{}
	for _, l := range r.links() {
		at := Linked{Commit: l.Commit}
		for path := range l.Blobs {
			at.Files = append(at.Files, path)
		}
		slices.Sort(at.Files)
		found[l.ID] = at
	}
	return found
}

// Lost is a checkpoint that a commit names and nobody has.
type Lost struct {
	ID     checkpoint.ID
	Commit git.Commit
	// Shares are the sessions' files in the commit.
	Shares []Share
}

// WriteLost writes a lost checkpoint anew from the sessions' states and
// transcripts. Where the conversations stood at the commit is not known, so the
// checkpoint holds all of them. The states stay as they are.
func (r *Recorder) WriteLost(ctx context.Context, l Lost) error {
	return r.locked(ctx, func() error {
		if c, err := r.readCheckpoint(ctx, l.ID); err != nil || len(c.Sessions) > 0 {
			return err // or somebody has found it
		}
		var puts []checkpoint.Change
		for _, share := range l.Shares {
			put, err := r.putLost(ctx, l, share)
			if err != nil {
				return err
			}
			puts = append(puts, put)
		}
		by, err := r.identity(ctx)
		if err != nil {
			return err
		}
		_, err = checkpoint.Update(ctx, r.Repo, by, puts, nil)
		return err
	})
}

// putLost is the change that writes a session's slot of a lost checkpoint.
func (r *Recorder) putLost(ctx context.Context, l Lost, share Share) (checkpoint.Change, error) {
	s, err := r.Sessions.Load(share.Session)
	if err != nil {
		return nil, err
	}
	n := new(notes)
	if err := r.catchUp(ctx, s, n); err != nil {
		return nil, err
	}
	// What was lost with the checkpoint may be more than that.
	if s.Recorder.Stored, err = r.segmenter(s).Verify(ctx, s.Recorder.Stored); err != nil {
		return nil, err
	}
	if _, err := r.store(ctx, s, noLimit); err != nil {
		return nil, err
	}
	s.TranscriptStart, s.TranscriptIDAtStart, s.TurnID, s.CheckpointCount = 0, "", "", 1
	// As if amended: tokens are only counted where they are known to be its.
	d := Decision{ID: l.ID, Created: l.Commit.Committer.When, Amend: true}
	return r.put(ctx, d, condensed{state: s, notes: n, files: share.Files})
}

// Sweep removes the temporary files that writers left that were stopped.
func (r *Recorder) Sweep(ctx context.Context) { r.sweep(ctx) }
