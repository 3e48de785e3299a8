package access

import (
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/internal/cli/format"
)

// DiffJSON is a file that differs, in JSON.
type DiffJSON struct {
	Path     string `json:"path"`
	Bytes    []byte `json:"path_bytes,omitempty"`
	OldPath  string `json:"old_path,omitempty"`
	OldBytes []byte `json:"old_path_bytes,omitempty"`
	Kind     string `json:"kind"`
	// Added and Removed are absent where lines aren't counted.
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
			Path: d.Path, Bytes: format.PathBytes(d.Path), OldPath: d.OldPath, OldBytes: format.PathBytes(d.OldPath),
			Kind: string(d.Kind), Binary: d.Binary,
		}
		if d.Counted {
			one.Added, one.Removed = &d.Added, &d.Removed
		}
		list = append(list, one)
	}
	return list
}
