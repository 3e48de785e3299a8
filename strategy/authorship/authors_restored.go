package authorship

import (
	"context"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// restoredBy returns the tree that was restored by the rewind whose rescue snapshot is given. It
// returns nil if the snapshot is no rescue or the restored snapshot no longer exists.
func (a *WorktreeAuthors) restoredBy(ctx context.Context, rescue bands.Snapshot) *tracking.RestoredTree {
	v := rescue.Causality.Restores
	if v == 0 && rescue.Cause == bands.Rescue {
		// Rescues of earlier versions of the program record the version only in their message.
		if named, err := bands.ParseVersion(rescue.Message[strings.LastIndexByte(rescue.Message, ' ')+1:]); err == nil {
			v = named
		}
	}
	if v == 0 {
		return nil
	}
	s, err := a.Store.Snapshot(v)
	root, ok := s.Tree.Ref()
	if err != nil || !ok {
		a.Workspace.Log.InfoContext(ctx, "the files that a rewind restored are unknown", "version", rescue.Version.String(), "restored", v.String())
		return nil
	}
	records, reader := a.Store.Loader(s)
	a.close = append(a.close, reader.Close)
	return &tracking.RestoredTree{Version: v, Root: band.Entry{Kind: band.Dir, Content: root}, Records: records}
}

// partialRewind is a rewind, undo or redo of the files of a partial snapshot.
type partialRewind struct {
	at      time.Time
	changed *restore.ChangedList
}
