package git

import (
	"context"
	"errors"
	"fmt"
	"os"
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

// CheckoutInto writes files and links below dir, which it creates: each at its path, through git's
// filters, as `git checkout` would write it into the working tree. The working tree, the user's
// index and HEAD don't change: the index for the checkout is a temporary file beside dir.
func CheckoutInto(ctx context.Context, r *Repo, dir string, entries []TreeEdit) error {
	if err := disk.Step("checkout", dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("check out: %w", err)
	}
	env := []string{"GIT_INDEX_FILE=" + dir + ".index"}
	var info, names strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&info, "%06o %s\t%s\x00", e.Mode, e.OID, e.Path)
		names.WriteString(e.Path + "\x00")
	}
	_, err := r.Do(ctx, Command{Args: []string{"update-index", "-z", "--index-info"}, Stdin: strings.NewReader(info.String()), Env: env})
	if err == nil {
		_, err = r.Do(ctx, Command{Args: []string{"checkout-index", "-f", "-z", "--stdin", "--prefix=" + dir + "/"}, Stdin: strings.NewReader(names.String()), Env: env})
	}
	if err = errors.Join(err, disk.Remove(dir+".index")); err != nil {
		return fmt.Errorf("check out: %w", err)
	}
	return nil
}
