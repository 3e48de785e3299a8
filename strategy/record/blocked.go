package record

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// BlockingBranch returns the branch, such as "entire", whose name prevents git from creating the branch of
// checkpoints, or "" if there is none. It starts a git process only if the branch of checkpoints
// has no file of its own.
func BlockingBranch(ctx context.Context, w *workspace.Workspace) (string, error) {
	info, err := os.Lstat(filepath.Join(w.Repo.CommonDir, filepath.FromSlash(checkpoint.MetadataBranch)))
	if err == nil && info.Mode().IsRegular() {
		return "", nil
	}
	refs, err := git.ListRefs(ctx, w.Repo, "refs/heads/entire")
	if err != nil {
		return "", err
	}
	for _, ref := range refs {
		above := strings.HasPrefix(checkpoint.MetadataBranch, ref.Name+"/") //nolint:gocritic // the branch may lie below the ref
		if above || strings.HasPrefix(ref.Name, checkpoint.MetadataBranch+"/") {
			return strings.TrimPrefix(ref.Name, "refs/heads/"), nil
		}
	}
	return "", nil
}

// BlockingHint returns a command that renames a branch returned by Blocked.
func BlockingHint(branch string) string {
	return fmt.Sprintf("rename it: git branch -m %s <name>", branch)
}
