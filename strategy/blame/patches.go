package blame

import (
	"bytes"
	"context"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitdiff"
)

// patches reads what commits add to files, each commit once.
type patches struct {
	repo  *git.Repo
	files map[git.OID]map[string]patch // by commit and path
	asked int                          // commits whose diff was read
}

// patch is what a commit adds to a file.
type patch struct {
	id    string
	added checkpoint.LineRanges
}

// of returns what a commit adds to the group's file; false if that isn't known.
func (ps *patches) of(ctx context.Context, c git.Commit, g *group) (patch, bool, error) {
	files, known := ps.files[g.commit]
	if !known {
		files = ps.read(ctx, c, g.commit)
		if ps.files == nil {
			ps.files = map[git.OID]map[string]patch{}
		}
		ps.files[g.commit] = files
	}
	p, ok := files[g.path]
	return p, ok, ctx.Err()
}

// read reads what a commit adds to each file; nothing where that can't be read, or of
// too many commits.
func (ps *patches) read(ctx context.Context, c git.Commit, commit git.OID) map[string]patch {
	files := map[string]patch{}
	if ps.asked++; ps.asked > mostPatches {
		return files
	}
	var parent git.OID
	if len(c.Parents) > 0 {
		parent = c.Parents[0]
	}
	diffs, err := gitdiff.Hunks(ctx, ps.repo, parent, commit, maxPatch)
	if err != nil {
		return files
	}
	for _, d := range diffs {
		if p, ok := ps.file(ctx, d); ok {
			files[d.Path] = p
		}
	}
	return files
}

func (ps *patches) file(ctx context.Context, d gitdiff.FileDiff) (patch, bool) {
	const largest = 4 << 20
	if d.Binary || d.Added == 0 {
		return patch{}, false
	}
	object, err := ps.repo.ReadWithin(ctx, string(d.New), largest)
	if err != nil {
		return patch{}, false
	}
	texts := bytes.SplitAfter(object.Data, []byte{'\n'})
	var p patch
	var added [][]byte
	for _, h := range d.Hunks {
		for line := h.New; line < h.New+h.NewLines && line <= len(texts); line++ {
			p.added = p.added.With(line)
			added = append(added, texts[line-1])
		}
	}
	p.id = checkpoint.PatchID(added)
	return p, true
}
