package tracking

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// mostBefore is the maximum number of files that are read for their contents at a turn's
	// beginning.
	mostBefore = 50
	// largestBefore is their maximum size.
	largestBefore = 1 << 20
	// oldestBefore is the maximum number of snapshots searched for that of the turn's
	// beginning.
	oldestBefore = 20
)

// MeasureBefore records, when a turn begins, how persons have changed the session's pending
// files since its last stop. It starts no git process.
func MeasureBefore(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending) {
	if s.Recorder.Steps == 0 || len(s.FilesTouched) == 0 || !w.OwnsSession(s) {
		return
	}
	found, err := changedSinceStop(ctx, w, s, n)
	if err == nil && len(found.Paths) > 0 {
		if s.Recorder.Turn.Mixed = w.AnyOtherActive(ctx, s.ID); !s.Recorder.Turn.Mixed {
			err = addSteps(ctx, w, s, n, found)
		}
	}
	if err != nil {
		w.Log.WarnContext(ctx, "changes before the turn not recorded", "session_id", s.ID, "error", err.Error())
	}
}

// changedSinceStop returns the pending files that differ from their contents at the session's
// last stop.
func changedSinceStop(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending) (Step, error) {
	known := ReadSteps(ctx, w, s, n)
	found := Step{At: w.Env.Now().UTC(), Turn: s.TurnID, By: byPerson, Raw: true}
	forgotten := w.TombstonedFiles()
	for _, p := range s.FilesTouched[:min(len(s.FilesTouched), mostBefore)] {
		last, at, ok := lastStep(known, p)
		if !ok || last == UnknownBlob || forgotten(p) {
			continue
		}
		data, kind := changedFile(w, p, at.Add(-workspace.ClockSlack))
		switch {
		case kind == fileGone && last != GoneBlob:
			found.add(p, GoneBlob)
		case kind == fileRead && w.Repo.Format.HashBlob(data) != last:
			blob, err := w.Repo.WriteBlob(data)
			if err != nil {
				return found, err
			}
			found.add(p, blob)
		case kind == fileGone, kind == fileRead, kind == fileSkipped:
		}
	}
	return found, nil
}

// fileKind is the result of reading a file of the worktree.
type fileKind int

const (
	fileSkipped fileKind = iota // it didn't change, or can't be read
	fileGone
	fileRead
)

// changedFile reads a small file of the worktree if it changed since a time.
func changedFile(w *workspace.Workspace, path string, since time.Time) ([]byte, fileKind) {
	full := filepath.Join(w.Repo.Root, filepath.FromSlash(path))
	info, err := os.Lstat(full)
	switch {
	case errors.Is(err, fs.ErrNotExist), workspace.IsNotDir(err):
		return nil, fileGone
	case err != nil, disk.Changed(info).Before(since), info.Size() > largestBefore:
		return nil, fileSkipped
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(full)
		if err != nil {
			return nil, fileSkipped
		}
		return []byte(target), fileRead
	case !info.Mode().IsRegular():
		return nil, fileSkipped
	}
	data, err := disk.ReadFile(full)
	if err != nil || len(data) > largestBefore {
		return nil, fileSkipped
	}
	return data, fileRead
}

// WorktreeEntries returns the entries of files of the worktree with their present contents, except
// those that are too large or can't be read, of the first ones if there are many. Contents that
// known has aren't stored again.
func WorktreeEntries(w *workspace.Workspace, paths []string, known func(path string) git.OID) (map[string]git.TreeEdit, error) {
	entries := map[string]git.TreeEdit{}
	for _, p := range paths[:min(len(paths), mostBefore)] {
		data, kind := changedFile(w, p, time.Time{})
		e := git.TreeEdit{Path: p}
		switch kind {
		case fileSkipped:
			continue
		case fileGone:
		case fileRead:
			if e.Mode, e.OID = git.ModeFile, w.Repo.Format.HashBlob(data); e.OID == known(p) {
				break
			}
			if _, err := w.Repo.WriteBlob(data); err != nil {
				return nil, err
			}
		}
		entries[p] = e
	}
	return entries, nil
}

