package authorship

import (
	"bytes"
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/attribution"
)

// ownOfMerge reduces the lines of a merge's diff against its first parent to those that it adds or
// removes against every other parent, too: all others came from those parents.
func (a *attributing) ownOfMerge(ctx context.Context, f git.FileDiff, base []byte, lines attribution.Lines) attribution.Lines {
	for _, other := range a.others {
		i := slices.IndexFunc(other, func(o git.FileDiff) bool { return o.Path == f.Path })
		if i < 0 {
			continue
		}
		o := other[i]
		lines.Added = slices.DeleteFunc(lines.Added, func(l attribution.Line) bool {
			return !slices.ContainsFunc(o.Hunks, func(k git.Hunk) bool {
				return l.Number >= k.New-1 && l.Number < k.New-1+k.NewLines
			})
		})
		content, ok := a.read(ctx, o.Old)
		if !ok {
			continue
		}
		removed := map[string]int{} // the lines that the other diff removes, by their text
		texts := bytes.SplitAfter(content, []byte("\n"))
		for _, k := range o.Hunks {
			for i := range k.OldLines {
				removed[string(texts[k.Old-1+i])]++
			}
		}
		texts = bytes.SplitAfter(base, []byte("\n"))
		lines.Removed = slices.DeleteFunc(lines.Removed, func(l attribution.Line) bool {
			text := string(texts[l.Number])
			removed[text]--
			return removed[text] < 0
		})
	}
	return lines
}
