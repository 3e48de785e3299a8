package strategy

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// RewindScope is what of a point comes back.
type RewindScope string

// The scopes.
const (
	// RewindAll is the whole tree, ignored files included.
	RewindAll RewindScope = "all"
	// RewindCode is what turns have changed since, and git doesn't ignore.
	RewindCode RewindScope = "code"
	// RewindPaths is what the user names.
	RewindPaths RewindScope = "paths"
)

// RewindOptions say how to go back.
type RewindOptions struct {
	Scope RewindScope
	Paths []string // of RewindPaths, relative to the root
	// Nested restores nested repositories too, Exact also removes what nobody's
	// turn made, Force restores databases that are in use.
	Nested, Exact, Force bool
	Progress             func(stage string, done, total int)
}

// Rewound is what going back did.
type Rewound struct {
	bands.Restored

	// Sessions are those whose state agrees with the point now.
	Sessions []string
}

// ErrNothingToUndo means that no rewind is left to take back, or forward.
var ErrNothingToUndo = errors.New("no rewind to go back from")

// PreviewRewind says what going back to a point with a snapshot would change,
// and writes nothing.
func (r *Recorder) PreviewRewind(ctx context.Context, p Point, o RewindOptions) (plan bands.Plan, err error) {
	store, target, err := r.target(p)
	if err != nil {
		return plan, err
	}
	scope, err := r.scope(ctx, store, target, o)
	if err != nil {
		return plan, err
	}
	present, err := store.Scan(ctx, r.TreeOptions())
	if err != nil {
		return plan, fmt.Errorf("look at the working tree: %w", err)
	}
	defer func() { err = errors.Join(err, present.Close()) }()
	return store.Plan(ctx, present, target, scope)
}

// Rewind makes the tree what a point with a snapshot has of it, in the scope
// of the options, and then the sessions what they were.
func (r *Recorder) Rewind(ctx context.Context, p Point, o RewindOptions) (Rewound, error) {
	store, target, err := r.target(p)
	if err != nil {
		return Rewound{}, err
	}
	return r.restore(ctx, store, o, func(held *bands.Held) (bands.Restored, error) {
		scope, err := r.scope(ctx, store, target, o)
		if err != nil {
			return bands.Restored{}, err
		}
		opts := r.restoreOptions(o)
		opts.Scope, opts.Message = scope, "before rewind to "+target.Version.String()
		return held.Restore(ctx, target.Version, opts)
	})
}

// PreviewUndo returns what UndoRewind would change, and writes nothing.
func (r *Recorder) PreviewUndo(ctx context.Context, o RewindOptions) (bands.Plan, error) {
	return r.previewMove(ctx, o, (*bands.Store).PlanUndo)
}

// PreviewRedo returns what RedoRewind would change, and writes nothing.
func (r *Recorder) PreviewRedo(ctx context.Context, o RewindOptions) (bands.Plan, error) {
	return r.previewMove(ctx, o, (*bands.Store).PlanRedo)
}

func (r *Recorder) previewMove(ctx context.Context, o RewindOptions, how func(*bands.Store, context.Context, *bands.Present, bands.RestoreOptions) (bands.Plan, error)) (plan bands.Plan, err error) {
	store, err := r.snapshots()
	if err != nil {
		return plan, err
	}
	present, err := store.Scan(ctx, r.TreeOptions())
	if err != nil {
		return plan, fmt.Errorf("read the working tree: %w", err)
	}
	defer func() { err = errors.Join(err, present.Close()) }()
	return how(store, ctx, present, r.moveOptions(o))
}

// UndoRewind takes the last rewind back: what it changed and nobody changed
// since, in the paths of the options if there are any. RedoRewind undoes it.
func (r *Recorder) UndoRewind(ctx context.Context, o RewindOptions) (Rewound, error) {
	return r.move(ctx, o, (*bands.Held).Undo)
}

