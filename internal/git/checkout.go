package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Checkout writes paths of a tree into the working tree, through git's filters,
// over what is there. The user's index and HEAD stay: an index of its own is
// used, which goes with the call.
func (r *Repo) Checkout(ctx context.Context, tree OID, paths []string) (err error) {
	if len(paths) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp(r.GitDir, "entire-index-")
	if err != nil {
		return fmt.Errorf("check out: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	if _, err := r.run(ctx, request{args: []string{"read-tree", string(tree)}, env: env}); err != nil {
		return fmt.Errorf("check out: %w", err)
	}
	if err := disk.Step("checkout", r.Root); err != nil {
		return err
	}
	list := strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	_, err = r.run(ctx, request{args: []string{"checkout-index", "-f", "-z", "--stdin"}, stdin: list, env: env})
	if err != nil {
		return fmt.Errorf("check out: %w", err)
	}
	return nil
}
