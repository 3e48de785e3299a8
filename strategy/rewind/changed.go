package rewind

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// ChangedFiles returns up to most paths that changed from the preceding snapshot, shadow commit or
// commit to a point. Directories with only changed attributes are left out.
func ChangedFiles(ctx context.Context, w *workspace.Workspace, p Point, most int) ([]string, error) {
	if p.Snapshot != 0 {
		return changedInSnapshot(ctx, w, p.Snapshot, most)
	}
	of := p.Shadow
	if of == "" {
		of = p.Commit
	}
	commit, err := w.Repo.Commit(ctx, string(of))
	if err != nil {
		return nil, err
	}
	var from git.OID
	switch {
	case len(commit.Parents) > 0:
		from = commit.Parents[0]
	case p.Shadow != "": // the first on the branch: it has HEAD's files, too
		head, _, err := w.Head(ctx)
		if err != nil {
			return nil, err
		}
		from = head.OID
	}
	changes, err := git.Changes(ctx, w.Repo, from, of)
	var paths []string
	for _, c := range changes {
		if len(paths) < most && !strings.HasPrefix(c.Path, ".entire/") {
			paths = append(paths, c.Path)
		}
	}
	return paths, err
}

func changedInSnapshot(ctx context.Context, w *workspace.Workspace, v bands.Version, most int) (paths []string, err error) {
	store, err := tracking.SnapshotStore(w)
	if err != nil {
		return nil, err
	}
	now, err := store.Snapshot(v)
	if err != nil {
		return nil, err
	}
	var before bands.Snapshot // the previous one of the same worktree
	for v--; v > 0 && before.Version == 0; v-- {
		s, err := store.Snapshot(v)
		switch {
		case errors.Is(err, bands.ErrNoSnapshot):
		case err != nil:
			return nil, err
		case s.Lineage == now.Lineage:
			before = s
		}
	}
	if before.Version == 0 {
		return nil, nil
	}
	newer, closeNewer := store.Loader(now)
	defer func() { err = errors.Join(err, closeNewer.Close()) }()
	older, closeOlder := store.Loader(before)
	defer func() { err = errors.Join(err, closeOlder.Close()) }()
	to, _ := now.Tree.Ref()
	from, _ := before.Tree.Ref()
	err = band.DiffTrees(ctx, older, from, newer, to, func(c band.Change) error {
		switch {
		case len(paths) == most:
			return fs.SkipAll
		case c.Kind == band.AttributesChanged && c.New.Kind == band.Dir:
			return nil // an entry in it changed
		}
		paths = append(paths, c.Path)
		return nil
	})
	return paths, err
}
