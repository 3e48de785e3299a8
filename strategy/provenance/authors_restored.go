package provenance

import (
	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// RestoredTree is what a rewind made of the tree that its rescue holds.
type RestoredTree struct {
	Version bands.Version
	Root    tree.Entry
	Records *tree.Records
}

// Find is what the rewind's target has at a path, nil if nothing or if it isn't
// known.
func (t *RestoredTree) Find(name string) *tree.Entry {
	e, err := tree.Lookup(t.Records, t.Root.Content, name)
	if err != nil {
		return nil
	}
	return &e
}
