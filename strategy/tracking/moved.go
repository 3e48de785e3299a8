package tracking

import (
	"context"
	"maps"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// splitMoved finds, among the files that differed when a turn began, those that persons moved
// away from a pending path. Their contents by the session become a step of its own before that
// of the persons, and they are pending under their new names only. tree is that of HEAD.
func splitMoved(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, before Step, tree git.OID) (moved, rest Step) {
	moved, rest = before, before
	moved.By, moved.Raw, moved.Paths, moved.Blobs = byAgent, false, nil, nil
	rest.Paths, rest.Blobs = nil, nil
	if len(before.Paths) == 0 {
		return moved, before
	}
	// The sources are the files with steps of the session that are neither in the worktree nor
	// in HEAD, as the session left them. The stop may have treated one as removed by the turn;
	// it is then no longer pending.
	empty := w.Repo.Format.HashBlob(nil)
	wrote := map[string]git.OID{}
	for _, step := range ReadSteps(ctx, w, s, n) {
		for i, p := range step.Paths {
			if step.By == byAgent {
				wrote[p] = step.Blobs[i]
			}
		}
	}
	var sources []LineSource
	for _, p := range slices.Sorted(maps.Keys(wrote)) {
		left := wrote[p]
		if left == GoneBlob || left == UnknownBlob || left == empty || w.HasFile(p) {
			continue
		}
		if _, tracked, err := w.Lookup(ctx, tree, p); err == nil && !tracked {
			sources = append(sources, LineSource{Path: p, Left: left, Gone: true})
		}
	}
	sources = sources[:min(len(sources), MostRenames)]
	read := func(blob git.OID) ([]byte, error) { return smallBlob(ctx, w, blob) }
	lines, err := NewSourceLines(sources, read)
	if err != nil {
		w.Log.WarnContext(ctx, "moved files not searched for", "session_id", s.ID, "error", err.Error())
		return moved, before
	}
	for i, p := range before.Paths {
		from, ok := movedFrom(ctx, w, before.Blobs[i], lines)
		if ok {
			moved.add(p, from.Left)
			s.Rename(from.Path, p)
		}
		if !ok || from.Left != before.Blobs[i] {
			rest.add(p, before.Blobs[i])
		}
	}
	return moved, rest
}

// movedFrom returns the source with the same content, else the one that contains at least half
// of its lines.
func movedFrom(ctx context.Context, w *workspace.Workspace, blob git.OID, lines *SourceLines) (LineSource, bool) {
	if i := slices.IndexFunc(lines.sources, func(from LineSource) bool { return from.Left == blob }); i >= 0 {
		return lines.sources[i], true
	}
	content, err := smallBlob(ctx, w, blob)
	if err != nil || workspace.IsOpaque(content) {
		return LineSource{}, false
	}
	from, ok := lines.Closest(content, "")
	if !ok {
		return LineSource{}, false
	}
	before, err := smallBlob(ctx, w, from.Left)
	if err != nil {
		return LineSource{}, false
	}
	moved := attribution.File{Final: content, States: []attribution.State{{By: "session", Content: before}}}
	return from, moved.Shares()["session"].IsCopy()
}

// smallBlob returns the content of a blob, nil for GoneBlob.
func smallBlob(ctx context.Context, w *workspace.Workspace, blob git.OID) ([]byte, error) {
	if blob == GoneBlob {
		return nil, nil
	}
	object, err := w.Repo.ReadWithin(ctx, string(blob), largestBefore)
	return object.Data, err
}
