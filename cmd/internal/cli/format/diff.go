package format

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// DiffJSON is the JSON of a file that differs.
type DiffJSON struct {
	Path     string `json:"path"`
	Bytes    []byte `json:"path_bytes,omitempty"`
	OldPath  string `json:"old_path,omitempty"`
	OldBytes []byte `json:"old_path_bytes,omitempty"`
	Kind     string `json:"kind"`
	// Added and Removed are absent if lines aren't counted.
	Added   *int `json:"added,omitempty"`
	Removed *int `json:"removed,omitempty"`
	Binary  bool `json:"binary,omitempty"`
}

// NewDiffJSON returns the JSON of files that differ.
func NewDiffJSON(files []diff.File) []DiffJSON {
	list := make([]DiffJSON, 0, len(files))
	for i := range files {
		d := &files[i]
		one := DiffJSON{
			Path: d.Path, Bytes: PathBytes(d.Path), OldPath: d.OldPath, OldBytes: PathBytes(d.OldPath),
			Kind: string(d.Kind), Binary: d.Binary,
		}
		if d.Counted {
			one.Added, one.Removed = &d.Added, &d.Removed
		}
		list = append(list, one)
	}
	return list
}

// diffWord returns the name of a kind of difference, its color, and its rank in the list.
func diffWord(kind diff.Kind) (word string, style ui.Style, rank int) {
	switch kind {
	case diff.Modified, diff.Retyped, diff.Attributes:
		return "Modified:", ui.Yellow, 0
	case diff.Renamed:
		return "Renamed:", ui.Yellow, 1
	case diff.Added:
		return "Added:", ui.Green, 2
	default:
		return "Deleted:", ui.Red, 3
	}
}

// Diff lists the modified, renamed, added and deleted files, in this order.
func Diff(s ui.Streams, files []diff.File) {
	slices.SortStableFunc(files, func(a, b diff.File) int {
		_, _, first := diffWord(a.Kind)
		_, _, second := diffWord(b.Kind)
		return cmp.Compare(first, second)
	})
	for _, d := range files {
		word, style, _ := diffWord(d.Kind)
		path := Path(d.Path)
		if d.Kind == diff.Renamed {
			path = Path(d.OldPath) + " -> " + path
		}
		changed := "" // for a file that exists on both sides
		switch {
		case d.Kind == diff.Added || d.Kind == diff.Deleted:
		case d.Kind == diff.Attributes:
			changed = " (mode)"
		case d.Kind == diff.Retyped:
			changed = " (type)"
		case d.Binary:
			changed = " (binary)"
		case !d.Counted, d.Kind == diff.Renamed && d.Added+d.Removed == 0:
		default:
			changed = fmt.Sprintf(" (+%d -%d)", d.Added, d.Removed)
		}
		s.Printf("%s %s%s\n", s.Paint(style, fmt.Sprintf("%-9s", word)), path, changed)
	}
	if len(files) == 0 {
		s.Notef("No changes.")
	}
}
