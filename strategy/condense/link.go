package condense

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitdiff"
	"github.com/seed-3aff656d/entire/internal/git/gitlog"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/journal"
	"github.com/seed-3aff656d/entire/strategy/provenance"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// IsTakenBack returns the links of commits that are no longer in HEAD's history and whose content
// is being committed again: an unchanged file, or a file that they created with enough of its lines
// for a share.
func (sh *Sharer) IsTakenBack(ctx context.Context, head git.OID, staged map[string]gitdiff.Change) []journal.Link {
	same := slices.DeleteFunc(sh.links.All(), func(l journal.Link) bool {
		return l.Worktree != sh.Repo.WorktreeID || l.Commit == head || !sharesBlob(l, staged) && len(createdAgain(l, staged)) == 0
	})
	if len(same) == 0 {
		return nil
	}
	if head != "" {
		commits := make([]git.OID, len(same))
		for i, l := range same {
			commits[i] = l.Commit
		}
		outside, err := gitlog.Unreachable(ctx, sh.Repo, head, commits)
		if err != nil {
			sh.Log.WarnContext(ctx, "history not read, no older link is kept", "error", err.Error())
		}
		same = slices.DeleteFunc(same, func(l journal.Link) bool { return !slices.Contains(outside, l.Commit) })
	}
	return slices.DeleteFunc(same, func(l journal.Link) bool { return !sharesBlob(l, staged) && !sh.sharesLines(ctx, l, staged) })
}

// createdAgain returns the files of a link that are created with other content.
func createdAgain(l journal.Link, staged map[string]gitdiff.Change) []string {
	var paths []string
	for path, oid := range l.Blobs {
		if c, ok := staged[path]; ok && c.OldMode == 0 && c.New != oid && workspace.IsBlob(c.NewMode) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// sharesLines reports whether a created file has enough of the lines that the linked commit had in
// it.
func (sh *Sharer) sharesLines(ctx context.Context, l journal.Link, staged map[string]gitdiff.Change) bool {
	files := sh.authors.Created(staged, nil)
	s := &session.State{ID: string(l.ID)} // represents the author of the commit
	for _, path := range createdAgain(l, staged) {
		before := []provenance.AuthoredStep{{By: s.ID, Blob: l.Blobs[path]}}
		share, ok, err := files.Compare(ctx, s, authorship.Comparison{Final: staged[path].New, Base: provenance.GoneBlob, Steps: before})
		if err != nil {
			sh.Log.WarnContext(ctx, "file not compared with an older commit's", "error", err.Error())
		}
		if ok && share.Counts() {
			return true
		}
	}
	return false
}

func sharesBlob(l journal.Link, staged map[string]gitdiff.Change) bool {
	for path, oid := range l.Blobs {
		if c, ok := staged[path]; ok && c.New == oid && oid != "" {
			return true
		}
	}
	return false
}
