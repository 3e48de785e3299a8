package bands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// ErrIncomplete means that a restore was carried out but for the paths it names
// in Restored.Failed.
var ErrIncomplete = errors.New("not everything could be restored")

// RestoreOptions say what to restore, and how the tree is captured before.
type RestoreOptions struct {
	Options
	Scope            // its Root is that of Options
	Message   string // of the rescue snapshot
	Causality Causality
	// Follow names what the caller does once the files are restored, empty if
	// nothing. The history has it, so it is known when that was interrupted.
	Follow string
	// Always adds the operation to the history even if no file changes.
	Always bool
	// Progress is told how far each stage is; nil: nobody is.
	Progress func(stage string, done, total int)
}

// Restored is what a restore did.
type Restored struct {
	Target Snapshot
	// Rescue is the tree as it was before.
	Rescue Snapshot
	// Origin is the snapshot to which the operation is taken back: Rescue, or where
	// an interrupted operation was completed, the rescue of that.
	Origin Version
	Plan   Plan
	// Verified is how many files and symlinks were written, and their content
	// checked against its hash on the way.
	Verified int
	// Failed are paths that are not as the target has them, with the reason.
	Failed []Failure
	// Unset are restored paths that lack an owner or an attribute of the target,
	// with the reason: this user may not set it, or the file system has no such.
	Unset []Failure
}

// Failure is a path that could not be restored.
type Failure struct {
	Path string
	Err  error
}

// sides are the two trees of a plan.
type sides struct {
	now    tree.Loader
	nowRef band.Ref
	target Snapshot
	lists  bool // whether the plan identifies what it makes of each path
}

// Plan returns what a restore of the target would do to the tree that present was
// read from, and writes nothing.
func (s *Store) Plan(ctx context.Context, present *Present, target Snapshot, in Scope) (Plan, error) {
	if in.Root == "" {
		in.Root = target.Root
	}
	compiled, err := in.compile(nil)
	if err != nil {
		return Plan{}, err
	}
	plan, err := s.planFor(ctx, present, target, compiled)
	if err == nil {
		plan.addUnheld(compiled, present.Unheld())
	}
	return plan, err
}

// planFor compares the tree that present was read from with the target.
func (s *Store) planFor(ctx context.Context, present *Present, target Snapshot, in *scope) (Plan, error) {
	content, err := s.contents(target)
	if err != nil {
		return Plan{}, err
	}
	defer func() { _ = content.reader.Close() }()
	return s.plan(ctx, sides{now: present.Loader, nowRef: present.Tree, target: target}, content, in)
}

// contents opens a snapshot for reading files; the caller closes its reader.
func (s *Store) contents(v Snapshot) (*contents, error) {
	if _, ok := v.Tree.Ref(); !ok {
		return nil, fmt.Errorf("snapshot %s: %w", v.Version, ErrDamaged)
	}
	records, reader := s.Loader(v)
	return &contents{reader: reader, records: records}, nil
}

