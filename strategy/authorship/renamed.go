package authorship

import (
	"cmp"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// AddRenamed adds to the share the files that the commit creates under a name unknown to the
// session, if they are pending under another name: with the same content, or by their lines. If the
// old file no longer exists, the file was renamed and is judged as if it had kept its name. Of a
// copy or a part that was split off, the session must have written at least half of the lines.
func (c *Created) AddRenamed(ctx context.Context, s *session.State, share *tracking.Share) error {
	var unknown []string // names unknown to all sessions
	for p, change := range c.Changes {
		isPending := func(s *session.State) bool { return workspace.ContainsPath(s.FilesTouched, p) }
		if change.OldMode == 0 && workspace.IsBlob(change.NewMode) &&
			!slices.ContainsFunc(c.states, isPending) {
			unknown = append(unknown, p)
		}
	}
	slices.Sort(unknown)
	if len(unknown) == 0 || len(s.FilesTouched) == 0 {
		return nil
	}
	sources, err := c.sources(ctx, s)
	if err != nil || len(sources) == 0 {
		return err
	}
	same := make(map[git.OID]string, len(sources))
	for _, from := range slices.Backward(sources) { // the first one counts
		same[from.Left] = from.Path
	}
	var found []tracking.CommitRename
	var rest []string
	for _, p := range unknown {
		if from, ok := same[c.Changes[p].New]; ok {
			found = append(found, tracking.CommitRename{From: session.Path(from), To: session.Path(p)})
		} else {
			rest = append(rest, p)
		}
	}
	similar, err := c.similar(ctx, s, rest, sources)
	found = append(found, similar...)
	for _, m := range found {
		if !slices.Contains(share.Files, string(m.To)) { // a command of the running turn names it
			share.Files = append(share.Files, string(m.To))
		}
	}
	share.Renamed = found
	slices.Sort(share.Files)
	slices.SortFunc(share.Renamed, func(a, b tracking.CommitRename) int { return cmp.Compare(a.To, b.To) })
	return err
}

// similar finds the files that have the most lines of a source and are therefore the session's
// share.
func (c *Created) similar(ctx context.Context, s *session.State, paths []string, sources []tracking.LineSource) ([]tracking.CommitRename, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	read := func(blob git.OID) ([]byte, error) { return c.read(ctx, blob) }
	lines, err := tracking.NewSourceLines(sources[:min(len(sources), tracking.MostRenames)], read)
	if err != nil {
		return nil, err
	}
	var found []tracking.CommitRename
	for _, p := range paths[:min(len(paths), tracking.MostRenames)] {
		content, err := c.read(ctx, c.Changes[p].New)
		if failed := tracking.IgnoreUncomparable(err); failed != nil {
			return found, failed
		}
		if err != nil || workspace.IsOpaque(content) {
			continue
		}
		from, ok := lines.Closest(content, path.Base(p))
		if !ok {
			continue
		}
		share, ok, err := c.Compare(ctx, s, Comparison{c.Changes[p].New, from.Base, c.History(ctx, s, from.Path, from.Left)})
		if err != nil {
			return found, err
		}
		if ok && share.Counts() && (from.Gone || share.IsCopy()) {
			found = append(found, tracking.CommitRename{From: session.Path(from.Path), To: session.Path(p)})
		}
	}
	return found, nil
}

// sources returns the session's pending files that are not in the parent, and those that the commit
// removes. Files that no longer exist come first.
func (c *Created) sources(ctx context.Context, s *session.State) ([]tracking.LineSource, error) {
	head, _, err := c.w.Head(ctx)
	if err != nil {
		return nil, err
	}
	empty := c.w.Repo.Format.HashBlob(nil)
	var sources []tracking.LineSource
	for _, p := range s.FilesTouched {
		from := tracking.LineSource{Path: p}
		var found bool
		if from.Left, found, err = c.left(ctx, s, p); err != nil {
			return nil, err
		}
		if !found || from.Left == empty {
			continue
		}
		change, committed := c.Changes[p]
		switch {
		case committed && change.NewMode == 0:
			from.Base = change.Old
		case committed && change.OldMode != 0:
			continue
		case !committed:
			if _, tracked, err := c.w.Lookup(ctx, head.Tree, p); err != nil || tracked {
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		_, err := os.Lstat(filepath.Join(c.w.Repo.Root, filepath.FromSlash(p)))
		from.Gone = err != nil
		sources = append(sources, from)
	}
	slices.SortStableFunc(sources, func(a, b tracking.LineSource) int {
		switch {
		case a.Gone == b.Gone:
			return 0
		case a.Gone:
			return -1
		}
		return 1
	})
	return sources, nil
}
