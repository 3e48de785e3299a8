package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/commits"
	"github.com/seed-3aff656d/entire/strategy/journal"
)

// exam is one examination: what several checks need, read once.
type exam struct {
	rec  *strategy.Recorder
	repo *git.Repo

	states []*session.State
	bad    []badState
	open   []commits.Open
	// ids are those that were made here, committed the commits; nil until needed.
	ids       map[checkpoint.ID][]journal.Share
	committed map[git.OID]bool
	// openErr is why it is not known whether their commits were made.
	openErr error
	v1      branch
	// past are earlier versions of checkpoints; nil until needed.
	past *versions
	// everywhere is what commits name anywhere; it is listed while the branch is
	// examined.
	everywhere struct {
		ids  []named
		wait func() error
	}
}

// badState is a file in the place of a state that isn't one.
type badState struct {
	id, path string
	err      error
}

// The checks by family. They share an examination.
type (
	refChecks        struct{ *exam }
	sessionChecks    struct{ *exam }
	journalChecks    struct{ *exam }
	checkpointChecks struct{ *exam }
	trailerChecks    struct{ *exam }
	storeChecks      struct{ *exam }
)

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// in runs do with the recorder of the session's worktree.
func (e *exam) in(s *session.State, do func(*strategy.Recorder) error) error {
	there, err := e.rec.At(e.rootOf(s))
	if err != nil {
		return err
	}
	return errors.Join(do(there), there.Repo.Close())
}

// rootOf is the session's worktree; states of old versions name none, and those
// from before the repository was moved name what was the main one.
func (e *exam) rootOf(s *session.State) string {
	if s.WorktreeID == "" && !isDir(s.WorktreePath) {
		return e.repo.MainRoot()
	}
	return s.WorktreePath
}

// of is a repair of a session, which may change its state, the files beside
// it, its shadow branches, and the checkpoints that are named.
func (e *exam) of(ctx context.Context, s *session.State, ids []string, do func(ctx context.Context) error) *Repair {
	rep := &Repair{Files: e.sessionFiles(s.ID), Do: do}
	bases := []git.OID{git.OID(s.BaseCommit)}
	spec := "main-worktree/HEAD"
	if s.WorktreeID != "" {
		spec = "worktrees/" + s.WorktreeID + "/HEAD"
	}
	if head, err := e.repo.Commit(ctx, spec); err == nil {
		bases = append(bases, head.OID)
	}
	for _, base := range bases {
		rep.Refs = append(rep.Refs, checkpoint.ShadowBranch(base, s.WorktreeID))
	}
	for _, id := range ids {
		if id, err := checkpoint.ParseID(id); err == nil {
			rep.Checkpoints = append(rep.Checkpoints, id)
		}
	}
	return rep
}

func (e *exam) sessionFiles(id string) []string {
	kinds := session.SideKinds()
	files := make([]string, 0, len(kinds)+1)
	files = append(files, filepath.Join(e.rec.Sessions.Dir(), id+".json"))
	for _, kind := range kinds {
		files = append(files, filepath.Join(e.rec.Sessions.SideDir(), id+"."+kind))
	}
	return files
}
