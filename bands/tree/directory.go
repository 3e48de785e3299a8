package tree

import (
	"slices"
	"strings"
)

// validName reports whether a name can be in a directory.
func validName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}

// Find is the place of the name among the entries, or where it would be.
func (d *Directory) Find(name string) (int, bool) {
	return find(d.Entries, name)
}

// OwnBands are the bands that the entries themselves name, ascending. Those
// below and those that lists of parts name are not among them.
func (d *Directory) OwnBands() []uint32 {
	var bands []uint32
	for i := range d.Entries {
		c := &d.Entries[i].Content
		if !c.IsZero() && (len(bands) == 0 || bands[len(bands)-1] != c.Band) {
			bands = append(bands, c.Band)
		}
	}
	return sorted(bands)
}

// Merge is the union of ascending bands, ascending.
func Merge(bands ...[]uint32) []uint32 { return sorted(slices.Concat(bands...)) }

func sorted(bands []uint32) []uint32 {
	slices.Sort(bands)
	return slices.Compact(bands)
}

// Add counts in what o counts.
func (t *Totals) Add(o Totals) {
	t.Files += o.Files
	t.Dirs += o.Dirs
	t.Unknown += o.Unknown
	t.Bytes += o.Bytes
}
