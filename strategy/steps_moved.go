package strategy

import (
	"context"
	"maps"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// splitMoved finds among the files that a turn found when it began those that are
// pending under another name, which somebody moved. What the session had made of
// them becomes a step of its own before what persons made of them, and they are
// pending under their new names only. tree is that of HEAD.
func (r *Recorder) splitMoved(ctx context.Context, s *session.State, n *notes, before step, tree git.OID) (moved, rest step) {
	moved, rest = before, before
	moved.By, moved.Raw, moved.Paths, moved.Blobs = byAgent, false, nil, nil
	rest.Paths, rest.Blobs = nil, nil
	var sources []source
	if len(before.Paths) > 0 {
		sources = r.movedAway(ctx, s, n, tree)
	}
	for i, p := range before.Paths {
		from, ok := r.movedFrom(ctx, before.Blobs[i], sources)
		if ok {
			moved.add(p, from.left)
			s.Rename(from.path, p)
		}
		if !ok || from.left != before.Blobs[i] {
			rest.add(p, before.Blobs[i])
		}
	}
	return moved, rest
}

// movedAway are the files of which the session has steps that are neither in the
// worktree nor in HEAD, as the session left them. The stop may have taken one for
// a file that the turn removed: it is no longer pending then.
func (r *Recorder) movedAway(ctx context.Context, s *session.State, n *notes, tree git.OID) []source {
	steps := r.readSteps(ctx, s, n)
	empty := r.Repo.HashBlob(nil)
	wrote := map[string]git.OID{}
	for _, step := range steps {
		for i, p := range step.Paths {
			if step.By == byAgent {
				wrote[p] = step.Blobs[i]
			}
		}
	}
	var sources []source
	for _, p := range slices.Sorted(maps.Keys(wrote)) {
		left := wrote[p]
		if left == goneBlob || left == unknownBlob || left == empty || r.inTree(p) {
			continue
		}
		if _, tracked, err := r.lookup(ctx, tree, p); err == nil && !tracked {
			sources = append(sources, source{path: p, left: left, gone: true})
		}
	}
	return sources[:min(len(sources), mostRenames)]
}

// movedFrom returns the source that has the content, or else the one that at
// least half of its lines are in.
func (r *Recorder) movedFrom(ctx context.Context, blob git.OID, sources []source) (source, bool) {
	if i := slices.IndexFunc(sources, func(from source) bool { return from.left == blob }); i >= 0 {
		return sources[i], true
	}
	lines := r.linesOf(ctx, blob)
	total := common(lines, lines)
	best, most := -1, 0
	for i := range sources {
		from := &sources[i]
		if from.lines == nil {
			from.lines = r.linesOf(ctx, from.left)
		}
		if n := common(lines, from.lines); n > most {
			best, most = i, n
		}
	}
	const half = 2
	if best < 0 || half*most < total {
		return source{}, false
	}
	return sources[best], true
}

// linesOf counts the lines of a small file; one that can't be read has none.
func (r *Recorder) linesOf(ctx context.Context, blob git.OID) map[string]int {
	if blob == goneBlob || blob == unknownBlob {
		return map[string]int{}
	}
	object, err := r.Repo.ReadWithin(ctx, string(blob), largestBefore)
	if err != nil || opaque(object.Data) {
		return map[string]int{}
	}
	return countLines(object.Data)
}
