// Package scratch keeps a folder outside of every captured tree that has the files of one
// snapshot after another. Going to the next snapshot writes what differs, and takes back
// what others have done in the folder meanwhile.
//
// Nothing in the folder is worth anything: it is not synced, and if writing is interrupted
// it is made anew. A folder is used by one process at a time.
package scratch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/apply"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/contents"
	"github.com/seed-3aff656d/entire/bands/export"
	"github.com/seed-3aff656d/entire/bands/plan"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Tree is the folder.
type Tree struct {
	Store *bands.Store
	// Base is an existing folder; the files are in its folder tree.
	Base string
	// Keep leaves what others created in the tree, as far as it isn't in the way of a
	// snapshot. Files that change get the present time then, so that build tools see it.
	Keep bool
	Now  func() time.Time
	// Progress is called with how far the writing is, unless it is nil.
	Progress func(bands.Progress)
}

// State is what the folder has: the files of a snapshot as they were written by a time of
// its file system, in nanoseconds. The zero State is a folder of which nothing is known.
type State struct {
	Version bands.Version `json:"version,omitempty"`
	Stamp   int64         `json:"stamp,omitempty"`
}

// Dir is the folder of the files.
func (t *Tree) Dir() string { return filepath.Join(t.Base, "tree") }

// Make writes a snapshot into the folder, whatever is there. Files that are the same in the
// tree of clones, nil for none, are cloned from it where the file system shares blocks.
func (t *Tree) Make(ctx context.Context, v bands.Snapshot, clones *export.CloneSource) (State, error) {
	if err := t.Remove(); err != nil {
		return State{}, err
	}
	o := export.Options{Progress: t.Progress, Clones: clones, Skip: severed}
	if _, err := export.Run(ctx, t.Store, v, t.Dir(), o); err != nil {
		return State{}, err
	}
	return t.state(v.Version)
}

// severed reports whether an entry leads to the repository of a submodule or worktree, as a
// file or a symlink: git in the scratch tree would write into it.
func severed(path string, e *tree.Entry) bool {
	return e != nil && (e.Kind == tree.File || e.Kind == tree.Symlink) && tree.BasePath(path) == ".git"
}

// state is that the folder has a snapshot now.
func (t *Tree) state(v bands.Version) (State, error) {
	stamp, err := bands.StampOf(filepath.Join(t.Base, "stamp"), t.Dir(), false)
	if err != nil {
		return State{}, fmt.Errorf("time of the scratch tree: %w", err)
	}
	return State{Version: v, Stamp: stamp.At}, nil
}

// Update makes the folder, which has the files of the snapshot from since at, those of the
// snapshot to.
func (t *Tree) Update(ctx context.Context, at State, from, to bands.Snapshot) (_ State, err error) {
	was, err := contents.Open(t.Store, from)
	if err != nil {
		return State{}, err
	}
	defer func() { err = errors.Join(err, was.Bands.Close()) }()
	want, err := contents.Open(t.Store, to)
	if err != nil {
		return State{}, err
	}
	defer func() { err = errors.Join(err, want.Bands.Close()) }()
	seen := &observer{
		loader: &loader{records: was.Records, dirs: map[band.Ref]*tree.Directory{}},
		want:   want.Records, keep: t.Keep, root: t.Dir(), since: at.Stamp,
		free: make(chan struct{}, capture.Workers(0)-1),
	}
	root := place{open: func() (*dirfd.Dir, error) { return dirfd.OpenRoot(t.Dir()) }}
	root.from, _ = from.Tree.Ref()
	root.to, _ = to.Tree.Ref()
	now, err := seen.observe(ctx, root)
	if err != nil {
		return State{}, fmt.Errorf("read the scratch tree: %w", err)
	}
	in, err := plan.Scope{
		Root: t.Dir(), Paths: []string{"."}, Nested: true, Force: true, PresentTime: t.Keep,
		Keep: func(path string, _, want *tree.Entry) bool { return severed(path, want) },
	}.Compile(nil)
	if err != nil {
		return State{}, err
	}
	in.Over[plan.AgentDir], in.At = true, t.Now()
	steps, err := plan.Compare(ctx, t.Store, plan.Sides{Now: seen.loader, NowRef: now, Target: to}, want, in)
	if err != nil {
		return State{}, err
	}
	a := apply.New(t.Dir(), want, was)
	a.Unsynced, a.Progress = true, t.Progress
	a.Captured = math.MaxInt64 // nobody else is at work in the tree
	a.Source = &plan.Comparison{Now: seen.loader, Want: want.Records, Content: want, Scope: in}
	if err := a.Run(ctx, &steps); err != nil {
		return State{}, err
	}
	bad := a.Failed // the paths that are not as the snapshot has them
	for _, path := range steps.Damaged {
		bad = append(bad, apply.Failure{Path: path, Err: bands.ErrDamaged})
	}
	for _, path := range steps.Blocked {
		bad = append(bad, apply.Failure{Path: path, Err: errBlocked})
	}
	if len(bad) > 0 {
		return State{}, fmt.Errorf("%w: %d paths of %s, the first is %s: %w", apply.ErrIncomplete, len(bad), to.Version, bad[0].Path, bad[0].Err)
	}
	return t.state(to.Version)
}

var errBlocked = errors.New("something is in its way")

// Remove removes the files, and folders that their owner may not write to.
func (t *Tree) Remove() error {
	if err := disk.Step("remove-tree", t.Dir()); err != nil {
		return err
	}
	return disk.RemoveTree(t.Dir(), nil)
}
