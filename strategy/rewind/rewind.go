// Package rewind restores files, conversations and sessions to a point, and undoes and redoes
// that. It lists the points, switches to the branch of a session to resume it, and makes, compares
// and removes forks.
package rewind

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Scope is the part of a point that a rewind restores.
type Scope string

// The scopes.
const (
	// RewindAll is the whole tree, ignored files included.
	RewindAll Scope = "all"
	// RewindCode is all files changed by turns since then that git doesn't ignore.
	RewindCode Scope = "code"
	// RewindPaths is the paths named by the user.
	RewindPaths Scope = "paths"
)

// Options are the options of a rewind.
type Options struct {
	Scope Scope
	Paths []string // of RewindPaths, relative to the root
	// Session is the session of the point. Changes of other sessions with a turn under way
	// stay, unless AtWork is set; Own are sessions exempt from this because they requested the
	// rewind.
	Session string
	Own     []string
	AtWork  bool
	// Conversation reports whether the conversation is rewound too.
	Conversation bool
	// KeepBoth leaves files that both an agent and a person have changed since.
	KeepBoth bool
	// Nested restores nested repositories too. Exact restores the tree completely: it also
	// reverts the changes and new files of persons, and restores file times. Force restores
	// databases in use, and files changed by sessions at work.
	Nested, Exact, Force bool
	Progress             func(bands.Progress)
}

// Rewound is the result of a rewind, undo or redo.
type Rewound struct {
	restore.Result

	// Plan is the plan of Result, with the authors of the paths.
	Plan Plan
	// Sessions are the sessions whose states were aligned with the point.
	Sessions []string
	// Conversations are the conversations affected by an undo or redo.
	Conversations []Conversation
}

// ErrNothingToUndo means that no rewind is left to undo or redo.
var ErrNothingToUndo = errors.New("no rewind to undo")

// PreviewRewind returns what a rewind to a point with a snapshot would change, and writes
// nothing.
func PreviewRewind(ctx context.Context, w *workspace.Workspace, p Point, o Options) (_ Plan, err error) {
	store, target, err := PointTarget(w, p)
	if err != nil {
		return Plan{}, err
	}
	choice, err := newChoice(ctx, w, store, target, o)
	if err != nil {
		return Plan{}, err
	}
	defer func() { err = errors.Join(err, choice.Close()) }()
	scope, err := choice.scope(ctx)
	if err != nil {
		return Plan{}, err
	}
	present, err := capture.ScanReporting(ctx, store, tracking.TreeOptions(w), o.Progress)
	if err != nil {
		return Plan{}, fmt.Errorf("read the working tree: %w", err)
	}
	defer func() { err = errors.Join(err, present.Close()) }()
	planned, err := restore.NewPlan(ctx, store, present, target, scope)
	return choice.plan(planned), err
}

// Rewind restores the tree to a point with a snapshot, in the scope of the options, and then
// the sessions.
func Rewind(ctx context.Context, w *workspace.Workspace, p Point, o Options) (done Rewound, err error) {
	store, target, err := PointTarget(w, p)
	if err != nil {
		return Rewound{}, err
	}
	if _, _, err := finish(ctx, w, store); err != nil {
		return Rewound{}, err
	}
	stopped, found := unfinished(w, store)
	if found && o.Conversation && stopped.Op == bands.OpRestore && stopped.Target == p.Snapshot {
		plan, err := PreviewRewind(ctx, w, p, o)
		if err != nil {
			return done, err
		}
		if plan.Empty() { // it was stopped after its files, which are still those of the point
			done, err = finishSessions(ctx, w, store, stopped)
			done.Plan = plan
			return done, err
		}
	}
	var choice *rewindChoice
	defer func() {
		if choice != nil {
			err = errors.Join(err, choice.Close())
		}
	}()
	done, err = restoreFiles(ctx, w, store, o, func(held *bands.Held) (restore.Result, error) {
		if choice, err = newChoice(ctx, w, store, target, o); err != nil {
			return restore.Result{}, err
		}
		scope, err := choice.scope(ctx)
		if err != nil {
			return restore.Result{}, err
		}
		opts := restoreOptions(w, o)
		opts.Scope, opts.Message = scope, "before rewind to "+target.Version.String()
		return restore.Run(ctx, held, target.Version, opts)
	})
	if choice != nil {
		done.Plan = choice.plan(done.Result.Plan)
	}
	return done, err
}

// PreviewUndo returns what UndoRewind would change, and writes nothing. For an undo that has
// only sessions or a conversation left to restore, the plan has no changes.
func PreviewUndo(ctx context.Context, w *workspace.Workspace, o Options) (restore.Plan, error) {
	return previewMove(ctx, w, bands.OpUndo, o, restore.PlanUndo)
}

// PreviewRedo returns what RedoRewind would change, and writes nothing.
func PreviewRedo(ctx context.Context, w *workspace.Workspace, o Options) (restore.Plan, error) {
	return previewMove(ctx, w, bands.OpRedo, o, restore.PlanRedo)
}

func previewMove(ctx context.Context, w *workspace.Workspace, op bands.Operation, o Options, how func(context.Context, *bands.Store, restore.Options) (restore.Plan, error)) (restore.Plan, error) {
	store, err := movable(w)
	if err != nil {
		return restore.Plan{}, err
	}
	if stopped, found := unfinished(w, store); found && stopped.Op == op {
		target, err := store.Snapshot(stopped.Target)
		return restore.Plan{Target: target}, err
	}
	return how(ctx, store, moveOptions(w, o))
}

