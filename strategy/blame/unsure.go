package blame

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
)

// unsureIn returns the lines of a path that a note has as unsure.
func unsureIn(note, path string) []file {
	var files []file
	for _, u := range checkpoint.UnsureOf(note) {
		if u.Path == path {
			files = append(files, file{FileAttribution: checkpoint.FileAttribution{Blob: u.Blob}, unsure: u.Lines})
		}
	}
	return files
}

// unsure returns the lines of a commit's file that its note has as unsure, as far as they can be
// followed to the content that the commit has.
func (at *attributing) unsure(ctx context.Context, g *group) ([]source, error) {
	var found []source
	for _, f := range g.unsure {
		lines, applies, err := at.apply(ctx, g, f)
		if err != nil {
			return nil, err
		}
		if applies {
			found = append(found, source{file: f, lines: lines})
		}
	}
	return found, nil
}

// isUnsure reports whether a line of a commit's file is unsure.
func isUnsure(sources []source, number int) bool {
	return slices.ContainsFunc(sources, func(s source) bool { return s.file.unsure.Has(s.line(number)) })
}
