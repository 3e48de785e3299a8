package query

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
)

// mostFiles bounds the files of a turn that are taken from its snapshots.
const mostFiles = 500

// snapshots reads the descriptions of new snapshots, and the files changed by the turns that
// they were taken for.
func (r *run) snapshots(ctx context.Context) error {
	if r.known.Snapshots == r.now.Snapshots {
		return nil
	}
	store, err := bands.Open(registry.RepositoryDir(r.Repo.CommonDir))
	if errors.Is(err, bands.ErrNoStore) {
		return nil
	}
	if err != nil {
		r.skip(ctx, "snapshots", err)
		return nil
	}
	text, err := r.w.Meta(ctx, snapshotKey)
	if err != nil {
		return err
	}
	last, err := strconv.Atoi(text)
	if err != nil {
		last = 0
	}
	versions, err := store.Versions()
	if err != nil {
		r.skip(ctx, "snapshots", err)
		return nil
	}
	slices.Sort(versions)
	reader := &snapshotReader{run: r, store: store, read: map[bands.Version]bands.Snapshot{}}
	for i, v := range versions {
		if int(v) <= last {
			continue
		}
		r.progress("snapshots", int64(i), int64(len(versions)))
		if err := reader.snapshot(ctx, v); err != nil {
			return err
		}
		if err := r.done(ctx); err != nil {
			return err
		}
		last = int(v)
	}
	return r.w.SetMeta(ctx, snapshotKey, strconv.Itoa(last))
}

// snapshotReader reads snapshots one after another.
type snapshotReader struct {
	*run

	store *bands.Store
	read  map[bands.Version]bands.Snapshot
}

func (sr *snapshotReader) description(v bands.Version) (bands.Snapshot, bool) {
	if s, found := sr.read[v]; found {
		return s, true
	}
	s, err := sr.store.Snapshot(v)
	if err == nil {
		sr.read[v] = s
	}
	return s, err == nil
}

// snapshot indexes a snapshot of the end of a turn.
func (sr *snapshotReader) snapshot(ctx context.Context, v bands.Version) error {
	s, ok := sr.description(v)
	c := s.Causality
	if !ok || c.Session == "" || c.Turn == "" || s.Cause != bands.Auto {
		return nil
	}
	_, row, err := sr.w.FindSession(ctx, c.Session)
	if err != nil || row == 0 {
		return err
	}
	turn := int64(0)
	if c.TranscriptLines > 0 {
		turn, err = sr.w.Turns.At(ctx, row, c.TranscriptLines)
	}
	if turn == 0 && err == nil {
		turn, err = sr.w.Turns.By(ctx, row, s.Created)
	}
	if err != nil || turn == 0 {
		return err
	}
	base, ok := sr.before(s)
	shot := index.Snapshot{Version: int(v), Cause: string(s.Cause), At: s.Created}
	if ok {
		shot.Base = int(base.Version)
	}
	if err := sr.w.PutSnapshot(ctx, turn, shot); err != nil || !ok {
		return err
	}
	files, err := sr.differences(ctx, base, s)
	if err != nil {
		if ctx.Err() == nil {
			sr.skip(ctx, "snapshot "+v.String(), err)
		}
		return ctx.Err()
	}
	return sr.w.Turns.AddFiles(ctx, turn, files)
}

// before returns the snapshot at the beginning of the turn of s: that of its prompt, or the
// last one that wasn't taken for the turn.
func (sr *snapshotReader) before(s bands.Snapshot) (bands.Snapshot, bool) {
	const most = 100
	at := s
	for range most {
		parent, ok := sr.description(at.Parent)
		if at.Parent == 0 || !ok {
			return at, at.Version != s.Version
		}
		at = parent
		if c := at.Causality; at.Cause == bands.Prompt || c.Turn != s.Causality.Turn || c.Session != s.Causality.Session {
			return at, true
		}
	}
	return at, true
}

// differences returns the files that differ between two snapshots, except those that git
// ignores.
func (sr *snapshotReader) differences(ctx context.Context, from, to bands.Snapshot) (files []index.FileChange, err error) {
	contents := map[string]band.Change{}
	var paths []string
	err = sr.store.Changes(ctx, from, to, func(c band.Change) error {
		if c.Path != "" && (c.Old == nil || c.Old.Kind != band.Dir) && (c.New == nil || c.New.Kind != band.Dir) && c.Kind != band.AttributesChanged {
			contents[c.Path] = c
			paths = append(paths, c.Path)
		}
		return nil
	})
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	if sr.Repo.Root != "" { // also if the snapshots are of another worktree, or of a copied repository
		ignored, err := git.IgnoredPaths(ctx, sr.Repo, paths)
		if err != nil {
			return nil, err
		}
		paths = slices.DeleteFunc(paths, func(p string) bool { return slices.Contains(ignored, p) })
	}
	if len(paths) == 0 {
		return nil, nil
	}
	old, err := diff.SnapshotSide(sr.store, from)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	now, err := diff.SnapshotSide(sr.store, to)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, now.Close()) }()
	list, err := diff.Stat(ctx, old, now, diff.Options{Paths: paths, NoCounts: len(paths) > mostFiles})
	for _, d := range list[:min(len(list), mostFiles)] {
		c, found := contents[d.Path]
		if !found {
			continue
		}
		files = append(files, index.FileChange{
			Path: d.Path, Added: d.Added, Removed: d.Removed, Observed: true, Before: contentOf(c.Old), After: contentOf(c.New),
		})
	}
	return files, err
}

// contentOf returns the beginning of the hash of a file's content, a zero byte for none.
func contentOf(e *band.Entry) []byte {
	const length = 8
	if e == nil {
		return []byte{0}
	}
	return slices.Clone(e.Content.Hash[:length])
}
