package strategy

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

// giveBack makes files pending again that a commit no longer contains.
func (r *Recorder) giveBack(ctx context.Context, c *condensed, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	entries, err := r.contents(ctx, paths)
	if err != nil {
		return err
	}
	c.state.Touched(paths)
	maps.Copy(c.rest.entries, entries)
	c.rest.paths = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.rest.paths, paths))))
	return nil
}

// settleShares narrows the shares to what was committed. For a commit that
// replaces another it adds what that one's sessions still have in it, and
// returns what each has no more.
func (r *Recorder) settleShares(ctx context.Context, d Decision, changes staged) (shares []Share, dropped map[string][]string, err error) {
	files, renamed := map[string][]string{}, map[string][]Rename{}
	var order []string
	add := func(id string, paths []string) {
		if _, ok := files[id]; !ok {
			order = append(order, id)
		}
		in := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { _, ok := changes[p]; return !ok })
		files[id] = slices.Compact(slices.Sorted(slices.Values(slices.Concat(files[id], in))))
	}
	dropped = map[string][]string{}
	if d.Amend {
		old, err := r.readCheckpoint(ctx, d.ID)
		if err != nil {
			return nil, nil, err
		}
		for _, slot := range old.Sessions {
			if slot.Meta.SessionID == "" {
				continue
			}
			kept, gone := r.stillIn(slot.Meta.FilesTouched, changes)
			add(slot.Meta.SessionID, kept)
			dropped[slot.Meta.SessionID] = gone
		}
	}
	for _, share := range d.Shares {
		add(share.Session, share.Files)
		renamed[share.Session] = slices.DeleteFunc(slices.Clone(share.Renamed), func(m Rename) bool { _, ok := changes[string(m.To)]; return !ok })
	}
	for _, id := range order {
		shares = append(shares, Share{Session: id, Files: files[id], Renamed: renamed[id]})
	}
	return shares, dropped, nil
}

// stillIn tells the paths that a checkpoint lists, redacted as they are there,
// into those that the commit has and those that it has no more.
func (r *Recorder) stillIn(listed []string, changes staged) (kept, gone []string) {
	redacted := make(map[string]string, len(changes))
	for p := range changes {
		redacted[r.Redact.Path(p)] = p
	}
	for _, name := range listed {
		if p, ok := redacted[name]; ok {
			kept = append(kept, p)
		} else if r.inTree(name) {
			gone = append(gone, name)
		}
	}
	return kept, gone
}

// inTree says whether the worktree has the path.
func (r *Recorder) inTree(path string) bool {
	_, err := os.Lstat(filepath.Join(r.Repo.Root, filepath.FromSlash(path)))
	return git.ValidPath(path) && err == nil
}

// readCheckpoint reads a checkpoint; the zero one if it doesn't exist.
func (r *Recorder) readCheckpoint(ctx context.Context, id checkpoint.ID) (checkpoint.Checkpoint, error) {
	tree, err := checkpoint.Tree(ctx, r.Repo)
	var c checkpoint.Checkpoint
	if err == nil {
		c, err = checkpoint.Read(ctx, r.Repo, tree, id)
	}
	if errors.Is(err, checkpoint.ErrNotFound) {
		return checkpoint.Checkpoint{}, nil
	}
	return c, err
}
