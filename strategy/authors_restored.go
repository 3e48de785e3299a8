package strategy

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/session"
)

// restoredTree is what a rewind made of the tree that its rescue holds.
type restoredTree struct {
	version bands.Version
	root    tree.Entry
	records *tree.Records
}

// find is what the rewind's target has at a path, nil if nothing or if it isn't
// known.
func (t *restoredTree) find(name string) *tree.Entry {
	e, err := tree.Lookup(t.records, t.root.Content, name)
	if err != nil {
		return nil
	}
	return &e
}

// restoredBy is the tree that the rewind made whose rescue a snapshot is, nil if
// it is none or the target has gone.
func (a *authors) restoredBy(ctx context.Context, rescue bands.Snapshot) *restoredTree {
	v := restoredVersion(rescue)
	if v == 0 {
		return nil
	}
	s, err := a.store.Snapshot(v)
	root, ok := s.Tree.Ref()
	if err != nil || !ok {
		a.r.Log.InfoContext(ctx, "what a rewind restored isn't known", "version", rescue.Version.String(), "restored", v.String())
		return nil
	}
	records, reader := a.store.Loader(s)
	a.close = append(a.close, reader.Close)
	return &restoredTree{version: v, root: tree.Entry{Kind: tree.Dir, Content: root}, records: records}
}

// codeSince are the rewinds without snapshots since a time, and one that was
// interrupted.
func (r *Recorder) codeSince(since time.Time) []codeDone {
	h, err := readCodeHistory(r.Repo.CommonDir, r.Lineage())
	if err != nil {
		return nil
	}
	done := h.Done
	if h.Begun != nil {
		done = append(done, doneBy(h.Begun.changes(), h.Begun.Started, time.Time{}))
	}
	return slices.DeleteFunc(done, func(d codeDone) bool { return !d.End.IsZero() && d.End.Before(since) })
}

// byCode reports whether a rewind without snapshots, in the stretch, made a path what
// it was at the end of that: what it wrote has the time of the rewind.
func (a *authors) byCode(st *stretch, name string, is *tree.Entry) bool {
	return slices.ContainsFunc(a.code, func(d codeDone) bool {
		whole := span{d.Start, d.End}
		if !whole.within(st) {
			return false
		}
		if is == nil {
			return slices.Contains(d.Gone, session.Path(name))
		}
		return slices.Contains(d.Wrote, session.Path(name)) && whole.covers(is.Attr.Mtime, slack)
	})
}

// restoredVersion is what a rescue's restore made the tree. Rescues of earlier
// versions of the program say so in their message alone.
func restoredVersion(s bands.Snapshot) bands.Version {
	if s.Cause != bands.Rescue || s.Causality.Restores != 0 {
		return s.Causality.Restores
	}
	v, err := bands.ParseVersion(s.Message[strings.LastIndexByte(s.Message, ' ')+1:])
	if err != nil {
		return 0
	}
	return v
}
