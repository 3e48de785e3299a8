package band

import (
	"slices"
	"strings"
)

// validName reports whether a directory can contain the name.
func validName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}

// Find returns the index of the name among the entries, or where it would be inserted.
func (d *Directory) Find(name string) (int, bool) {
	return find(d.Entries, name)
}

// OwnBands returns the bands that the entries refer to, ascending. It doesn't include those
// referred to by subdirectories and lists of parts.
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

// UnionBands returns the union of lists of bands, ascending.
func UnionBands(bands ...[]uint32) []uint32 { return sorted(slices.Concat(bands...)) }

func sorted(bands []uint32) []uint32 {
	slices.Sort(bands)
	return slices.Compact(bands)
}

// Add adds o to the totals.
func (t *Totals) Add(o Totals) {
	t.Files += o.Files
	t.Dirs += o.Dirs
	t.Unknown += o.Unknown
	t.Bytes += o.Bytes
}
