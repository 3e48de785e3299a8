package authorship

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/seed-3aff656d/entire/internal/linediff"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// goneLine is a line that a file of the commit had before.
type goneLine struct {
	attribution.Gone

	path string
	// anyRemover reports that it isn't known who removed it.
	anyRemover bool
}

// followMoves assigns lines that were moved between files of the commit, or from a file that was
// removed before the commit, to their original authors. Git follows only lines of the commit's
// parent. Their authors aren't known here, so these lines are marked as unsure.
func (a *attributing) followMoves(ctx context.Context) {
	gone, added := map[string][]goneLine{}, map[string]int{}
	for _, l := range a.found {
		for _, g := range l.lines.Gone {
			form := attribution.Form([]byte(g.Text))
			gone[form] = append(gone[form], goneLine{Gone: g, path: l.diff.Path})
		}
	}
	isIntermediate := a.addIntermediate(ctx, gone)
	if len(gone) == 0 || len(a.found) < 2 && !isIntermediate { //nolint:mnd // nothing can have been moved
		return
	}
	for _, l := range a.found {
		for _, line := range l.lines.Added {
			if line.Number < len(l.texts) {
				added[attribution.Form(l.texts[line.Number])]++
			}
		}
	}
	for _, l := range a.found {
		var block []int // places in Added
		var from []goneLine
		for i, line := range l.lines.Added {
			if line.Number >= len(l.texts) {
				break
			}
			text := bytes.TrimSpace(l.texts[line.Number])
			if !attribution.Significant(text) {
				continue
			}
			form := attribution.Form(text)
			g, ok := origin(gone[form], line, l.diff.Path)
			ok = ok && added[form] == 1 && g.path != l.diff.Path && line.Call == ""
			if n := len(block); n > 0 && (!ok || g.path != from[n-1].path) {
				a.moveBlock(l, block, from)
				block, from = nil, nil
			}
			if ok {
				block, from = append(block, i), append(from, g)
			}
		}
		a.moveBlock(l, block, from)
	}
}

// addIntermediate adds the lines of files that a session created and that are in neither the
// commit's parent nor the commit: they were renamed or removed before the commit. It reports
// whether there are any.
func (a *attributing) addIntermediate(ctx context.Context, gone map[string][]goneLine) (found bool) {
	if len(a.pending) < 2 || !slices.ContainsFunc(a.found, func(l authoredLines) bool { return a.creates(l.diff.Path) }) { //nolint:mnd // of one session the names are known
		return false
	}
	files, renamed := 0, slices.Collect(maps.Values(a.before)) // their steps are those of files of the commit
	for _, path := range slices.Sorted(maps.Keys(a.steps)) {
		if _, changed := a.changes[path]; changed || slices.Contains(renamed, path) || a.w.HasFile(path) {
			continue
		}
		if _, tracked, err := a.w.Lookup(ctx, a.base.Tree, path); err != nil || tracked {
			continue
		}
		if files++; files > tracking.MostRenames || a.room <= 0 {
			return found
		}
		steps := a.steps.Of(path, "")
		// The removal is a step only of a session that had changed the file before.
		anyRemover := steps[len(steps)-1].Blob != tracking.GoneBlob
		if anyRemover {
			steps = append(steps, tracking.AuthoredStep{Blob: tracking.GoneBlob})
		}
		for _, g := range (attribution.File{States: a.states(ctx, steps, tracking.GoneBlob, nil)}).Attribute().Gone {
			form := attribution.Form([]byte(g.Text))
			gone[form], found = append(gone[form], goneLine{g, path, anyRemover}), true
		}
	}
	return found
}

// trace follows a line back through the files that it was moved between and returns the line of the
// first one. Each move must have one author, who removed the line there and added it to the next
// file. It returns false if there is none.
func trace(gone []goneLine, line attribution.Line) (first goneLine, found bool) {
	by, turn := line.By, line.Turn
	for range gone {
		var from []goneLine
		for _, g := range gone {
			same := func(other attribution.Author, otherTurn string) bool {
				return other == by && (by == attribution.Person || otherTurn == turn)
			}
			if (g.anyRemover || same(g.Remover, g.RemoverTurn)) && (g.Base || !same(g.By, g.Turn)) {
				from = append(from, g)
			}
		}
		if len(from) != 1 {
			break
		}
		first, found = from[0], true
		if first.Base {
			break
		}
		by, turn = first.By, first.Turn
	}
	return first, found
}

// origin returns the line of another file from which a line was moved, or false if there is none.
func origin(gone []goneLine, line attribution.Line, path string) (goneLine, bool) {
	if from, ok := trace(gone, line); ok {
		return from, true
	}
	return ambiguous(gone, line, path)
}

// ambiguous returns a line that another file lost, even if a different author may have removed it: one
// that the commit's parent has, or for a line of a person one that a session wrote there. In between,
// the line may have been in a file that was removed or renamed.
func ambiguous(gone []goneLine, line attribution.Line, path string) (goneLine, bool) {
	isPerson := line.By == attribution.Person
	for _, g := range gone {
		if g.path != path && (g.Base || isPerson && g.By != attribution.Person) {
			return goneLine{Gone: attribution.Gone{Text: g.Text, Base: true}, path: g.path}, true
		}
	}
	return goneLine{}, false
}

// moveBlock assigns the lines of a block to their authors in another file.
func (a *attributing) moveBlock(l authoredLines, block []int, from []goneLine) {
	size := 0
	for _, g := range from {
		size += linediff.Letters(g.Text)
	}
	if size < linediff.LeastMoved {
		return
	}
	for n, i := range block {
		line, g := &l.lines.Added[i], from[n]
		if g.Base || g.By != attribution.Person && !a.isSlot(string(g.By)) {
			line.Origin = attribution.Origin{Unsure: true}
			continue
		}
		line.By, line.Origin = g.By, g.Origin
		if line.From == "" {
			line.From, line.Text = g.path, cmp.Or(line.Text, g.Text)
		}
	}
}
