package restore

import (
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
)

// parter is a band.Loader that can load the parts of files.
type parter interface {
	Parts(ref band.Ref) ([]band.Part, error)
}

// comparison compares a tree with the wanted one, within a scope.
type comparison struct {
	Now, Want band.Loader
	Content   *bands.ContentReader // of the target
	Scope     *Selection
}

// same reports whether a path needs no step, hard links aside.
func (c *comparison) same(a, b *band.Entry) bool {
	switch {
	case a == nil || b == nil || a.Kind != b.Kind:
		return false
	case a.Kind == band.Dir:
		return a.Content.Hash == b.Content.Hash
	case a.Kind == band.Unknown:
		// Unheld entries may differ. Entries that aren't to be held, or have no content, don't
		// matter.
		return a.Reason == b.Reason && !a.Reason.Unheld()
	}
	same := (*band.Attr).Equal
	if c.Scope.PresentTime && a.Kind == band.File {
		same = sameButTime
	}
	return same(&a.Attr, &b.Attr) && c.sameContent(a, b)
}

func sameButTime(a, b *band.Attr) bool {
	x := *a
	x.Mtime = b.Mtime
	return x.Equal(b)
}

// sameContent compares files or symlinks, a of the tree and b of the target.
func (c *comparison) sameContent(a, b *band.Entry) bool {
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
