package authorship

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/provenance"
	"github.com/seed-3aff656d/entire/strategy/rewindstate"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// restoredBy is the tree that the rewind made whose rescue a snapshot is, nil if
// it is none or the target has gone.
func (a *WorktreeAuthors) restoredBy(ctx context.Context, rescue bands.Snapshot) *provenance.RestoredTree {
	v := restoredVersion(rescue)
	if v == 0 {
		return nil
	}
	s, err := a.Store.Snapshot(v)
	root, ok := s.Tree.Ref()
	if err != nil || !ok {
		a.R.Log.InfoContext(ctx, "what a rewind restored isn't known", "version", rescue.Version.String(), "restored", v.String())
		return nil
	}
	records, reader := a.Store.Loader(s)
	a.close = append(a.close, reader.Close)
	return &provenance.RestoredTree{Version: v, Root: tree.Entry{Kind: tree.Dir, Content: root}, Records: records}
}

// codeSince are the rewinds without snapshots since a time, and one that was
// interrupted.
func (au *Authors) codeSince(since time.Time) []rewindstate.CodeChanged {
	h, err := rewindstate.ReadCodeHistory(au.Repo.CommonDir, au.snapshots.Lineage())
	if err != nil {
		return nil
	}
	done := h.Done
	if h.Begun != nil {
		done = append(done, rewindstate.ChangedBy(h.Begun.Changes(), h.Begun.Started, time.Time{}))
	}
	return slices.DeleteFunc(done, func(d rewindstate.CodeChanged) bool { return !d.End.IsZero() && d.End.Before(since) })
}

// byCode reports whether a rewind without snapshots, in the interval, made a path what
// it was at the end of that: what it wrote has the time of the rewind.
func (a *WorktreeAuthors) byCode(st *provenance.Interval, name string, is *tree.Entry) bool {
	return slices.ContainsFunc(a.code, func(d rewindstate.CodeChanged) bool {
		whole := provenance.Span{Start: d.Start, End: d.End}
		if !whole.Within(st) {
			return false
		}
		if is == nil {
			return slices.Contains(d.Gone, session.Path(name))
		}
		return slices.Contains(d.Wrote, session.Path(name)) && whole.Covers(is.Attr.Mtime, workspace.ClockSlack)
	})
}

// restoredVersion is what a rescue's restore made the tree. Rescues of earlier
// versions of the program record it in their message alone.
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
