// Package restore makes a tree equal to a snapshot, and undoes that: Run, Undo, Redo and Finish
// take a rescue snapshot, plan, write the journal and apply the plan. The order of these steps
// prevents the loss of a tree. From a partial snapshot they restore its paths, and the rescue is of
// the same paths.
//
// A Plan lists the steps within a Scope, and the paths that stay, with the reason; that of an undo
// is limited to changes of a restore that weren't changed again since. An applier executes it: it
// replaces only files that are unchanged since the rescue captured them, and finally syncs
// everything. Export applies without a plan, to an empty directory. A ScratchTree is a folder
// outside of every captured tree that gets the files of one snapshot after another.
package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// Options determine what is restored, and how the tree is captured before.
type Options struct {
	bands.Options
	Scope            // its Root is that of Options
	Message   string // of the rescue snapshot
	Causality bands.Causality
	// Follow names the operation that the caller does after the restore, empty if none. It is
	// recorded in the history, to detect that it was interrupted.
	Follow string
	// Always adds the operation to the history even if no file changes.
	Always bool
	// Progress is called with the progress of each stage, unless it is nil.
	Progress func(bands.Progress)
}

// Result is the result of a restore.
type Result struct {
	Op     bands.Operation
	Target bands.Snapshot
	// Rescue is the snapshot of the tree before the restore.
	Rescue bands.Snapshot
	// Origin is the snapshot to which the operation can be undone: Rescue, or the rescue of an
	// interrupted operation that it completed.
	Origin bands.Version
	Plan   Plan
	// TakenBack reports whether it undid an interrupted operation, which can't be redone.
	TakenBack bool
	// Verified is the number of written files and symlinks. Their content was checked against its
	// hash at the same time.
	Verified int
	// Failed are paths that differ from the target, with the reason.
	Failed []Failure
	// Unset are restored paths that lack an owner or an attribute of the target, with the reason:
	// this user may not set it, or the file system doesn't support it.
	Unset []Failure
}

// job is a restore with its effect on the history.
type job struct {
	op     bands.Operation
	target bands.Version
	only   bands.Paths // of the target
	scope  Scope
	note   string
	again  *bands.Journal // of the interrupted operation that this one completes or undoes
	undo   *undoScope     // limits an undo, redo or finish to the earlier changes
	// next returns the history after the restore.
	next func(done *Result, at time.Time) bands.History
}

// compile compiles the job's scope for the tree of the options.
func (j *job) compile(o Options) (*Selection, error) {
	in := j.scope
	in.Root = o.Options.Root
	if len(in.Paths) == 0 && j.undo == nil {
		in.Paths = j.only
	}
	compiled, err := in.Compile(o.Hidden)
	if err != nil {
		return nil, err
	}
	compiled.Undo, compiled.At = j.undo, o.Now()
	compiled.Limit(j.only)
	return compiled, nil
}

// Run takes a rescue snapshot and makes the tree equal to the target. If a restore of the same
// target was interrupted, Run completes it: an undo then still leads to the tree before the first
// attempt.
func Run(ctx context.Context, h *bands.Held, target bands.Version, o Options) (Result, error) {
	past, left, err := bands.ReadHistoryAndJournal(h.Store, o.Lineage)
	if err != nil {
		return Result{}, err
	}
	again := left
	if left != nil && (left.Op != bands.OpRestore || left.Target != target) {
		again = nil
	}
	next := func(done *Result, at time.Time) bands.History {
		rescue := done.Rescue.Version
		if again != nil { // the history has the first attempt's rescue
			return past.ListedBy(bands.OpRestore, rescue)
		}
		turn := bands.PastRestore{Rescue: rescue, Target: target, At: at, Note: o.Message, Paths: o.Paths, Nested: o.Nested, Changed: rescue}
		return bands.History{Undo: append(past.Undo, turn)}
	}
	return execute(ctx, h, job{op: bands.OpRestore, target: target, scope: o.Scope, note: o.Message, again: again, next: next}, o)
}