// RedoRewind takes the last undo back.
func (r *Recorder) RedoRewind(ctx context.Context, o RewindOptions) (Rewound, error) {
	return r.move(ctx, o, (*bands.Held).Redo)
}

func (r *Recorder) move(ctx context.Context, o RewindOptions, how func(*bands.Held, context.Context, bands.RestoreOptions) (bands.Restored, error)) (Rewound, error) {
	store, err := r.snapshots()
	if err != nil {
		return Rewound{}, err
	}
	return r.restore(ctx, store, o, func(held *bands.Held) (bands.Restored, error) {
		return how(held, ctx, r.moveOptions(o))
	})
}

// moveOptions are those of an undo or redo.
func (r *Recorder) moveOptions(o RewindOptions) bands.RestoreOptions {
	opts := r.restoreOptions(o)
	opts.Paths = o.Paths
	return opts
}

func (r *Recorder) restoreOptions(o RewindOptions) bands.RestoreOptions {
	return bands.RestoreOptions{
		Options: r.TreeOptions(), Scope: bands.Scope{Nested: o.Nested, Force: o.Force}, Progress: o.Progress,
		Causality: bands.Causality{Action: "rewind"},
	}
}

// restore carries out a restore under the store's lock, enters its rescue in
// the catalog, and lets the sessions follow the tree.
func (r *Recorder) restore(ctx context.Context, store *bands.Store, o RewindOptions, do func(*bands.Held) (bands.Restored, error)) (Rewound, error) {
	held, err := hold(ctx, store, rewindWait)
	if err != nil {
		return Rewound{}, err
	}
	done, err := do(held)
	if done.Rescue.Version != 0 {
		r.enter(ctx, func(known *bands.Registry) error { return known.Record(ctx, store, done.Rescue) })
	}
	if err = errors.Join(err, held.Release()); err != nil && !errors.Is(err, bands.ErrIncomplete) {
		return Rewound{Restored: done}, err
	}
	sessions, failed := r.realign(ctx, store, done, o.Paths)
	return Rewound{Restored: done, Sessions: sessions}, errors.Join(err, failed)
}

// target opens the snapshot of a point.
func (r *Recorder) target(p Point) (*bands.Store, bands.Snapshot, error) {
	store, err := r.snapshots()
	if err != nil {
		return nil, bands.Snapshot{}, err
	}
	s, err := store.Snapshot(p.Snapshot)
	return store, s, err
}

// scope is what of the tree comes back.
func (r *Recorder) scope(ctx context.Context, store *bands.Store, target bands.Snapshot, o RewindOptions) (bands.Scope, error) {
	scope := bands.Scope{Nested: o.Nested, Force: o.Force}
	if o.Scope == RewindPaths {
		scope.Paths = o.Paths
		return scope, nil
	}
	if o.Exact && o.Scope == RewindAll {
		return scope, nil
	}
	made, err := r.birthsSince(ctx, store, target)
	if err != nil {
		return scope, err
	}
	if !o.Exact {
		scope.Delete = made.byAgent
	}
	if o.Scope == RewindCode {
		if scope.Paths, err = made.touched(ctx); err != nil {
			return scope, err
		}
		if len(scope.Paths) == 0 { // nothing, which no paths don't say
			scope.Keep = func(string) bool { return true }
			scope.Delete = func(string, tree.Entry) bool { return false }
		}
	}
	return scope, nil
}

// Rescue takes a snapshot of the tree as it is, before something changes it
// that is not a rewind.
func (r *Recorder) Rescue(ctx context.Context, message string) error {
	store, err := r.snapshots()
	if err != nil {
		return err
	}
	held, err := hold(ctx, store, holdWait)
	if err != nil {
		return err
	}
	_, err = r.take(ctx, held, bands.TakeOptions{Cause: bands.Rescue, Message: message, Force: true, SkipUnchanged: true})
	return errors.Join(err, held.Release())
}
