package condense

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

// mostStashes is how many stashes, from the newest on, are examined.
const mostStashes = 10

// stashed returns those of the paths, which the commit has otherwise than the
// session wrote them, of which a stash holds what the commit left: the very file
// that the session wrote, or lines of it that would be a share of the next
// commit. That is what git stash --keep-index does with a file that is staged in
// part.
func (sh *Sharer) stashed(ctx context.Context, s *session.State, m authorship.Committed, paths []string, wrote map[string]git.TreeEntry) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	stashes, err := sh.stashes(ctx)
	if err != nil || len(stashes) == 0 {
		return nil, err
	}
	files := sh.authors.Created(m.Changes, []*session.State{s})
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		for _, tree := range stashes {
			e, found, failed := sh.Lookup(ctx, tree, p)
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

// stashes returns the trees of the newest stashes, the newest first.
func (sh *Sharer) stashes(ctx context.Context) ([]git.OID, error) {
	const name = "refs/stash"
	top, err := sh.Repo.Commit(ctx, name)
	if errors.Is(err, git.ErrMissing) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the stash: %w", err)
	}
	trees := []git.OID{top.Tree}
	// Older ones are in the reflog only. Where that isn't a file, the newest
	// has to do.
	log, err := disk.ReadFile(filepath.Join(sh.Repo.CommonDir, "logs", filepath.FromSlash(name)))
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
			if c, err := sh.Repo.Commit(ctx, oid); err == nil {
				trees = append(trees, c.Tree)
			}
		}
	}
	return trees, nil
}
