package authorship

import (
	"context"
	"errors"
	"sync"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// mostDiff is the maximum size of a commit's diff that is read while the user waits.
	mostDiff = 20 << 20
	// mostFiles is the maximum number of files whose lines are followed.
	mostFiles = 500
)

// EarlyDiff is a commit's diff, which git computes concurrently with other work.
type EarlyDiff struct {
	Group sync.WaitGroup
	files []git.FileDiff
	// others holds the diffs against the other parents of a merge.
	others [][]git.FileDiff
	failed error
	// counted reports whether only the numbers of lines are known.
	counted bool
}

// StartDiff starts computing the diff.
func StartDiff(ctx context.Context, w *workspace.Workspace, head git.Commit) *EarlyDiff {
	l := &EarlyDiff{}
	parent := git.OID("")
	if len(head.Parents) > 0 {
		parent = head.Parents[0]
	}
	workspace.Guard(&l.Group, &l.failed, func() (err error) {
		l.files, err = git.Hunks(ctx, w.Repo, parent, head.OID, mostDiff)
		l.counted = err == nil && len(l.files) > mostFiles
		if errors.Is(err, git.ErrTooMuch) {
			l.counted = true
			l.files, err = git.LineCounts(ctx, w.Repo, parent, head.OID)
		}
		for _, other := range head.Parents[min(1, len(head.Parents)):] {
			if err != nil || l.counted {
				break
			}
			var files []git.FileDiff
			files, err = git.Hunks(ctx, w.Repo, other, head.OID, mostDiff)
			l.others = append(l.others, files)
		}
		return err
	})
	return l
}