// execute does the work of Run, Undo, Redo and Finish.
func execute(ctx context.Context, h *bands.Held, j job, o Options) (Result, error) {
	done := Result{Op: j.op, TakenBack: j.again != nil && j.target == j.again.Rescue}
	var err error
	if done.Target, err = h.Snapshot(j.target); err != nil {
		return done, err
	}
	j.only = done.Target.Only
	in, err := j.compile(o)
	if err != nil {
		return done, err
	}
	content, err := bands.OpenContent(h.Store, done.Target)
	if err != nil {
		return done, err
	}
	defer func() { _ = content.Bands.Close() }()
	if err := sweepTree(ctx, h, o); err != nil {
		return done, err
	}
	set, err := h.ResolveOptions(o.Options)
	if err != nil {
		return done, err
	}
	began, err := h.Stamp(set)
	if err != nil {
		return done, err
	}
	if err := rescued(ctx, h, j, content, in, o, &done); err != nil {
		return done, err
	}
	was, err := bands.OpenContent(h.Store, done.Rescue)
	if err != nil {
		return done, err
	}
	defer func() { _ = was.Bands.Close() }()
	a := newApplier(o.Options.Root, content, was)
	a.Progress, a.Captured = o.Progress, began.At
	a.Source = &comparison{Now: was.Records, Want: content.Records, Content: content, Scope: in}
	err = carryOut(ctx, h, j, a, o, &done)
	return done, err
}

// carryOut writes the journal, applies the plan and ends the journal.
func carryOut(ctx context.Context, h *bands.Held, j job, a *applier, o Options, done *Result) error {
	at := o.Now()
	journal := bands.Journal{
		Op: j.op, Lineage: o.Lineage, Root: o.Options.Root, Target: j.target, Rescue: done.Rescue.Version, Started: at,
		PID: os.Getpid(), Paths: j.scope.Paths, Nested: j.scope.Nested, Kept: done.Plan.Kept,
		Parts: []bands.Version{j.target}, Changed: done.Rescue.Version, Next: j.next(done, at),
	}
	done.Origin = done.Rescue.Version
	if j.again != nil {
		journal.Rescue = j.again.Rescue
		journal.Parts = append(journal.Parts, j.again.Parts...)
		if j.op == j.again.Op && j.target == j.again.Target {
			done.Origin = j.again.Rescue
		}
	}
	if info, ok := proc.Inspect(journal.PID); ok {
		journal.Start = info.Start
	}
	if o.Follow != "" && (o.Always || j.again != nil || !done.Plan.Empty()) { // else it adds no turn
		journal.Next = journal.Next.Followed(j.op, o.Follow, journal.PID, journal.Start)
	}
	// The rescue's folder lists the paths that the plan changes, and those changed by the restore
	// that it completes or undoes.
	count, states := done.Plan.States()
	if j.again != nil {
		before, err := undoing(ctx, h.Store, j.again.Changed, j.again.Rescue, j.again.Parts, Scope{Paths: j.again.Paths}, o)
		if err != nil {
			return err
		}
		set := slices.AppendSeq(slices.Collect(states), before.Changed.From(""))
		set = changedSet(set).Sorted()
		count, states = len(set), slices.Values(set)
	}
	if err := writeChanged(h, done.Rescue.Version, count, states); err != nil {
		return err
	}
	if err := bands.WriteJournal(h, journal); err != nil {
		return err
	}
	err := a.Run(ctx, &done.Plan)
	done.Verified, done.Failed, done.Unset = int(a.Verified.Load()), a.Failed, a.Unset
	if err != nil {
		return err // the journal is kept for Finish or Undo
	}
	if err := bands.EndJournal(h, journal, j.again != nil || o.Always || !done.Plan.Empty()); err != nil {
		return err
	}
	for _, path := range slices.Concat(done.Plan.Damaged, done.Plan.Blocked) {
		reason := errInTheWay
		if slices.Contains(done.Plan.Damaged, path) {
			reason = bands.ErrDamaged
		}
		done.Failed = append(done.Failed, Failure{Path: path, Err: reason})
	}
	if len(done.Failed) > 0 {
		return fmt.Errorf("%s: %w: %d paths, the first is %s: %w", done.Target.Version, ErrIncomplete, len(done.Failed), done.Failed[0].Path, done.Failed[0].Err)
	}
	return nil
}

