package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// exam is one examination. It holds the data that several checks need, which is read once.
type exam struct {
	w    *workspace.Workspace
	repo *git.Repo

	states []*session.State
	bad    []error // each a *session.StateError
	open   []record.OpenCommit
	refs   map[checkpoint.ID]bool // checkpoints whose refs name a commit
	// ids are the ids that were made in this repository, committed the commits; both are nil until
	// needed.
	ids       map[checkpoint.ID][]tracking.Share
	committed map[git.OID]bool
	// openErr is the reason why it is not known whether the open commits were made.
	openErr error
	v1      branch
	// past holds earlier versions of checkpoints; nil until needed.
	past *versions
	// everywhere holds the checkpoints named by any commit. They are listed while the whole branch
	// is examined.
	everywhere struct {
		ids  []namedCheckpoint
		wait func() error
	}
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

// in calls do with the workspace of the session's worktree.
func (e *exam) in(s *session.State, do func(*workspace.Workspace) error) error {
	there, err := worktreeAt(e.w, e.rootOf(s))
	if err != nil {
		return err
	}
	return errors.Join(do(there), there.Repo.Close())
}

// rootOf returns the root of the session's worktree. States of old versions don't name it, and
// states from before the repository was moved name the former main worktree.
func (e *exam) rootOf(s *session.State) string {
	if s.WorktreeID == "" && !isDir(s.WorktreePath) {
		return e.repo.MainRoot()
	}
	return s.WorktreePath
}

// of returns a repair of a session. It may change the session's state, side files and shadow
// branches, and the given checkpoints.
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
	files = append(files, filepath.Join(e.w.Sessions.Dir(), id+".json"))
	for _, kind := range kinds {
		files = append(files, filepath.Join(e.w.Sessions.SideDir(), id+"."+kind))
	}
	return files
}

// worktreeAt returns the workspace of the repository's worktree at root, whose Repo the caller
// closes.
func worktreeAt(w *workspace.Workspace, root string) (*workspace.Workspace, error) {
	repo, err := git.Discover(git.Locate{Dir: root, Getenv: w.Env.Getenv})
	if err != nil {
		return nil, err
	}
	if repo.CommonDir != w.Repo.CommonDir || repo.Root == "" {
		return nil, errors.Join(fmt.Errorf("%s: not a worktree of this repository", root), repo.Close())
	}
	return w.At(repo), nil
}
