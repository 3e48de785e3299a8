package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// SwitchBranch checks out a local branch, as the user would: git refuses to lose changes, and runs
// the user's hooks and filters, which may use the network.
func SwitchBranch(ctx context.Context, r *Repo, branch string) error {
	if !ValidBranch(branch) {
		return fmt.Errorf("switch to %q: not a branch's name", branch)
	}
	return checkout(ctx, r, branch, "--")
}

// SwitchTracking is like SwitchBranch to a new branch that starts at, and tracks, a remote branch
// given by its full name, refs/remotes/<remote>/<branch>.
func SwitchTracking(ctx context.Context, r *Repo, branch, upstream string) error {
	if !ValidBranch(branch) || !strings.HasPrefix(upstream, "refs/remotes/") {
		return fmt.Errorf("switch to %q, which tracks %q: not branches' names", branch, upstream)
	}
	return checkout(ctx, r, "-b", branch, "--track", upstream)
}

func checkout(ctx context.Context, r *Repo, args ...string) error {
	if err := disk.Step("switch", r.Root); err != nil {
		return err
	}
	_, err := r.Do(ctx, Command{
		LazyFetch: true, Progress: true,
		Args: append([]string{"-c", SyncAll, "checkout", "--quiet", r.ProgressFlag()}, args...),
	})
	return err
}
