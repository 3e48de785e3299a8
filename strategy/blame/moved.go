package blame

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/linediff"
	"github.com/seed-3aff656d/entire/strategy/attribution"
)

// mostOrigins is the maximum number of files of records that are compared.
const mostOrigins = 1000

// recordedLine is a line of a record, by its number.
type recordedLine struct {
	*recordedFile

	line int
}

// recordedFile is the record of a file, with the commit's file of the same name.
type recordedFile struct {
	source

	now git.OID // the commit's file, empty if it has none
}

// followMoves corrects the authors of remaining lines that one of the folded commits moved from a
// file of a record: they belong to the writer there, or are unknown if several records have them.
// If the commit has the record's version of the file, the record already accounts for moves.
func (at *attributing) followMoves(ctx context.Context) error {
	files, err := at.recordedFiles(ctx)
	if err != nil {
		return err
	}
	gone, err := at.goneLines(ctx)
	if err != nil {
		return err
	}
	for _, r := range at.rest {
		for l := range r.rest {
			if gone[r.commit][attribution.Form([]byte(l.Text))] {
				l.Author = at.author(Author{Kind: Unknown, Commit: l.Commit, Basis: Unsure})
			}
		}
		removed := at.removedLines(files[r.commit])
		var block []*Line
		var origins [][]recordedLine
		for _, l := range r.lines {
			if !r.rest[l] {
				continue
			}
			from := removed[attribution.Form([]byte(l.Text))]
			if n := len(block); n > 0 && (len(from) == 0 || block[n-1].Orig+1 != l.Orig) {
				at.moveBlock(block, origins)
				block, origins = nil, nil
			}
			if len(from) > 0 {
				block, origins = append(block, l), append(origins, from)
			}
		}
		at.moveBlock(block, origins)
	}
	return nil
}

// goneLines returns, by commit, the long lines of files that the commits remove. Such a line was
// moved, together with too little for git to follow it, so that git's commit for it isn't the one
// that added it.
func (at *attributing) goneLines(ctx context.Context) (map[git.OID]map[string]bool, error) {
	files := map[git.OID][]git.OID{}
	var wanted []git.OID
	for _, r := range at.rest {
		c := at.commits[r.commit]
		if _, known := files[r.commit]; known || len(c.Parents) == 0 || len(files) == mostPatches {
			continue
		}
		files[r.commit] = nil
		changes, err := git.Changes(ctx, at.Repo, c.Parents[0], r.commit)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			continue // the parent isn't here
		}
		for _, change := range changes {
			if change.NewMode == 0 && len(wanted) < mostOrigins {
				files[r.commit], wanted = append(files[r.commit], change.Old), append(wanted, change.Old)
			}
		}
	}
	gone := map[git.OID]map[string]bool{}
	if len(wanted) == 0 {
		return gone, nil
	}
	if err := at.readContents(ctx, wanted); err != nil {
		return nil, err
	}
	for commit, blobs := range files {
		gone[commit] = map[string]bool{}
		for _, blob := range blobs {
			for line := range bytes.Lines(at.blobs[blob]) {
				if text := string(bytes.TrimSpace(line)); linediff.Letters(text) >= linediff.LeastMoved {
					gone[commit][attribution.Form(line)] = true
				}
			}
		}
	}
	return gone, nil
}

// recordedFiles finds, by commit, the files with a record in its checkpoints that the commit has in
// another version, and reads both versions.
func (at *attributing) recordedFiles(ctx context.Context) (map[git.OID][]*recordedFile, error) {
	files := map[git.OID][]*recordedFile{}
	var order []*recordedFile
	var names []string
	for _, r := range at.rest {
		if files[r.commit] != nil {
			continue
		}
		for _, id := range r.ids {
			for i := range at.records[id].slots {
				s := &at.records[id].slots[i]
				for _, name := range slices.Sorted(maps.Keys(s.files)) {
					f := s.files[name]
					if len(order) == mostOrigins || len(f.own)+len(f.unsure) == 0 {
						continue
					}
					one := &recordedFile{source: source{id: id, slot: s, file: f}}
					files[r.commit], order = append(files[r.commit], one), append(order, one)
					names = append(names, string(r.commit)+":"+name)
				}
			}
		}
	}
	oids, err := git.ResolveNames(ctx, at.Repo, names)
	if err != nil {
		return nil, err
	}
	var wanted []git.OID
	for i, f := range order {
		f.now = oids[i]
	}
	for commit := range files {
		files[commit] = slices.DeleteFunc(files[commit], func(f *recordedFile) bool { return f.file.Blob == f.now })
		for _, f := range files[commit] {
			wanted = append(wanted, f.file.Blob, f.now)
		}
	}
	return files, at.readContents(ctx, wanted)
}

// removedLines returns the significant lines of sessions in records that the commit's files of the
// same names lack, by their texts.
func (at *attributing) removedLines(files []*recordedFile) map[string][]recordedLine {
	removed := map[string][]recordedLine{}
	for _, f := range files {
		if at.blobs[f.now] == nil && f.now != "" {
			continue // too large or missing
		}
		left := map[string]bool{}
		for line := range bytes.Lines(at.blobs[f.now]) {
			left[attribution.Form(line)] = true
		}
		number := 0
		for line := range bytes.Lines(at.blobs[f.file.Blob]) {
			number++
			text := bytes.TrimSpace(line)
			if (f.file.own.Has(number) || f.file.unsure.Has(number)) && attribution.Significant(text) && !left[attribution.Form(text)] {
				removed[attribution.Form(text)] = append(removed[attribution.Form(text)], recordedLine{f, number})
			}
		}
	}
	return removed
}

// moveBlock assigns the lines of a block, each of which has origins, to the writers of the origins.
func (at *attributing) moveBlock(block []*Line, origins [][]recordedLine) {
	size := 0
	for _, l := range block {
		size += linediff.Letters(l.Text)
	}
	if size < linediff.LeastMoved {
		return
	}
	for i, l := range block {
		author := Author{Kind: Unknown, Commit: l.Commit, Basis: Unsure}
		if from := origins[i][0]; len(origins[i]) == 1 && !from.file.Estimated && !from.file.unsure.Has(from.line) {
			author = from.slot.writer(from.file, from.line, Author{Commit: l.Commit, Checkpoint: from.id})
		}
		l.Author = at.author(author)
	}
}
