package rewind

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// CommittedChanges returns those of the paths that a rewind to a point with a snapshot changes whose
// committed content would change: commits since the snapshot gave them the content that they have at
// HEAD, and the snapshot has another. It calls steps, which returns the steps of the rewind, only if
// there are such commits.
func CommittedChanges(ctx context.Context, w *workspace.Workspace, p Point, steps func() (iter.Seq[restore.Step], error)) (paths []string, err error) {
	store, target, err := PointTarget(w, p)
	if err != nil {
		return nil, err
	}
	head, born, err := w.Head(ctx)
	if err != nil || !born || string(head.OID) == target.Causality.Commit {
		return nil, err
	}
	then, err := w.Repo.Commit(ctx, cmp.Or(target.Causality.Commit, string(head.OID)))
	if err != nil || target.Causality.Commit == "" { // not recorded, or not in this clone
		then.OID = ""
	}
	changes, err := git.Changes(ctx, w.Repo, then.OID, head.OID)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	since := map[string]git.Change{}
	for _, c := range changes {
		since[c.Path] = c
	}
	planned, err := steps()
	if err != nil {
		return nil, err
	}
	content, err := bands.OpenContent(store, target)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, content.Bands.Close()) }()
	for step := range planned {
		c, found := since[step.Path]
		if found && step.Kind != restore.StepAttributes && !hasContent(w, content, target, step.Path, c.New) {
			paths = append(paths, step.Path)
		}
	}
	return paths, nil
}

// hasContent reports whether a snapshot has the content of a blob at a path, perhaps with other line
// ends. It is false for large files, which are not read.
func hasContent(w *workspace.Workspace, content *bands.ContentReader, s bands.Snapshot, name string, blob git.OID) bool {
	const most = 64 << 20
	root, _ := s.Tree.Ref()
	e, err := band.LookupPath(content.Records, root, name)
	if err != nil || e.Size > most {
		return false
	}
	data := []byte(e.Target)
	if e.Kind == band.File {
		var b bytes.Buffer
		if err := content.CopyTo(&b, &e); err != nil {
			return false
		}
		data = b.Bytes()
	}
	return w.Repo.Format.HashBlob(data) == blob || w.Repo.Format.HashBlob(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))) == blob
}

// CommittedCodeChanges is Committed for a rewind to a point without a snapshot.
func CommittedCodeChanges(ctx context.Context, w *workspace.Workspace, p Point, planned CodePlan) (paths []string, err error) {
	head, born, err := w.Head(ctx)
	if err != nil || !born {
		return nil, err
	}
	if tip, err := w.Repo.Commit(ctx, checkpoint.ShadowBranch(head.OID, w.Repo.WorktreeID)); err == nil {
		apart, err := git.Unreachable(ctx, w.Repo, tip.OID, []git.OID{p.Shadow})
		if err != nil || len(apart) == 0 { // there is no commit since
			return nil, err
		}
	}
	before := head.OID
	if c, err := w.Repo.Commit(ctx, string(p.Shadow)); err == nil && slices.Contains(c.Parents, before) {
		return nil, nil // the files that a rewind on this commit replaced
	}
	for _, step := range planned.Steps {
		e, found, err := git.LookupPath(ctx, w.Repo, head.Tree, step.Path)
		if err != nil {
			return nil, err
		}
		if now := planned.present[step.Path]; !found && now.Mode == 0 || found && now.Mode == e.Mode && now.OID == e.OID {
			paths = append(paths, step.Path)
		}
	}
	return paths, nil
}

// DiscardedChanges returns the paths that a reset of the branch to a commit changes: those that differ
// between it and HEAD.
func DiscardedChanges(ctx context.Context, w *workspace.Workspace, to git.OID) (paths []string, err error) {
	head, born, err := w.Head(ctx)
	if err != nil || !born || head.OID == to {
		return nil, err
	}
	changes, err := git.Changes(ctx, w.Repo, to, head.OID)
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	return paths, err
}

// PastRewind is a rewind that an undo takes back, or an undo that a redo takes back.
type PastRewind struct {
	// What describes the rewind, such as "rewind to v3"; it may be a restore.
	What string
	At   time.Time
	// Commits is the number of commits since; Moved reports that HEAD has moved to a commit that
	// isn't after that of then.
	Commits int
	Moved   bool
	// Interrupted reports whether it is an interrupted operation.
	Interrupted bool
}

// LastRewind returns what an undo or redo takes back: [bands.ErrNoHistory] if there is nothing.
func LastRewind(ctx context.Context, w *workspace.Workspace, op bands.Operation) (last PastRewind, err error) {
	store, err := movable(w)
	if err != nil {
		return last, err
	}
	past, left, err := bands.ReadHistoryAndJournal(store, tracking.Lineage(w))
	if err != nil {
		return last, err
	}
	if left != nil {
		return PastRewind{What: "rewind to " + tracking.TargetName(store, left.Target), At: left.Started, Interrupted: true}, nil
	}
	turns := past.Undo
	if op == bands.OpRedo {
		turns = past.Redo
	}
	if len(turns) == 0 {
		return last, bands.ErrNoHistory
	}
	turn := turns[len(turns)-1]
	last = PastRewind{What: describeRestore(store, turn), At: turn.At}
	if what, noted := strings.CutPrefix(turn.Note, "before "); noted { // an undo and a redo keep the note of the rewind
		last.What = what
	}
	rescue, err := store.Snapshot(turn.Rescue)
	if err != nil { // the undo reports it
		return last, nil //nolint:nilerr // the same error follows
	}
	then, err := w.Repo.Commit(ctx, rescue.Causality.Commit)
	head, born, failed := w.Head(ctx)
	if failed != nil || !born || rescue.Causality.Commit == "" || then.OID == head.OID {
		return last, failed
	}
	if err != nil { // it was removed
		last.Moved = true
		return last, nil //nolint:nilerr // a commit that doesn't exist is no failure
	}
	base, err := git.MergeBase(ctx, w.Repo, then.OID, head.OID)
	if err != nil {
		return last, err
	}
	if base != then.OID {
		last.Moved = true
		return last, nil
	}
	subjects, err := git.Subjects(ctx, w.Repo, string(then.OID), string(head.OID))
	last.Commits = len(subjects)
	return last, err
}

// describeRestore describes the rewind or restore that an entry of a history did, undid or redid.
func describeRestore(store *bands.Store, turn bands.PastRestore) string {
	did, err := store.Snapshot(turn.Rescue)
	for err == nil && did.Causality.Undoes && did.Causality.Restores < did.Version {
		did, err = store.Snapshot(did.Causality.Restores) // the rescue of what it undid
	}
	if err != nil || did.Causality.Restores == 0 {
		return "rewind to " + tracking.TargetName(store, turn.Target)
	}
	verb := "restore of "
	if did.Causality.Action == "rewind" {
		verb = "rewind to "
	}
	return verb + tracking.TargetName(store, did.Causality.Restores)
}
