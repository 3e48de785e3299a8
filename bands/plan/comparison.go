package plan

import (
	"slices"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/contents"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// parter is a tree.Loader that can load the parts of files.
type parter interface {
	Parts(ref band.Ref) ([]band.Part, error)
}

// Comparison compares a tree with the wanted one, within a scope.
type Comparison struct {
	Now, Want tree.Loader
	Content   *contents.Reader // of the target
	Scope     *Selection
}

// same reports whether a path needs no step, hard links aside.
func (c *Comparison) same(a, b *tree.Entry) bool {
	switch {
	case a == nil || b == nil || a.Kind != b.Kind:
		return false
	case a.Kind == tree.Dir:
		return a.Content.Hash == b.Content.Hash
	case a.Kind == tree.Unknown:
		// Unheld entries may differ. Entries that aren't to be held, or have no content, don't
		// matter.
		return a.Reason == b.Reason && !a.Reason.Unheld()
	}
	same := (*tree.Attr).Equal
	if c.Scope.PresentTime && a.Kind == tree.File {
		same = sameButTime
	}
	return same(&a.Attr, &b.Attr) && c.sameContent(a, b)
}

func sameButTime(a, b *tree.Attr) bool {
	x := *a
	x.Mtime = b.Mtime
	return x.Equal(b)
}

// sameContent compares files or symlinks, a of the tree and b of the target.
func (c *Comparison) sameContent(a, b *tree.Entry) bool {
	if a.Kind != b.Kind || a.Size != b.Size || a.Parts != b.Parts || a.Target != b.Target {
		return false
	}
	if a.Content.Hash == b.Content.Hash {
		return true
	}
	now, ok := c.Now.(parter)
	if !ok || !a.Parts {
		return false
	}
	// Lists include the places of parts, and equal parts may be in different places.
	x, errX := now.Parts(a.Content)
	y, errY := c.Content.Records.Parts(b.Content)
	return errX == nil && errY == nil && slices.EqualFunc(x, y, band.Part.Same)
}