// StepBefore returns the contents that persons had given a turn's files before it, or the
// first of the turns beside it, began, according to the snapshot of that beginning. Files with
// steps of the session are left out: they were read then.
func StepBefore(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, turn StepTurn) Step {
	store, err := SnapshotStore(w)
	// None of these turns made the contents that files had when the first one began.
	first := s
	for _, o := range w.OtherPendingSessions(ctx, s.ID) {
		if o.Phase == session.Active && !o.Recorder.Turn.Start.After(first.Recorder.Turn.Start) {
			first = o
		}
	}
	start := first.Recorder.Turn.Start
	if err != nil || start.IsZero() {
		return Step{}
	}
	own, others := PathSteps{}, PathSteps{}
	own.AddSession(s.ID, ReadSteps(ctx, w, s, n))
	for _, o := range w.OtherPendingSessions(ctx, s.ID) {
		others.AddSession(o.ID, ReadSteps(ctx, w, o, new(Pending)))
	}
	// A path that another session has changed since is left out, as the snapshot of the
	// beginning may have that change, and so is one whose last content is unknown.
	var paths []string
	for _, p := range turn.Touched {
		steps := others.Of(p, "")
		others[p] = steps
		last := len(steps) - 1
		if len(own[p]) == 0 && (last < 0 || steps[last].At.Before(start) && steps[last].Blob != UnknownBlob) {
			paths = append(paths, p)
		}
	}
	if len(paths) == 0 {
		return Step{}
	}
	snap, ok := beginning(w, store, first)
	if !ok {
		return Step{}
	}
	found := Step{At: start.UTC(), Turn: s.TurnID, By: byPerson, Raw: true, Early: snap.Created.Before(turn.Base.Committer.When)}
	paths = paths[:min(len(paths), mostBefore)]
	forgotten := w.TombstonedFiles()
	for _, p := range paths {
		if forgotten(p) {
			continue
		}
		was, _, err := w.Lookup(ctx, turn.Base.Tree, p)
		if err == nil && (was.Mode == git.ModeModule || was.Mode == git.ModeTree) {
			continue
		}
		var blob git.OID
		held := false
		if err == nil {
			blob, held, err = blobIn(w, store, snap, p)
		}
		left := was.OID // or as the last session left it
		if n := len(others[p]); n > 0 {
			left = others[p][n-1].Blob
		}
		switch {
		case err != nil:
			w.Log.InfoContext(ctx, "content of a file before the turn unknown", "path", w.Redact.Path(p), "error", err.Error())
		case held && blob != left:
			found.add(p, blob)
		}
	}
	return found
}

// beginning returns the snapshot of the tree at the beginning of the session's turn: that of
// its first prompt or, if nothing had changed then or it was taken too late, the last one
// before. A turn that was interrupted has several prompts.
func beginning(w *workspace.Workspace, store *bands.Store, s *session.State) (bands.Snapshot, bool) {
	var first bands.Snapshot
	for snap := range store.Lineage(Lineage(w)).Recent(oldestBefore) {
		if snap.Created.Before(s.Recorder.Turn.Start) {
			if first.Version == 0 || first.Late {
				first = snap
			}
			return first, true
		}
		if snap.Cause == bands.Prompt && snap.Causality.Session == s.ID {
			first = snap
		}
	}
	return first, first.Version != 0 && !first.Late
}

// AtPrompt returns the content of a file at the prompt that followed a turn of the session without a
// stop, from the first call that changed the file since, or from the snapshot of the prompt;
// [UnknownBlob] if neither shows it.
func AtPrompt(_ context.Context, w *workspace.Workspace, s *session.State, work *Work, prompt time.Time, path string) git.OID {
	if work != nil {
		later := work.read().States([]string{path}, func(c transcript.Write) bool { return work.isAfter(c) })
		if len(later) > 0 && later[0].Before != nil &&
			work.reach(work.read().Commands(nil, &later[0], func(c transcript.Write) bool { return work.isAfter(c) }), path) == unreached {
			if blob, err := w.Repo.WriteBlob([]byte(*later[0].Before)); err == nil {
				return blob
			}
		}
	}
	store, err := SnapshotStore(w)
	if err != nil {
		return UnknownBlob
	}
	var found bands.Snapshot
	for snap := range store.Lineage(Lineage(w)).Recent(oldestBefore) {
		if snap.Created.Before(prompt) {
			break
		}
		if snap.Cause == bands.Prompt && snap.Causality.Session == s.ID {
			found = snap
		}
	}
	if found.Version == 0 || found.Late {
		return UnknownBlob
	}
	blob, held, err := blobIn(w, store, found, path)
	if err != nil || !held {
		return UnknownBlob
	}
	return blob
}

// blobIn stores a small file of a snapshot as a blob; false if its content isn't in
// the store or is too large.
func blobIn(w *workspace.Workspace, store *bands.Store, snap bands.Snapshot, path string) (git.OID, bool, error) {
	content := &bounded{room: largestBefore}
	err := restore.ReadFile(store, snap, path, content)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return GoneBlob, true, nil
	case errors.Is(err, restore.ErrNotHeld), errors.Is(err, restore.ErrIsDirectory), errors.Is(err, errFull):
		return "", false, nil
	case err != nil:
		return "", false, err
	}
	blob, err := w.Repo.WriteBlob(content.buf.Bytes())
	return blob, true, err
}

// bounded is a buffer of limited size. The buffer is not embedded: io.Copy
// would find its ReadFrom, which has no limit.
type bounded struct {
	buf  bytes.Buffer
	room int
}

var errFull = errors.New("too large")

var _ io.Writer = (*bounded)(nil)

// Write fails when there is no room left.
func (b *bounded) Write(p []byte) (int, error) {
	if b.buf.Len()+len(p) > b.room {
		return 0, errFull
	}
	return b.buf.Write(p)
}
