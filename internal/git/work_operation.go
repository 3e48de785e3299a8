package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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

// OperationInProgress returns the operation in progress. It starts git only in a reftable
// repository, where two of the marks are refs.
func OperationInProgress(ctx context.Context, r *Repo) (Operation, error) {
	op := Operation{
		Rebase:     hasGitFile(r, "rebase-merge") || hasGitFile(r, "rebase-apply/rebasing"),
		Apply:      hasGitFile(r, "rebase-apply/applying"),
		CherryPick: hasGitFile(r, "CHERRY_PICK_HEAD"),
		Revert:     hasGitFile(r, "REVERT_HEAD"),
		Merge:      hasGitFile(r, "MERGE_HEAD"),
		Squash:     hasGitFile(r, "SQUASH_MSG"),
		Bisect:     hasGitFile(r, "BISECT_LOG"),
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

func hasGitFile(r *Repo, name string) bool {
	_, err := os.Lstat(filepath.Join(r.GitDir, name))
	return !errors.Is(err, fs.ErrNotExist)
}

func hasRef(ctx context.Context, r *Repo, name string) (bool, error) {
	_, err := r.Read(ctx, name)
	if errors.Is(err, ErrMissing) {
		return false, nil
	}
	return err == nil, err
}
