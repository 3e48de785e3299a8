package strategy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// mostStashes is how many stashes, from the newest on, are looked at.
const mostStashes = 10

// stashed returns those of the paths, which the commit has otherwise than the
// session wrote them, of which a stash holds what the commit left: the very file
// that the session wrote, or lines of it that would be a share of the next
// commit. That is what git stash --keep-index does with a file that is staged in
// part.
func (r *Recorder) stashed(ctx context.Context, s *session.State, m made, paths []string, wrote map[string]git.TreeEntry) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	stashes, err := r.stashes(ctx)
	if err != nil || len(stashes) == 0 {
		return nil, err
	}
	files := r.created(m.changes, []*session.State{s})
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		for _, tree := range stashes {
			e, found, failed := r.lookup(ctx, tree, p)
			if failed != nil {
				err = errors.Join(err, failed)
				return true
			}
			if !found || e.OID == m.changes[p].New || !isBlob(e.Mode) {
				continue
			}
			if e.OID == wrote[p].OID {
				return false
			}
			steps := files.history(ctx, s, p, wrote[p].OID)
			share, ok, failed := files.compare(ctx, s, comparison{e.OID, m.changes[p].New, steps})
			if failed != nil {
				err = errors.Join(err, failed)
				return true
			}
			if ok && share.Counts() {
				return false
			}
		}
		return true
	}), err
}

// stashes returns the trees of the newest stashes, the newest first.
func (r *Recorder) stashes(ctx context.Context) ([]git.OID, error) {
	const name = "refs/stash"
	top, err := r.Repo.Commit(ctx, name)
	if errors.Is(err, git.ErrMissing) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the stash: %w", err)
	}
	trees := []git.OID{top.Tree}
	// Older ones stand in the reflog only. Where that isn't a file, the newest
	// has to do.
	log, err := os.ReadFile(filepath.Join(r.Repo.CommonDir, "logs", filepath.FromSlash(name)))
	if err != nil {
		return trees, nil //nolint:nilerr // see above
	}
	lines := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
	for _, line := range slices.Backward(lines) {
		fields := bytes.Fields(line)
		if len(trees) == mostStashes || len(fields) < 2 {
			break
		}
		if oid := string(fields[1]); oid != string(top.OID) {
			if c, err := r.Repo.Commit(ctx, oid); err == nil {
				trees = append(trees, c.Tree)
			}
		}
	}
	return trees, nil
}
