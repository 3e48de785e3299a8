package restore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// ScratchTree is the folder.
type ScratchTree struct {
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

// ScratchState is the content of the folder: the files of a snapshot, written by a time of its file
// system, in nanoseconds. The zero ScratchState is a folder with unknown content.
type ScratchState struct {
	Version bands.Version `json:"version,omitempty"`
	Stamp   int64         `json:"stamp,omitempty"`
}

// Dir returns the folder of the files.
func (t *ScratchTree) Dir() string { return filepath.Join(t.Base, "tree") }

// Make replaces the folder's content by a snapshot. Files that are the same in the tree of clones,
// nil for none, are cloned from it if the file system shares blocks.
func (t *ScratchTree) Make(ctx context.Context, v bands.Snapshot, clones *CloneSource) (ScratchState, error) {
	if err := t.Remove(); err != nil {
		return ScratchState{}, err
	}
	o := ExportOptions{Progress: t.Progress, Clones: clones, Skip: severed}
	if _, err := Export(ctx, t.Store, v, t.Dir(), o); err != nil {
		return ScratchState{}, err
	}
	return t.state(v.Version)
}

// severed reports whether an entry leads to the repository of a submodule or worktree, as a file or
// a symlink: git in the scratch tree would write into it.
func severed(path string, e *band.Entry) bool {
	return e != nil && (e.Kind == band.File || e.Kind == band.Symlink) && band.BasePath(path) == ".git"
}

// state returns the state of a folder that now has the version.
func (t *ScratchTree) state(v bands.Version) (ScratchState, error) {
	stamp, err := bands.StampOf(filepath.Join(t.Base, "stamp"), t.Dir(), false)
	if err != nil {
		return ScratchState{}, fmt.Errorf("time of the scratch tree: %w", err)
	}
	return ScratchState{Version: v, Stamp: stamp.At}, nil
}

// Update changes the folder, which has the files of the snapshot from since at, to the files of the
// snapshot to.
func (t *ScratchTree) Update(ctx context.Context, at ScratchState, from, to bands.Snapshot) (_ ScratchState, err error) {
	was, err := bands.OpenContent(t.Store, from)
	if err != nil {
		return ScratchState{}, err
	}
	defer func() { err = errors.Join(err, was.Bands.Close()) }()
	want, err := bands.OpenContent(t.Store, to)
	if err != nil {
		return ScratchState{}, err
	}
	defer func() { err = errors.Join(err, want.Bands.Close()) }()
	seen := &observer{
		loader: &observedLoader{records: was.Records, dirs: map[band.Ref]*band.Directory{}},
		want:   want.Records, keep: t.Keep, root: t.Dir(), since: at.Stamp,
		free: make(chan struct{}, capture.Workers(0)-1),
	}
	root := observedPlace{open: func() (*dirfd.Dir, error) { return dirfd.OpenRoot(t.Dir()) }}
	root.from, _ = from.Tree.Ref()
	root.to, _ = to.Tree.Ref()
	now, err := seen.observe(ctx, root)
	if err != nil {
		return ScratchState{}, fmt.Errorf("read the scratch tree: %w", err)
	}
	in, err := Scope{
		Root: t.Dir(), Paths: []string{"."}, Nested: true, Force: true, PresentTime: t.Keep,
		Keep: func(path string, _, want *band.Entry) bool { return severed(path, want) },
	}.Compile(nil)
	if err != nil {
		return ScratchState{}, err
	}
	in.Over[agentDir], in.At = true, t.Now()
	steps, err := planBetween(ctx, t.Store, planSides{Now: seen.loader, NowRef: now, Target: to}, want, in)
	if err != nil {
		return ScratchState{}, err
	}
	a := newApplier(t.Dir(), want, was)
	a.Unsynced, a.Progress = true, t.Progress
	a.Captured = math.MaxInt64 // no other process writes to the tree
	a.Source = &comparison{Now: seen.loader, Want: want.Records, Content: want, Scope: in}
	if err := a.Run(ctx, &steps); err != nil {
		return ScratchState{}, err
	}
	bad := a.Failed // paths that differ from the snapshot
	for _, path := range steps.Damaged {
		bad = append(bad, Failure{Path: path, Err: bands.ErrDamaged})
	}
	for _, path := range steps.Blocked {
		bad = append(bad, Failure{Path: path, Err: errBlocked})
	}
	if len(bad) > 0 {
		return ScratchState{}, fmt.Errorf("%w: %d paths of %s, the first is %s: %w", ErrIncomplete, len(bad), to.Version, bad[0].Path, bad[0].Err)
	}
	return t.state(to.Version)
}

var errBlocked = errors.New("something else is in its place")

// Remove removes the files, and folders that their owner may not write to.
func (t *ScratchTree) Remove() error {
	if err := disk.Step("remove-tree", t.Dir()); err != nil {
		return err
	}
	return disk.RemoveTree(t.Dir(), nil)
}
