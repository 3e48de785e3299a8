package blame

import (
	"bytes"
	"context"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/query"
)

// patches reads the lines that commits add to files, once for each commit.
type patches struct {
	repo  *git.Repo
	files map[git.OID]map[string]patch // by commit and path
	asked int                          // number of commits whose diff was read
}

// patch holds the lines that a commit adds to a file.
type patch struct {
	id    string
	added checkpoint.LineRanges
	lines []attribution.PrintedLine
	// was is the former file, oldPath its path; both are empty if the commit creates the file.
	was     git.OID
	oldPath string
}

// of returns the lines that a commit adds to the group's file. It returns false if they aren't
// known: the diff can't be read, or the diffs of too many commits were read.
func (ps *patches) of(ctx context.Context, c git.Commit, g *group) (patch, bool, error) {
	if files, known := ps.files[g.commit]; known {
		p, ok := files[g.path]
		return p, ok, ctx.Err()
	}
	if ps.files == nil {
		ps.files = map[git.OID]map[string]patch{}
	}
	files := map[string]patch{}
	ps.files[g.commit] = files
	var parent git.OID
	if len(c.Parents) > 0 {
		parent = c.Parents[0]
	}
	var diffs []git.FileDiff
	if ps.asked++; ps.asked <= mostPatches {
		if read, err := git.Hunks(ctx, ps.repo, parent, g.commit, maxPatch); err == nil {
			diffs = read
		}
	}
	const largest = 4 << 20
	for _, d := range diffs {
		if d.Binary || d.Added == 0 {
			continue
		}
		object, err := ps.repo.ReadWithin(ctx, string(d.New), largest)
		if err != nil {
			continue
		}
		texts := bytes.SplitAfter(object.Data, []byte{'\n'})
		p := patch{was: d.Old, oldPath: d.OldPath}
		var added [][]byte
		for _, h := range d.Hunks {
			for line := h.New; line < h.New+h.NewLines && line <= len(texts); line++ {
				p.added = p.added.With(line)
				p.lines = append(p.lines, query.PrintedLine(line, string(texts[line-1])))
				added = append(added, texts[line-1])
			}
		}
		p.id = checkpoint.PatchID(added)
		files[d.Path] = p
	}
	p, ok := files[g.path]
	return p, ok, ctx.Err()
}