// movable opens the store for an undo or redo: [bands.ErrNoHistory] if there is none.
func movable(w *workspace.Workspace) (*bands.Store, error) {
	store, err := tracking.OpenStore(w)
	if errors.Is(err, tracking.ErrNoBands) {
		err = fmt.Errorf("%w: %w", bands.ErrNoHistory, err)
	}
	return store, err
}

// UndoRewind reverts the last rewind: the files that it changed and that haven't changed
// since, in the paths of the options if there are any. RedoRewind undoes it.
func UndoRewind(ctx context.Context, w *workspace.Workspace, o Options) (Rewound, error) {
	return move(ctx, w, bands.OpUndo, o, restore.Undo)
}

// RedoRewind reverts the last undo.
func RedoRewind(ctx context.Context, w *workspace.Workspace, o Options) (Rewound, error) {
	return move(ctx, w, bands.OpRedo, o, restore.Redo)
}

func move(ctx context.Context, w *workspace.Workspace, op bands.Operation, o Options, how func(context.Context, *bands.Held, restore.Options) (restore.Result, error)) (Rewound, error) {
	store, err := movable(w)
	if err != nil {
		return Rewound{}, err
	}
	finished, done, err := finish(ctx, w, store)
	if err != nil || finished == op {
		return done, err
	}
	follow := followUp(w, store, op, o.Paths)
	done, err = restoreFiles(ctx, w, store, o, func(held *bands.Held) (restore.Result, error) {
		opts := moveOptions(w, o)
		opts.Follow, opts.Always = follow, follow == followRestore
		opts.Causality.Shadow = shadowLeft(store, opts.Lineage, op)
		return how(ctx, held, opts)
	})
	if (err == nil || errors.Is(err, restore.ErrIncomplete)) && len(o.Paths) == 0 {
		convs, failed := UndoConversations(ctx, w, done.Target.Version, done.Origin)
		if failed == nil && len(convs) > 0 {
			failed = MarkCompleted(store, done.Origin)
		}
		done.Conversations, err = convs, errors.Join(err, failed)
	}
	return done, err
}

// shadowLeft returns the commit with the files of the partial snapshot that an undo or redo
// reverts, empty if it reverts a whole one.
func shadowLeft(store *bands.Store, lineage string, op bands.Operation) string {
	past, err := bands.ReadHistory(store, lineage)
	turns := past.Undo
	if op == bands.OpRedo {
		turns = past.Redo
	}
	if err != nil || len(turns) == 0 {
		return ""
	}
	left, err := store.Snapshot(turns[len(turns)-1].Target)
	if err != nil || len(left.Only) == 0 {
		return ""
	}
	return left.Causality.Shadow
}

// moveOptions returns the options of an undo or redo.
func moveOptions(w *workspace.Workspace, o Options) restore.Options {
	opts := restoreOptions(w, o)
	opts.Paths = o.Paths
	return opts
}

func restoreOptions(w *workspace.Workspace, o Options) restore.Options {
	follow := withoutConversation(bands.OpRestore, o.Paths)
	if o.Conversation {
		follow = followTruncate
	}
	head, _ := w.Repo.ResolveRef("HEAD") // "" on an unborn branch
	return restore.Options{
		Options: tracking.TreeOptions(w), Scope: restore.Scope{Nested: o.Nested, Force: o.Force, PresentTime: !o.Exact}, Progress: o.Progress,
		Causality: bands.Causality{Action: "rewind", Commit: string(head)}, Follow: follow, Always: o.Conversation,
	}
}

// restoreFiles runs a restore under the store's lock, and aligns the sessions with the tree.
func restoreFiles(ctx context.Context, w *workspace.Workspace, store *bands.Store, o Options, do func(*bands.Held) (restore.Result, error)) (Rewound, error) {
	held, err := tracking.HoldStore(ctx, store, tracking.SilentWait)
	if errors.Is(err, disk.ErrLocked) && ctx.Err() == nil {
		w.Env.Say("Waiting for another process that is using the snapshot store.")
		held, err = tracking.HoldStore(ctx, store, tracking.HoldWait)
	}
	if err != nil {
		return Rewound{}, err
	}
	done, err := do(held)
	if err = errors.Join(err, held.Release()); err != nil && !errors.Is(err, restore.ErrIncomplete) {
		return Rewound{Result: done, Plan: Plan{Plan: done.Plan}}, err
	}
	sessions, failed := realign(ctx, w, store, done, o.Paths)
	if failed == nil && done.Origin != 0 {
		var past bands.History
		if past, failed = bands.ReadHistory(store, tracking.Lineage(w)); failed == nil {
			turn, _, found := past.Last()
			if found && turn.Rescue == done.Origin && strings.HasPrefix(turn.Follow, followSessions) { // no conversation is affected
				failed = MarkCompleted(store, done.Origin)
			}
		}
	}
	return Rewound{Result: done, Plan: Plan{Plan: done.Plan}, Sessions: sessions}, errors.Join(err, failed)
}

// Rescue takes a snapshot of the tree before an operation other than a rewind changes it.
func Rescue(ctx context.Context, w *workspace.Workspace, message string) error {
	store, err := tracking.SnapshotStore(w)
	if err != nil {
		return err
	}
	held, err := tracking.HoldStore(ctx, store, tracking.HoldWait)
	if err != nil {
		return err
	}
	_, err = tracking.TakeSnapshot(ctx, w, held, capture.TakeOptions{Cause: bands.Rescue, Message: message, Force: true, SkipUnchanged: true})
	return errors.Join(err, held.Release())
}
