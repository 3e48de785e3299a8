package strategy

import (
	"context"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/tree"
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
