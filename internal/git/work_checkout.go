package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

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
