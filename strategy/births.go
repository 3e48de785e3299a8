package strategy

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session"
)

// births tells who made the files that a snapshot lacks, and what the agent's
// turns have changed since. A file belongs to whoever made it first.
type births struct {
	repo   *Recorder
	agent  map[string]bool // made in a turn
	human  map[string]bool // made at any other time
	turned map[string]bool // made, changed or removed in a turn
	turns  []*turnChanges  // turns that are under way
	sparse map[string]bool // tracked files of a sparse checkout: git brings and takes them
}

// birthsSince looks through the snapshots that came after v in this worktree.
func (r *Recorder) birthsSince(ctx context.Context, store *bands.Store, target bands.Snapshot) (*births, error) {
	b := &births{repo: r, agent: map[string]bool{}, human: map[string]bool{}, turned: map[string]bool{}}
	versions, err := store.Versions()
	if err != nil {
		return nil, err
	}
	before := target
	for _, v := range versions {
		if v <= target.Version {
			continue
		}
		s, err := store.Snapshot(v)
		if err != nil || s.Lineage != target.Lineage {
			continue
		}
		if err := b.add(ctx, store, before, s); err != nil {
			return nil, err
		}
		before = s
	}
	if b.turns, err = r.openTurns(ctx); err != nil {
		return nil, err
	}
	b.sparse, err = r.sparseFiles(ctx)
	return b, err
}

// add takes up what changed from one snapshot to the next.
func (b *births) add(ctx context.Context, store *bands.Store, from, to bands.Snapshot) error {
	turn := to.Causality.Agent != "" && to.Cause != bands.Prompt && to.Cause != bands.Rescue && to.Parent == from.Version
	others := map[string]bool{}
	moments, err := Moments(store, to.Version)
	if err != nil {
		b.repo.Log.WarnContext(ctx, "snapshot doesn't tell its session", "version", to.Version.String(), "error", err.Error())
	}
	for _, m := range moments {
		for _, p := range m.Others {
			others[p] = true
		}
	}
	return store.Changes(ctx, from, to, func(c tree.Change) error {
		byTurn := turn && !others[c.Path]
		if byTurn && !isDir(c.Old) && !isDir(c.New) {
			b.turned[c.Path] = true
		}
		if c.Old != nil || b.agent[c.Path] || b.human[c.Path] {
			return nil
		}
		if byTurn {
			b.agent[c.Path] = true
		} else {
			b.human[c.Path] = true
		}
		return nil
	})
}

// sparseFiles are the tracked files of a sparse checkout, none of any other: one
// that a snapshot lacks may only have been outside the cone.
func (r *Recorder) sparseFiles(ctx context.Context) (map[string]bool, error) {
	if _, err := os.Lstat(filepath.Join(r.Repo.GitDir, "info", "sparse-checkout")); err != nil {
		return map[string]bool{}, nil //nolint:nilerr // it isn't sparse
	}
	tracked, err := r.Repo.Tracked(ctx)
	if err != nil {
		return nil, err
	}
	files := make(map[string]bool, len(tracked))
	for _, p := range tracked {
		files[p] = true
	}
	return files, nil
}

// openTurns are the turns under way in this worktree, with what their
// transcripts tell by now.
func (r *Recorder) openTurns(ctx context.Context) ([]*turnChanges, error) {
	var turns []*turnChanges
	for _, s := range r.pendingHere(ctx) {
		if s.Phase != session.Active {
			continue
		}
		if err := r.catchUp(ctx, s, new(notes)); err != nil {
			return nil, err
		}
		turns = append(turns, &turnChanges{repo: r.Repo, turn: s.Recorder.Turn, named: r.inWorktree(s.Recorder.Turn.Edits)})
	}
	return turns, nil
}

// byAgent says whether an agent made the path, which a restore would remove.
func (b *births) byAgent(path string, _ tree.Entry) bool {
	if b.sparse[path] {
		return false
	}
	if b.agent[path] || b.human[path] {
		return b.agent[path]
	}
	info, err := os.Lstat(filepath.Join(b.repo.Repo.Root, filepath.FromSlash(path)))
	return slices.ContainsFunc(b.turns, func(t *turnChanges) bool {
		return t.named[path] || (err == nil && t.during(disk.Changed(info)))
	})
}

// touched are the paths that turns have changed since the target, those under
// way included, without what git ignores.
func (b *births) touched(ctx context.Context) ([]string, error) {
	for _, t := range b.turns {
		for p := range t.named {
			b.turned[p] = true
		}
	}
	var paths []string
	for p := range b.turned {
		paths = append(paths, p)
	}
	for _, s := range b.repo.sessionsHere(ctx) {
		paths = append(paths, s.FilesTouched...)
	}
	ignored, err := b.repo.Repo.Ignored(ctx, paths)
	if err != nil {
		return nil, err
	}
	slices.Sort(ignored)
	paths = slices.DeleteFunc(paths, func(p string) bool { return among(ignored, p) })
	slices.Sort(paths)
	return slices.Compact(paths), nil
}
