package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// mostStashes is the maximum number of stashes that are examined, from the newest on.
const mostStashes = 10

// stashed returns those of paths whose uncommitted rest is in a stash: the file exactly as the
// session wrote it, or lines of it that would be a share of the next commit. The commit has these
// files in another form than the session wrote. git stash --keep-index does this to a file that is
// staged in part.
func stashed(ctx context.Context, w *workspace.Workspace, s *session.State, m authorship.Committed, paths []string, wrote map[string]git.TreeEntry) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	stashes, err := stashes(ctx, w)
	if err != nil || len(stashes) == 0 {
		return nil, err
	}
	files := authorship.NewCreated(w, m.Changes, []*session.State{s})
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		for _, tree := range stashes {
			e, found, failed := w.Lookup(ctx, tree, p)
			if failed != nil {
				err = errors.Join(err, failed)
				return true
			}
			if !found || e.OID == m.Changes[p].New || !workspace.IsBlob(e.Mode) {
				continue
			}
			if e.OID == wrote[p].OID {
				return false
			}
			steps := files.History(ctx, s, p, wrote[p].OID)
			share, ok, failed := files.Compare(ctx, s, authorship.Comparison{Final: e.OID, Base: m.Changes[p].New, Steps: steps})
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

// stashes returns the trees of the newest stashes, newest first.
func stashes(ctx context.Context, w *workspace.Workspace) ([]git.OID, error) {
	const name = "refs/stash"
	top, err := w.Repo.Commit(ctx, name)
	if errors.Is(err, git.ErrMissing) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the stash: %w", err)
	}
	trees := []git.OID{top.Tree}
	// Older stashes are only in the reflog. If that isn't a file, only the newest one is used.
	log, err := disk.ReadFile(filepath.Join(w.Repo.CommonDir, "logs", filepath.FromSlash(name)))
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
			if c, err := w.Repo.Commit(ctx, oid); err == nil {
				trees = append(trees, c.Tree)
			}
		}
	}
	return trees, nil
}
