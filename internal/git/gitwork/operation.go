package gitwork

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/git"
)

// Operation is the git operation in progress.
type Operation struct {
	Rebase     bool // rebase-merge/, or rebase-apply/ of a rebase
	Apply      bool // git am
	CherryPick bool
	Revert     bool
	Merge      bool
	Squash     bool // merge --squash, before its commit
	Bisect     bool
}

// Name returns the user's name for the operation; empty if there is none.
func (o Operation) Name() string {
	switch {
	case o.Rebase:
		return "rebase"
	case o.Apply:
		return "git am"
	case o.CherryPick:
		return "cherry-pick"
	case o.Revert:
		return "revert"
	case o.Merge, o.Squash:
		return "merge"
	case o.Bisect:
		return "bisect"
	default:
		return ""
	}
}

// InProgress returns the operation in progress. It starts git only in a reftable repository, where
// two of the marks are refs.
func InProgress(ctx context.Context, r *git.Repo) (Operation, error) {
	op := Operation{
		Rebase:     has(r, "rebase-merge") || has(r, "rebase-apply/rebasing"),
		Apply:      has(r, "rebase-apply/applying"),
		CherryPick: has(r, "CHERRY_PICK_HEAD"),
		Revert:     has(r, "REVERT_HEAD"),
		Merge:      has(r, "MERGE_HEAD"),
		Squash:     has(r, "SQUASH_MSG"),
		Bisect:     has(r, "BISECT_LOG"),
	}
	if r.RefStorage == "files" {
		return op, nil
	}
	var err error
	if op.CherryPick, err = hasRef(ctx, r, "CHERRY_PICK_HEAD"); err != nil {
		return op, err
	}
	op.Revert, err = hasRef(ctx, r, "REVERT_HEAD")
	return op, err
}

func has(r *git.Repo, name string) bool {
	_, err := os.Lstat(filepath.Join(r.GitDir, name))
	return !errors.Is(err, fs.ErrNotExist)
}

func hasRef(ctx context.Context, r *git.Repo, name string) (bool, error) {
	_, err := r.Read(ctx, name)
	if errors.Is(err, git.ErrMissing) {
		return false, nil
	}
	return err == nil, err
}