// plan compares, and compares again if databases that would be changed are open.
func (s *Store) plan(ctx context.Context, at sides, content *contents, in *scope) (Plan, error) {
	if rel, ok := relIn(in.Root, s.dir); ok {
		in.hidden[rel] = true
	}
	want, _ := at.target.Tree.Ref()
	once := func(busy map[string]bool) (Plan, error) {
		plan := Plan{Target: at.target, dirs: map[string]dirChange{}, partly: map[string]tree.Attr{}}
		p := &planner{now: at.now, want: content.records, content: content, scope: in, plan: &plan, busy: busy, lists: at.lists, seen: map[string]bool{}}
		err := p.run(ctx, at.nowRef, want)
		if err != nil && damaged(err) {
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return plan, err
	}
	plan, err := once(nil)
	if err != nil {
		return Plan{}, fmt.Errorf("compare with %s: %w", at.target.Version, err)
	}
	if in.Force || len(plan.units) == 0 {
		return plan, nil
	}
	var mains []string
	for _, u := range plan.units {
		if u.there {
			mains = append(mains, u.main)
		}
	}
	busy := inUse(in.Root, mains)
	if len(busy) == 0 {
		return plan, nil
	}
	if plan, err = once(busy); err != nil {
		return Plan{}, fmt.Errorf("compare with %s: %w", at.target.Version, err)
	}
	return plan, nil
}

// job is a restore with what it means for the history.
type job struct {
	op     Operation
	target Version
	scope  Scope
	note   string
	again  *Journal // of what was interrupted, if this completes it or takes it back
	undo   *undoing // limits an undo, redo or finish to what was changed before
	// next is the history once it is done.
	next func(done *Restored, at time.Time) History
}

// compile is the job's scope in the tree of the options.
func (j *job) compile(o RestoreOptions) (*scope, error) {
	in := j.scope
	in.Root = o.Options.Root
	compiled, err := in.compile(o.Hidden)
	if err != nil {
		return nil, err
	}
	compiled.undo, compiled.at = j.undo, o.Now()
	return compiled, nil
}

// Restore takes a rescue snapshot and makes the tree what the target has. A
// restore of the same target that was interrupted is completed by it: going
// back then still leads to the tree before the first.
func (h *Held) Restore(ctx context.Context, target Version, o RestoreOptions) (Restored, error) {
	past, left, err := h.past(o.Lineage)
	if err != nil {
		return Restored{}, err
	}
	again := left
	if left != nil && (left.Op != OpRestore || left.Target != target) {
		again = nil
	}
	next := func(done *Restored, at time.Time) History {
		rescue := done.Rescue.Version
		if again != nil { // it has the first attempt's rescue
			return past.listedBy(OpRestore, rescue)
		}
		turn := Turn{Rescue: rescue, Target: target, At: at, Note: o.Message, Paths: o.Paths, Nested: o.Nested, Changed: rescue}
		return History{Undo: append(past.Undo, turn)}
	}
	return h.restore(ctx, job{op: OpRestore, target: target, scope: o.Scope, note: o.Message, again: again, next: next}, o)
}

// restore does the work of Restore, Undo, Redo and Finish.
func (h *Held) restore(ctx context.Context, j job, o RestoreOptions) (Restored, error) {
	var done Restored
	var err error
	if done.Target, err = h.Snapshot(j.target); err != nil {
		return done, err
	}
	in, err := j.compile(o)
	if err != nil {
		return done, err
	}
	content, err := h.contents(done.Target)
	if err != nil {
		return done, err
	}
	defer func() { _ = content.reader.Close() }()
	if err := h.sweepTree(ctx, o); err != nil {
		return done, err
	}
	set, err := h.settle(o.Options)
	if err != nil {
		return done, err
	}
	began, err := h.stamp(set)
	if err != nil {
		return done, err
	}
	if err := h.rescued(ctx, j, content, in, o, &done); err != nil {
		return done, err
	}
	was, err := h.contents(done.Rescue)
	if err != nil {
		return done, err
	}
	defer func() { _ = was.reader.Close() }()
	a := newApplier(o.Options.Root, content, was)
	a.progress, a.captured = o.Progress, began.at
	a.source = &planner{now: was.records, want: content.records, content: content, scope: in, plan: &done.Plan}
	return done, h.carryOut(ctx, j, a, o, &done)
}

// carryOut applies the plan between the journal's two ends.
func (h *Held) carryOut(ctx context.Context, j job, a *applier, o RestoreOptions, done *Restored) error {
	journal := h.journalOf(j, o, done)
	if err := h.listChanges(ctx, j, o, done); err != nil {
		return err
	}
	if err := h.writeJournal(journal); err != nil {
		return err
	}
	err := a.run(ctx, &done.Plan)
	done.Verified, done.Failed, done.Unset = int(a.verified.Load()), a.failed, a.unset
	if err != nil {
		return err // the journal stays: Finish or Undo
	}
	if err := h.endJournal(journal, j.again != nil || o.Always || !done.Plan.Empty()); err != nil {
		return err
	}
	for _, list := range [][]string{done.Plan.Damaged, done.Plan.Blocked} {
		for _, path := range list {
			done.Failed = append(done.Failed, Failure{path, reasonOf(done.Plan, path)})
		}
	}
	if len(done.Failed) > 0 {
		return fmt.Errorf("%s: %w: %d paths, the first is %s: %w", done.Target.Version, ErrIncomplete, len(done.Failed), done.Failed[0].Path, done.Failed[0].Err)
	}
	return nil
}

var errInTheWay = errors.New("something that stays is in its way")

// reasonOf is why the plan leaves a path that the target has.
func reasonOf(p Plan, path string) error {
	if slices.Contains(p.Damaged, path) {
		return ErrDamaged
	}
	return errInTheWay
}

// listChanges writes what the plan changes, and what was changed by the restore
// that it completes or takes back, into the rescue's folder.
func (h *Held) listChanges(ctx context.Context, j job, o RestoreOptions, done *Restored) error {
	count, states := done.Plan.states()
	if j.again != nil {
		before, err := h.undoing(ctx, j.again.Changed, j.again.Rescue, j.again.Parts, Scope{Paths: j.again.Paths}, o)
		if err != nil {
			return err
		}
		set := slices.AppendSeq(slices.Collect(states), before.changed.from(""))
		set = changedSet(set).sorted()
		return h.writeChanged(done.Rescue.Version, len(set), slices.Values(set))
	}
	return h.writeChanged(done.Rescue.Version, count, states)
}

func (h *Held) journalOf(j job, o RestoreOptions, done *Restored) Journal {
	at := o.Now()
	journal := Journal{
		Op: j.op, Lineage: o.Lineage, Root: o.Options.Root, Target: j.target, Rescue: done.Rescue.Version, Started: at,
		PID: os.Getpid(), Paths: j.scope.Paths, Nested: j.scope.Nested, Kept: done.Plan.Kept,
		Parts: []Version{j.target}, Changed: done.Rescue.Version, Next: j.next(done, at),
	}
	done.Origin = done.Rescue.Version
	if j.again != nil {
		journal.Rescue = j.again.Rescue
		journal.Parts = append(journal.Parts, j.again.Parts...)
		if j.op == j.again.Op && j.target == j.again.Target {
			done.Origin = j.again.Rescue
		}
	}
	if info, ok := proc.Look(journal.PID); ok {
		journal.Start = info.Start
	}
	if o.Follow != "" && (o.Always || j.again != nil || !done.Plan.Empty()) { // else it adds no turn
		journal.Next = journal.Next.followed(j.op, o.Follow, journal.PID, journal.Start)
	}
	return journal
}

// rescue takes the snapshot that a restore can be taken back by. Where the disk
// has no room for all that changed since the last one, it leaves out what the
// restore doesn't touch.
func (h *Held) rescue(ctx context.Context, j job, content *contents, in *scope, o RestoreOptions) (Taken, error) {
	take := TakeOptions{
		Options: o.Options, Message: rescueMessage(j), Cause: Rescue, Causality: o.Causality, Force: true,
	}
	take.Causality.Restores = j.target
	if o.Progress != nil {
		take.Progress = func(done, total int64) { o.Progress("capture", int(done), int(total)) }
	}
	taken, err := h.Take(ctx, take)
	if err == nil {
		return taken, nil
	}
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) && !errors.Is(err, ErrNoRoom) {
		return Taken{}, fmt.Errorf("rescue snapshot: %w", err)
	}
	// What the attempt has appended is of no use, and in the way of the next.
	_ = h.collect()
	_, _ = h.Compact(ctx)
	_ = disk.Sync(h.dir) // Btrfs gives the room back only then
	exclude, less := h.untouched(ctx, j, content, in, o)
	if less != nil || len(exclude) == 0 {
		return Taken{}, fmt.Errorf("rescue snapshot: %w", errors.Join(err, less))
	}
	take.Exclude = append(slices.Clip(take.Exclude), exclude...)
	if err := h.Sweep(); err != nil {
		return Taken{}, fmt.Errorf("rescue snapshot: %w", err)
	}
	if taken, err = h.Take(ctx, take); err != nil {
		return Taken{}, fmt.Errorf("rescue snapshot of what would change: %w", err)
	}
	return taken, nil
}

func rescueMessage(j job) string {
	if j.note != "" {
		return j.note
	}
	return fmt.Sprintf("before %s of %s", j.op, j.target)
}
