package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
)

// errInterrupted means that a restore was interrupted and has to be undone or completed as a whole
// first.
var errInterrupted = errors.New("a restore was interrupted")

// Undo undoes the last restore of the lineage: it restores the paths that the restore changed from
// its rescue, and touches no others. A path that was changed since is kept and is in
// Plan.ChangedSince; one that differs from the rescue for other reasons is kept and is in
// Plan.Untouched. Of o.Scope, Paths limits it further (the rest can be undone later), and Keep and
// Force apply; Nested and Delete don't: changes of the restore in nested repositories are undone,
// and no others. An interrupted restore, undo or redo is undone first; with Paths that
// is an error. bands.ErrNoHistory means that there is nothing to undo.
func Undo(ctx context.Context, h *bands.Held, o Options) (Result, error) {
	j, err := undoJob(ctx, h.Store, o)
	if err != nil {
		return Result{}, err
	}
	return execute(ctx, h, j, o)
}

// Redo undoes the last Undo by the same rules. It completes an interrupted redo.
func Redo(ctx context.Context, h *bands.Held, o Options) (Result, error) {
	j, err := redoJob(ctx, h.Store, o)
	if err != nil {
		return Result{}, err
	}
	return execute(ctx, h, j, o)
}

// PlanUndo returns what Undo would do. It writes nothing and needs no lock.
func PlanUndo(ctx context.Context, s *bands.Store, o Options) (Plan, error) {
	j, err := undoJob(ctx, s, o)
	if err != nil {
		return Plan{}, err
	}
	return planJob(ctx, s, j, o)
}

// PlanRedo returns what Redo would do, as PlanUndo does.
func PlanRedo(ctx context.Context, s *bands.Store, o Options) (Plan, error) {
	j, err := redoJob(ctx, s, o)
	if err != nil {
		return Plan{}, err
	}
	return planJob(ctx, s, j, o)
}

func planJob(ctx context.Context, s *bands.Store, j job, o Options) (_ Plan, err error) {
	target, err := s.Snapshot(j.target)
	if err != nil {
		return Plan{}, err
	}
	j.only = target.Only
	in, err := j.compile(o)
	if err != nil {
		return Plan{}, err
	}
	present, err := capture.ScanReporting(ctx, s, partly(o.Options, target), o.Progress)
	if err != nil {
		return Plan{}, fmt.Errorf("read the working tree: %w", err)
	}
	defer func() { err = errors.Join(err, present.Close()) }()
	return planForTarget(ctx, s, present, target, in)
}

func undoJob(ctx context.Context, s *bands.Store, o Options) (job, error) {
	past, left, err := bands.ReadHistoryAndJournal(s, o.Lineage)
	if err != nil {
		return job{}, err
	}
	if left != nil {
		return takeBack(ctx, s, *left, o)
	}
	return turnBack(ctx, s, bands.OpUndo, past.Undo, o, func(rest, back []bands.PastRestore) bands.History {
		return bands.History{Undo: rest, Redo: append(past.Redo, back...)}
	})
}

func redoJob(ctx context.Context, s *bands.Store, o Options) (job, error) {
	past, left, err := bands.ReadHistoryAndJournal(s, o.Lineage)
	switch {
	case err != nil:
		return job{}, err
	case left != nil && left.Op == bands.OpRedo:
		return finishJob(ctx, s, *left, o)
	case left != nil && left.Op == bands.OpUndo:
		return takeBack(ctx, s, *left, o)
	}
	return turnBack(ctx, s, bands.OpRedo, past.Redo, o, func(rest, back []bands.PastRestore) bands.History {
		return bands.History{Undo: append(past.Undo, back...), Redo: rest}
	})
}

// takeBack restores the state before an interrupted operation, and the history of that time.
func takeBack(ctx context.Context, s *bands.Store, left bands.Journal, o Options) (job, error) {
	before, err := bands.ReadRecordedHistory(s, o.Lineage)
	if err != nil {
		return job{}, err
	}
	j, err := interruptedJob(ctx, s, left, o)
	j.op, j.target = bands.OpUndo, left.Rescue
	j.next = func(*Result, time.Time) bands.History { return before }
	return j, err
}

// interruptedJob returns a job on the paths that an interrupted operation was going to change,
// without its operation, target and history.
func interruptedJob(ctx context.Context, s *bands.Store, left bands.Journal, o Options) (job, error) {
	if len(o.Paths) > 0 {
		return job{}, fmt.Errorf("%w: %s of %s", errInterrupted, left.Op, left.Target)
	}
	undo, err := undoing(ctx, s, left.Changed, left.Rescue, left.Parts, Scope{Paths: left.Paths}, o)
	undo.Interrupted, undo.Begun = true, begunBy(s, left)
	j := job{scope: o.Scope, note: o.Message, again: &left, undo: undo}
	j.scope.Delete = nil
	return j, err
}

