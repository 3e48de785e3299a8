package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// ValidBranch says whether name can be a branch's, and is nothing that git
// would take for an option or another way to name a commit.
func ValidBranch(name string) bool {
	if name == "" || name == "@" || name == "HEAD" || name[0] == '-' || strings.HasSuffix(name, ".") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return !strings.Contains(name, "..") && !strings.Contains(name, "@{") && !strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c == 0x7f || strings.ContainsRune(`~^:?*[\`, c)
	})
}

// Switch checks a local branch out, as the user would: git refuses what would
// be lost, and runs the user's hooks and filters, which may use the network.
func (r *Repo) Switch(ctx context.Context, branch string) error {
	if !ValidBranch(branch) {
		return fmt.Errorf("switch to %q: not a branch's name", branch)
	}
	return r.checkout(ctx, branch, "--")
}

// SwitchTracking is Switch to a new branch that begins at, and tracks, a
// remote's: its full name, refs/remotes/<remote>/<branch>.
func (r *Repo) SwitchTracking(ctx context.Context, branch, upstream string) error {
	if !ValidBranch(branch) || !strings.HasPrefix(upstream, "refs/remotes/") {
		return fmt.Errorf("switch to %q, which tracks %q: not branches' names", branch, upstream)
	}
	return r.checkout(ctx, "-b", branch, "--track", upstream)
}

func (r *Repo) checkout(ctx context.Context, args ...string) error {
	if err := disk.Step("switch", r.Root); err != nil {
		return err
	}
	_, err := r.Do(ctx, Command{
		LazyFetch: true,
		Args:      append([]string{"-c", SyncAll, "checkout", "--quiet"}, args...),
	})
	return err
}

// Remotes are the names of the remotes that are configured, in that order.
func (r *Repo) Remotes(ctx context.Context) ([]string, error) {
	out, err := r.Run(ctx, "remote")
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(out)), nil
}

// RemoteHead is the branch that a remote calls its default, as far as that was
// told when it was cloned; empty if it wasn't.
func (r *Repo) RemoteHead(ctx context.Context, remote string) (string, error) {
	prefix := "refs/remotes/" + remote + "/"
	out, err := r.Run(ctx, "symbolic-ref", "--quiet", prefix+"HEAD")
	if _, failed := errors.AsType[*ExitError](err); failed {
		return "", nil
	}
	branch, _ := strings.CutPrefix(strings.TrimSuffix(string(out), "\n"), prefix)
	return branch, err
}

// FirstParents gives the commits from tip on along the first parents, newest
// first, at most n, up to the first one that one of the commits not reaches.
func (r *Repo) FirstParents(ctx context.Context, tip OID, not []OID, n int) ([]Commit, error) {
	args := []string{"--first-parent", "--max-count=" + strconv.Itoa(n), string(tip)}
	for _, oid := range not {
		args = append(args, "^"+string(oid))
	}
	return r.revList(ctx, append(args, "--")...)
}
