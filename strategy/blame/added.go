package blame

import (
	"context"

	"github.com/seed-3aff656d/entire/internal/git"
)

// AddedFile is a file of a commit, with lines that the commit adds.
type AddedFile struct {
	Commit git.OID
	Path   string
	// Lines have a Text and Orig, the number that the commit's file has for it.
	Lines []Line
}

// Attribute finds the authors of lines that commits add, and sets Author of each: what
// File finds for lines of these commits.
func (r Reader) Attribute(ctx context.Context, files []AddedFile) error {
	at := newAttributing(r, map[git.OID]git.Commit{})
	groups := make([]*group, 0, len(files))
	for i := range files {
		f := &files[i]
		g := &group{groupKey: groupKey{f.Commit, f.Path}}
		for n := range f.Lines {
			l := &f.Lines[n]
			l.Commit, l.Path = f.Commit, f.Path
			g.lines = append(g.lines, l)
		}
		groups = append(groups, g)
	}
	return at.attribute(ctx, groups)
}
