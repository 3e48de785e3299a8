package record

import (
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

const (
	// mostFormer is the maximum number of undone commits that are compared with a commit, the newest
	// first, and mostCompared that of their files.
	mostFormer, mostCompared = 20, 100
	// largestCompared is the maximum size of a file whose lines are compared.
	largestCompared = 4 << 20
)

// Continuation is a commit outside HEAD's history some of whose work is committed again.
type Continuation struct {
	tracking.Link

	// Whole reports that no work of the commit is left to be committed.
	Whole bool
	// Covered are the files in which the new commit has nothing but the work of the old one, sorted.
	Covered []string
}

// Continued returns the commits outside HEAD's history whose work is being committed again, oldest
// first, of those with links in this worktree and of picked, the commits that a stopped rebase has
// picked. A file continues one if it is unchanged, if both create it and the new one has enough of
// its lines for a share, or, if a reset or a rebase has undone the commit, with any of its lines.
func Continued(ctx context.Context, w *workspace.Workspace, head git.OID, staged tracking.CommitChanges, picked []tracking.Link) []Continuation {
	var list []tracking.Link
	for _, l := range tracking.Links(w) {
		isStaged := func(path string) bool { _, ok := staged[path]; return ok }
		if l.Worktree == w.Repo.WorktreeID && l.Commit != head && slices.ContainsFunc(slices.Collect(maps.Keys(l.Blobs)), isStaged) {
			list = append(list, l)
		}
	}
	for _, l := range picked {
		isKnown := func(o tracking.Link) bool { return o.ID == l.ID && o.Commit == l.Commit }
		if l.Commit != head && !slices.ContainsFunc(list, isKnown) {
			list = append(list, l)
		}
	}
	list = list[max(0, len(list)-mostFormer):]
	if len(list) == 0 {
		return nil
	}
	if head != "" {
		commits := make([]git.OID, len(list))
		for i, l := range list {
			commits[i] = l.Commit
		}
		outside, err := git.Unreachable(ctx, w.Repo, head, commits)
		if err != nil {
			w.Log.WarnContext(ctx, "history not read, no older link is kept", "error", err.Error())
		}
		list = slices.DeleteFunc(list, func(l tracking.Link) bool { return !slices.Contains(outside, l.Commit) })
	}
	var found []Continuation
	u := &undone{w: w, picked: picked}
	for _, l := range list {
		f, err := authorship.ReadFormer(ctx, w, l)
		if err != nil {
			w.Log.WarnContext(ctx, "an older commit not compared", "commit", l.Commit.Short(), "error", err.Error())
			continue
		}
		if c, ok := u.compare(ctx, f, staged); ok {
			found = append(found, c)
		}
	}
	return found
}

// undone compares commits with a commit that continues them.
type undone struct {
	w        *workspace.Workspace
	picked   []tracking.Link
	compared int
	resets   map[git.OID]bool // commits that resets have undone, nil until needed
}

// compare reports whether a commit is continued.
func (u *undone) compare(ctx context.Context, f *authorship.Former, staged tracking.CommitChanges) (c Continuation, ok bool) { //nolint:gocognit // one pass over the files
	c = Continuation{Link: f.Link, Whole: f.Link.Blobs != nil}
	paths := make([]string, 0, len(staged))
	for path := range staged {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		blob, changed := f.Blob(ctx, path)
		if !changed {
			continue
		}
		change := staged[path]
		if change.New == blob || blob == tracking.GoneBlob {
			if blob == tracking.GoneBlob && change.NewMode != 0 {
				continue
			}
			ok, c.Covered = true, append(c.Covered, path)
			continue
		}
		base := change.Old
		if change.OldMode == 0 {
			base = tracking.GoneBlob
		}
		if u.compared++; u.compared > mostCompared || !workspace.IsBlob(change.NewMode) || change.OldMode != 0 && !u.isUndone(ctx, f.Link) {
			c.Whole = false
			continue
		}
		object, err := u.w.Repo.ReadWithin(ctx, string(change.New), largestCompared)
		if err != nil {
			c.Whole = false
			continue
		}
		share, known := f.Share(ctx, path, base, object.Data)
		if !known || !share.Counts() && (change.OldMode == 0 || share.Kept == 0 && (share.Added > 0 || share.Removed == 0)) {
			continue
		}
		ok = true
		if share.Kept == share.Added {
			c.Covered = append(c.Covered, path)
		}
		// Lines that only the worktree has may be committed next.
		left, err := disk.ReadFile(filepath.Join(u.w.Repo.Root, filepath.FromSlash(path)))
		if rest, known := f.Share(ctx, path, base, left); err == nil && known && rest.Kept > share.Kept {
			c.Whole = false
		}
	}
	if !ok {
		return c, false
	}
	for _, path := range f.Paths() {
		if _, isStaged := staged[path]; !isStaged && u.w.HasFile(path) {
			c.Whole = false // it is committed already, or left for another commit
		}
	}
	return c, true
}

// isUndone reports whether a reset or the rebase in progress has taken a commit out of HEAD's
// history. A commit that is only on another branch has not been undone.
func (u *undone) isUndone(ctx context.Context, l tracking.Link) bool {
	if slices.ContainsFunc(u.picked, func(p tracking.Link) bool { return p.Commit == l.Commit }) {
		return true
	}
	if u.resets == nil {
		u.resets = map[git.OID]bool{}
		for _, tip := range formerTips(u.w) {
			const most = 50
			for n, next := 0, tip; n < most && next != "" && !u.resets[next]; n++ {
				u.resets[next] = true
				commit, err := u.w.Repo.Commit(ctx, string(next))
				if err != nil || len(commit.Parents) == 0 {
					break
				}
				next = commit.Parents[0]
			}
		}
	}
	return u.resets[l.Commit]
}

// formerTips returns the commits that HEAD left by the last resets, according to its reflog, and by
// the rebase in progress.
func formerTips(w *workspace.Workspace) []git.OID {
	const end = 64 << 10 // number of bytes at the end of the reflog
	const most = 20
	var tips []git.OID
	for _, name := range []string{"rebase-merge/orig-head", "rebase-apply/orig-head", "ORIG_HEAD"} {
		data, err := disk.ReadFile(filepath.Join(w.Repo.GitDir, filepath.FromSlash(name)))
		if oid := git.OID(strings.TrimSpace(string(data))); err == nil && w.Repo.Format.Valid(oid) {
			tips = append(tips, oid)
		}
	}
	log, err := os.Open(filepath.Join(w.Repo.GitDir, "logs", "HEAD"))
	if err != nil {
		return tips // refs may not be in files
	}
	defer func() { _ = log.Close() }() // it was only read
	size, err := log.Seek(0, io.SeekEnd)
	data := make([]byte, min(size, end))
	if _, readErr := log.ReadAt(data, size-int64(len(data))); err != nil || readErr != nil {
		return tips
	}
	lines := strings.Split(string(data), "\n")
	for _, line := range slices.Backward(lines) {
		entry, action, _ := strings.Cut(line, "\t")
		if words := strings.Fields(entry); len(words) > 1 && strings.HasPrefix(action, "reset:") && w.Repo.Format.Valid(git.OID(words[0])) {
			if tips = append(tips, git.OID(words[0])); len(tips) == most {
				break
			}
		}
	}
	return tips
}
