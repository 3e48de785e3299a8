package record

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// OpenCommit is a decision about a commit that no running hook will carry out.
type OpenCommit struct {
	tracking.Decision

	Path string // path in the journal
	// Commit was made as decided; it is empty if no commit has the id.
	Commit git.OID
	// Stale reports that the commit was never made and won't be.
	Stale bool
	// Err is the error of reading the entry. If it is set the other fields except Path are empty.
	Err error
}

// OpenCommits returns the open decisions. It changes nothing.
func OpenCommits(ctx context.Context, w *workspace.Workspace) ([]OpenCommit, error) {
	entries, err := os.ReadDir(workspace.JournalDir(w.Repo))
	if err != nil {
		return nil, nil //nolint:nilerr // there is none: nothing is open
	}
	var list []OpenCommit
	var decisions []tracking.Decision
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		o := OpenCommit{Path: filepath.Join(workspace.JournalDir(w.Repo), e.Name())}
		o.Decision, o.Err = tracking.ReadDecision(o.Path)
		switch {
		case errors.Is(o.Err, os.ErrNotExist), o.Err == nil && isLive(w, o.Decision):
			continue
		case o.Err == nil:
			decisions = append(decisions, o.Decision)
		}
		list = append(list, o)
	}
	if len(decisions) == 0 {
		return list, nil
	}
	found, err := tracking.FindCommits(ctx, w, decisions, tracking.AllCommits)
	for i, o := range list {
		at, made := found[o.Nonce]
		list[i].Commit = at.OID
		list[i].Stale = err == nil && o.Err == nil && !made && w.Env.Now().Sub(o.Created) > tracking.StaleAfter && !tracking.MayStillBeMade(w, o.Decision)
	}
	return list, err
}

// FinishCommits carries out the decisions about commits that were made, removes stale decisions,
// and moves entries that can't be read out of the way.
func FinishCommits(ctx context.Context, w *workspace.Workspace) error {
	_, err := finishAll(ctx, w, WaitingDecisions(ctx, w), tracking.AllCommits)
	return err
}

// LinkedFiles is a commit with a checkpoint.
type LinkedFiles struct {
	Commit git.OID
	// Files are the files of the sessions in the commit; nil if there are many.
	Files []string
}

// LinkedCheckpoints returns the last commits of this repository that were given a checkpoint here.
func LinkedCheckpoints(w *workspace.Workspace) map[checkpoint.ID]LinkedFiles {
	found := map[checkpoint.ID]LinkedFiles{}
	for _, l := range tracking.Links(w) {
		at := LinkedFiles{Commit: l.Commit}
		for path := range l.Blobs {
			at.Files = append(at.Files, path)
		}
		slices.Sort(at.Files)
		found[l.ID] = at
	}
	return found
}

// LostCheckpoint is a checkpoint that a commit names and that can't be found.
type LostCheckpoint struct {
	ID     checkpoint.ID
	Commit git.Commit
	// Shares are the sessions' files in the commit.
	Shares []tracking.Share
}

// WriteLost rewrites a lost checkpoint from the sessions' states and transcripts. The length of the
// conversations at the time of the commit is not known, so the checkpoint contains all of them. The
// states don't change.
func WriteLost(ctx context.Context, w *workspace.Workspace, l LostCheckpoint) error {
	return w.WithLock(ctx, func() error {
		if c, err := authorship.ReadCheckpoint(ctx, w, l.ID); err != nil || len(c.Sessions) > 0 {
			return err // or it was found meanwhile
		}
		var puts []checkpoint.Change
		for _, share := range l.Shares {
			s, err := w.Sessions.Load(share.Session)
			if err != nil {
				return err
			}
			n := new(tracking.Pending)
			if err := tracking.CatchUp(ctx, w, s, n); err != nil {
				return err
			}
			// More objects than the checkpoint may be lost.
			if s.Recorder.Stored, err = tracking.Segmenter(w, s).Verify(ctx, s.Recorder.Stored); err != nil {
				return err
			}
			if _, err := tracking.StoreMasked(ctx, w, s, n, tracking.NoLimit); err != nil {
				return err
			}
			s.TranscriptStart, s.TranscriptIDAtStart, s.TurnID, s.CheckpointCount = 0, "", "", 1
			// As for an amended commit: tokens are counted only if they are known to be the
			// checkpoint's.
			d := tracking.Decision{ID: l.ID, Created: l.Commit.Committer.When, Amend: true}
			put, err := WriteSlot(ctx, w, d, authorship.Slot{State: s, Notes: n, Files: share.Files})
			if err != nil {
				return err
			}
			puts = append(puts, put)
		}
		return w.UpdateRecords(ctx, puts)
	})
}
