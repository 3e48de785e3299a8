// Package scratch keeps a folder outside of every captured tree that has the files of one snapshot
// after another. For the next snapshot it writes the differences, and undoes changes that other
// programs made in the folder meanwhile.
//
// The folder has no data of value: it is not synced, and it is rebuilt if writing is interrupted. A
// folder is used by one process at a time.
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
	// Keep keeps files that other programs created in the tree, unless they are in the way of a
	// snapshot. Changed files then get the present time, so that build tools detect the change.
	Keep bool
	Now  func() time.Time
	// Progress is called with the progress of writing, unless it is nil.
	Progress func(bands.Progress)
}

// State is the content of the folder: the files of a snapshot, written by a time of its file
// system, in nanoseconds. The zero State is a folder with unknown content.
type State struct {
	Version bands.Version `json:"version,omitempty"`
	Stamp   int64         `json:"stamp,omitempty"`
}

// Dir returns the folder of the files.
func (t *Tree) Dir() string { return filepath.Join(t.Base, "tree") }

// Make replaces the folder's content by a snapshot. Files that are the same in the tree of clones,
// nil for none, are cloned from it if the file system shares blocks.
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

// severed reports whether an entry leads to the repository of a submodule or worktree, as a file or
// a symlink: git in the scratch tree would write into it.
func severed(path string, e *tree.Entry) bool {
	return e != nil && (e.Kind == tree.File || e.Kind == tree.Symlink) && tree.BasePath(path) == ".git"
}

// state returns the state of a folder that now has the version.
func (t *Tree) state(v bands.Version) (State, error) {
	stamp, err := bands.StampOf(filepath.Join(t.Base, "stamp"), t.Dir(), false)
	if err != nil {
		return State{}, fmt.Errorf("time of the scratch tree: %w", err)
	}
	return State{Version: v, Stamp: stamp.At}, nil
}

// Update changes the folder, which has the files of the snapshot from since at, to the files of the
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
	a.Captured = math.MaxInt64 // no other process writes to the tree
	a.Source = &plan.Comparison{Now: seen.loader, Want: want.Records, Content: want, Scope: in}
	if err := a.Run(ctx, &steps); err != nil {
		return State{}, err
	}
	bad := a.Failed // paths that differ from the snapshot
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