// turnBack restores the rescue of the last of the completed restores, except for paths that were
// changed since. next returns the history after it: rest are the restores that are not completely
// undone, back is the turn that undoes this one, none if nothing changes.
func turnBack(ctx context.Context, s *bands.Store, op bands.Operation, turns []bands.PastRestore, o Options, next func(rest, back []bands.PastRestore) bands.History) (job, error) {
	if len(turns) == 0 {
		return job{}, fmt.Errorf("%s: %w", op, bands.ErrNoHistory)
	}
	last := turns[len(turns)-1]
	target, err := s.Snapshot(last.Rescue)
	if err == nil {
		err = CheckPaths(s, target, Scope{Root: o.Options.Root, Paths: o.Paths})
	}
	if err != nil {
		return job{}, err
	}
	undo, err := undoing(ctx, s, last.Changed, last.Rescue, []bands.Version{last.Target}, Scope{Paths: last.Paths}, o)
	if err != nil {
		return job{}, err
	}
	j := job{op: op, target: last.Rescue, only: target.Only, scope: o.Scope, note: o.Message, undo: undo}
	j.scope.Delete = nil
	in, err := j.compile(o)
	if err != nil {
		return job{}, err
	}
	rest := turns
	if undo.Changed.Within(in) {
		rest = turns[:len(turns)-1]
	}
	j.next = func(done *Result, at time.Time) bands.History {
		if done.Plan.Empty() && !o.Always {
			return next(rest, nil)
		}
		return next(rest, []bands.PastRestore{{
			Rescue: done.Rescue.Version, Target: last.Rescue, At: at, Note: last.Note,
			Paths: o.Paths, Nested: last.Nested, Changed: done.Rescue.Version,
		}})
	}
	return j, nil
}

func undoing(ctx context.Context, s *bands.Store, list, rescue bands.Version, restored []bands.Version, in Scope, o Options) (*undoScope, error) {
	in.Root = o.Options.Root
	compiled, err := in.Compile(o.Hidden)
	if err != nil {
		return &undoScope{}, err
	}
	set, err := ReadChanged(ctx, s, list, rescue, restored, compiled)
	return &undoScope{Changed: set}, err
}

// Finish completes the operation that bands.InterruptedRestore returns. It removes only files that
// existed before it, or that it created.
func Finish(ctx context.Context, h *bands.Held, o Options) (Result, error) {
	_, left, err := bands.ReadHistoryAndJournal(h.Store, o.Lineage)
	if err != nil {
		return Result{}, err
	}
	if left == nil {
		return Result{}, fmt.Errorf("finish: %w", bands.ErrNoHistory)
	}
	j, err := finishJob(ctx, h.Store, *left, o)
	if err != nil {
		return Result{}, err
	}
	return execute(ctx, h, j, o)
}

// finishJob completes an interrupted operation on the paths that it was going to change, if they
// are still as they were before, or as it left them.
func finishJob(ctx context.Context, s *bands.Store, left bands.Journal, o Options) (job, error) {
	j, err := interruptedJob(ctx, s, left, o)
	if err != nil {
		return j, err
	}
	j.op, j.target = left.Op, left.Target
	j.next = func(done *Result, _ time.Time) bands.History {
		return left.Next.ListedBy(left.Op, done.Rescue.Version)
	}
	before, err := s.Snapshot(left.Rescue)
	if err != nil {
		return j, err
	}
	j.undo.Changed, err = withStatesBefore(s, j.undo.Changed, before)
	return j, err
}

// begunBy returns a function that reports whether a file of the tree has only content that an
// interrupted restore wrote: new files are written in place. The parts not written yet are missing,
// or zero.
func begunBy(s *bands.Store, left bands.Journal) func(path string, was *band.Entry) bool {
	return func(path string, was *band.Entry) bool {
		for _, v := range left.Parts {
			if beginsAs(s, left.Root, path, was, v) {
				return true
			}
		}
		return false
	}
}

func beginsAs(s *bands.Store, root, path string, was *band.Entry, v bands.Version) bool {
	target, err := s.Snapshot(v)
	if err != nil {
		return false
	}
	content, err := bands.OpenContent(s, target)
	if err != nil {
		return false
	}
	defer func() { _ = content.Bands.Close() }()
	ref, _ := target.Tree.Ref()
	e, err := band.LookupPath(content.Records, ref, path)
	if err != nil || e.Kind != band.File || was.Size > e.Size {
		return false
	}
	dir, err := bands.OpenBelow(root, band.ParentPath(path))
	if err != nil {
		return false
	}
	defer func() { _ = dir.Close() }()
	f, err := dir.OpenFile(band.BasePath(path))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return content.CopyTo(&beginning{f: f}, &e) == nil
}

var errOtherContent = errors.New("the file has different content")

// beginning compares a file with the data written to it.
type beginning struct {
	f   *os.File
	buf []byte
}

// Write returns an error if the file continues with anything but data or zeros.
func (b *beginning) Write(data []byte) (int, error) {
	if cap(b.buf) < len(data) {
		b.buf = make([]byte, len(data))
	}
	n, err := io.ReadFull(b.f, b.buf[:len(data)])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	got := b.buf[:n]
	if !bytes.Equal(got, data[:n]) {
		for i, c := range got {
			if c != 0 && c != data[i] {
				return 0, errOtherContent
			}
		}
	}
	return len(data), nil
}