var errInTheWay = errors.New("a file that is kept is in its place")

// rescue takes the snapshot from which a restore can be undone. If the disk has no room for all
// changes since the last one, it leaves out the files that the restore doesn't touch.
func rescue(ctx context.Context, h *bands.Held, j job, content *bands.ContentReader, in *Selection, o Options, target bands.Snapshot) (capture.Taken, error) {
	take := capture.TakeOptions{
		Options: partly(o.Options, target), Message: cmp.Or(j.note, fmt.Sprintf("before %s of %s", j.op, j.target)),
		Cause: bands.Rescue, Causality: o.Causality, Force: true, Progress: o.Progress,
	}
	take.Causality.Restores, take.Causality.RestoresPaths = j.target, len(j.scope.Paths) > 0
	take.Causality.Undoes = j.op != bands.OpRestore
	taken, err := capture.Take(ctx, h, take)
	if err == nil {
		return taken, nil
	}
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) && !errors.Is(err, bands.ErrNoRoom) {
		return capture.Taken{}, fmt.Errorf("rescue snapshot: %w", err)
	}
	// The records of the failed attempt are useless, and take room from the next.
	_ = retention.Collect(h)
	_, _ = retention.Compact(ctx, h)
	_ = disk.Sync(h.Dir()) // Btrfs frees the room only then
	exclude, less := untouched(ctx, h, j, content, in, o)
	if less != nil || len(exclude) == 0 {
		return capture.Taken{}, fmt.Errorf("rescue snapshot: %w", errors.Join(err, less))
	}
	take.Exclude = append(slices.Clip(take.Exclude), exclude...)
	if err := h.Sweep(); err != nil {
		return capture.Taken{}, fmt.Errorf("rescue snapshot: %w", err)
	}
	if taken, err = capture.Take(ctx, h, take); err != nil {
		return capture.Taken{}, fmt.Errorf("partial rescue snapshot: %w", err)
	}
	return taken, nil
}

// partly returns the options for capturing the tree to compare it with the target: for a partial
// one only its paths, in its lineage.
func partly(o bands.Options, target bands.Snapshot) bands.Options {
	if len(target.Only) > 0 {
		o.Only, o.Lineage, o.Exclude = target.Only, target.Lineage, nil
	}
	return o
}

// untouched returns patterns of the files that a rescue would have to store though the restore
// neither overwrites nor deletes them.
func untouched(ctx context.Context, h *bands.Held, j job, content *bands.ContentReader, in *Selection, o Options) ([]string, error) {
	target, err := h.Snapshot(j.target)
	if err != nil {
		return nil, err
	}
	present, err := capture.Scan(ctx, h.Store, partly(o.Options, target))
	if err != nil {
		return nil, err
	}
	defer func() { _ = present.Close() }()
	plan, err := planBetween(ctx, h.Store, planSides{Now: present.Loader, NowRef: present.Tree, Target: target}, content, in)
	if err != nil {
		return nil, err
	}
	mains := map[string]bool{}
	for _, u := range plan.Units {
		mains[u.Main] = true
	}
	var base band.Ref
	loader := present.Loader
	if present.Base != 0 {
		last, err := h.Snapshot(present.Base)
		if err != nil {
			return nil, err
		}
		records, reader := h.Loader(last)
		defer func() { _ = reader.Close() }()
		base, _ = last.Tree.Ref()
		loader = records
	}
	var patterns []string
	literally := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`) // only the path itself matches
	err = band.DiffTrees(ctx, loader, base, present.Loader, present.Tree, func(c band.Change) error {
		if c.New == nil || c.New.Kind != band.File || mains[c.Path] {
			return nil
		}
		if _, s := plan.Root.Find(c.Path); s == nil {
			patterns = append(patterns, "/"+literally.Replace(c.Path))
		}
		return nil
	})
	return patterns, err
}
