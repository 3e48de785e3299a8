package diff

import (
	"errors"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/linediff"
)

// similarFiles is the maximum number of pairs of files with the same name that are checked for
// similarity.
const similarFiles = 500

// findRenames joins a deleted and an added file with the same content, or with the same name and
// at least half of their lines in common.
func findRenames(old, now Side, list []File) ([]File, error) {
	joined := make([]bool, len(list))                           // deleted files that were renamed
	byHash, byName := map[band.Hash][]int{}, map[string][]int{} // deleted files
	for i := range list {
		if d := &list[i]; d.Kind == Deleted && d.old.Kind == band.File && d.old.Size > 0 {
			byHash[d.old.Content.Hash] = append(byHash[d.old.Content.Hash], i)
			byName[band.BasePath(d.Path)] = append(byName[band.BasePath(d.Path)], i)
		}
	}
	if len(byHash) == 0 {
		return list, nil
	}
	tries := similarFiles
	for i := range list {
		d := &list[i]
		if d.Kind != Added || d.now.Kind != band.File || d.now.Size == 0 {
			continue
		}
		from := best(byHash[d.now.Content.Hash], list, joined, band.BasePath(d.Path))
		if from < 0 && tries > 0 {
			var err error
			if from, err = similar(old, now, list, joined, d, byName[band.BasePath(d.Path)], &tries); err != nil {
				return nil, err
			}
		}
		if from >= 0 {
			joined[from] = true
			d.Kind, d.OldPath, d.old = Renamed, list[from].Path, list[from].old
		}
	}
	kept := list[:0]
	for i := range list {
		if !joined[i] {
			kept = append(kept, list[i])
		}
	}
	return kept, nil
}

// best returns an unused file, if possible with the same name; -1 if there is none.
func best(from []int, list []File, joined []bool, name string) int {
	found := -1
	for _, i := range from {
		switch {
		case joined[i]:
		case band.BasePath(list[i].Path) == name:
			return i
		case found < 0:
			found = i
		}
	}
	return found
}

// similar returns the first of the files that shares half of its lines with d; -1 if none.
func similar(old, now Side, list []File, joined []bool, d *File, from []int, tries *int) (int, error) {
	for _, i := range from {
		if joined[i] || *tries == 0 {
			continue
		}
		*tries--
		trial := File{Path: d.Path, OldPath: list[i].Path, old: list[i].old, now: d.now}
		a, b, ok, err := trial.texts(old, now)
		if err != nil && !errors.Is(err, capture.ErrMoved) {
			return -1, err
		}
		if err != nil || !ok {
			continue
		}
		common, total := 0, 0
		for _, op := range linediff.Compare(a, b, linediff.Thorough) {
			total += op.Lines
			if op.Kind == linediff.Kept {
				common += op.Lines
			}
		}
		// Unchanged lines count twice, once for each file.
		if 2*2*common >= total+common {
			return i, nil
		}
	}
	return -1, nil
}
