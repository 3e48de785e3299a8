package authorship

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/plan"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/strategy/provenance"
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

// partialRewind is a rewind, undo or redo of the files of a partial snapshot.
type partialRewind struct {
	at      time.Time
	changed *plan.ChangedList
}

// addPartial takes up the rewind whose rescue a partial snapshot is.
func (a *WorktreeAuthors) addPartial(ctx context.Context, rescue bands.Snapshot) {
	if rescue.Causality.Restores == 0 {
		return
	}
	changed, err := plan.ReadChanged(ctx, a.Store, rescue.Version, rescue.Version, nil, nil)
	if err != nil {
		a.R.Log.InfoContext(ctx, "what a rewind restored isn't known", "version", rescue.Version.String(), "error", err.Error())
		return
	}
	a.partial = append(a.partial, partialRewind{rescue.Created, changed})
}

// byPartial reports whether such a rewind, in the interval, made a path what it was at
// the end of that.
func (a *WorktreeAuthors) byPartial(st *provenance.Interval, name string, is *tree.Entry) bool {
	return slices.ContainsFunc(a.partial, func(p partialRewind) bool {
		return provenance.Span{Start: p.at, End: p.at}.Within(st) && p.changed.Made(name, is)
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
