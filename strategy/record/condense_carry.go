package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/attribution"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// FindRemaining returns the pending files that still have something to commit: those that the
// commit doesn't contain, and those that it contains in another form than the session wrote, if the
// worktree differs too or a stash has the rest. (A file that was edited before all of it was
// committed has nothing left.) A pending file that was renamed is returned under its new name.
func FindRemaining(ctx context.Context, w *workspace.Workspace, s *session.State, m authorship.Committed, share tracking.Share) (authorship.Remaining, error) { //nolint:gocognit // one pass over the files
	shadow, err := w.ShadowTree(ctx, s)
	if err == nil && shadow == w.Repo.Format.EmptyTree() {
		// A hook that was stopped before it saved the state has carried the files forward.
		shadow, err = w.BranchTree(ctx, checkpoint.ShadowBranch(m.Commit, w.Repo.WorktreeID))
	}
	if err != nil {
		return authorship.Remaining{}, err
	}
	rest := authorship.Remaining{Entries: map[string]git.TreeEdit{}, Renamed: map[string]git.OID{}}
	wrote := map[string]git.TreeEntry{}
	for _, p := range s.FilesTouched {
		c, committed := m.Changes[p]
		if !committed {
			rest.Paths = append(rest.Paths, p)
			continue
		}
		entry, found, err := w.Lookup(ctx, shadow, share.NameBefore(p))
		if err == nil && !found { // it was carried forward already, see above
			entry, found, err = w.Lookup(ctx, shadow, p)
		}
		if err != nil {
			return authorship.Remaining{}, fmt.Errorf("look up %s: %w", p, err)
		}
		if found && entry.OID != c.New {
			wrote[p] = entry
		}
	}
	differ := slices.Sorted(maps.Keys(wrote))
	var dirty []string // those that differ from HEAD
	if len(differ) > 0 {
		entries, err := git.Status(ctx, w.Repo, differ...)
		if err != nil {
			return authorship.Remaining{}, fmt.Errorf("find what is left of a commit: %w", err)
		}
		for _, e := range entries {
			if e.Worktree != 'D' && e.Index != 'D' {
				dirty = append(dirty, e.Path)
			}
		}
	}
	clean := slices.DeleteFunc(differ, func(p string) bool { return slices.Contains(dirty, p) })
	stashed, err := stashed(ctx, w, s, m, clean, wrote)
	if err != nil {
		return authorship.Remaining{}, err
	}
	rest.Paths = append(rest.Paths, dirty...)
	if rest.Entries, err = w.StoreContents(ctx, rest.Paths); err != nil {
		return authorship.Remaining{}, err
	}
	rest.Paths = slices.DeleteFunc(rest.Paths, func(p string) bool { // a hook's change that the index lacks
		c, committed := m.Changes[p]
		return committed && c.New != "" && c.New == rest.Entries[p].OID
	})
	for _, p := range stashed {
		rest.Paths = append(rest.Paths, p)
		rest.Entries[p] = git.TreeEdit{Path: p, Mode: wrote[p].Mode, OID: wrote[p].OID}
	}
	slices.Sort(rest.Paths)
	for _, p := range s.Recorder.Withheld {
		if c, committed := m.Changes[p]; !committed || c.NewMode != 0 && !slices.Contains(share.Files, p) {
			rest.Withheld = append(rest.Withheld, p)
		}
	}
	for _, p := range clean {
		lacks, err := lacksLines(ctx, w, m.Changes[p].New, wrote[p].OID)
		if err != nil {
			return authorship.Remaining{}, err
		}
		if lacks && !slices.Contains(rest.Paths, p) {
			rest.Withheld = append(rest.Withheld, p)
		}
	}
	for _, p := range rest.Paths {
		if _, ok := share.RenamedFrom(p); ok {
			rest.Renamed[p] = wrote[p].OID
		}
	}
	return rest, nil
}

// lacksLines reports whether a committed blob lacks lines of another one.
func lacksLines(ctx context.Context, w *workspace.Workspace, committed, wrote git.OID) (bool, error) {
	if committed == "" {
		return false, nil
	}
	lines := map[string]int{}
	for _, oid := range []git.OID{committed, wrote} {
		object, err := w.Repo.ReadWithin(ctx, string(oid), largestCompared)
		if err != nil || workspace.IsOpaque(object.Data) {
			return false, tracking.IgnoreUncomparable(err)
		}
		for line := range bytes.Lines(object.Data) {
			if text := bytes.TrimSpace(line); oid == committed {
				lines[string(text)]++
			} else if lines[string(text)]--; lines[string(text)] < 0 && attribution.Significant(text) {
				return true, nil
			}
		}
	}
	return false, nil
}

// carry writes the remaining files to a new shadow branch based on the commit, and removes the old
// branch if only the sessions in leaving need it.
func carry(ctx context.Context, w *workspace.Workspace, refs *workspace.RefTransaction, c authorship.Slot, head git.Commit, leaving []string) error {
	old, next := "", checkpoint.ShadowBranch(head.OID, w.Repo.WorktreeID)
	if base := c.State.BaseCommit; base != "" {
		old = checkpoint.ShadowBranch(git.OID(base), c.State.WorktreeID)
	}
	if len(c.Rest.Paths) > 0 {
		at, err := w.TipOf(ctx, refs, next, head)
		if err != nil {
			return err
		}
		oid, err := checkpoint.WriteCarryForward(ctx, w.Repo, at, workspace.EditsOf(c.Rest.Entries, c.Rest.Paths), checkpoint.Carry{
			Session: c.State.ID, Strategy: w.StrategyName(), When: w.Env.Now(),
		})
		if err != nil {
			return fmt.Errorf("carry forward: %w", err)
		}
		if err := refs.Set(ctx, next, oid); err != nil {
			return err
		}
	}
	if old == "" || old == next || tracking.IsShadowNeeded(w, old, leaving) {
		return nil
	}
	return refs.Set(ctx, old, "")
}

// mostStashes is the maximum number of stashes that are examined, from the newest on.
const mostStashes = 10

// stashed returns those of paths whose uncommitted rest is in a stash: the file exactly as the
// session wrote it, or lines of it that would be a share of the next commit. The commit has these
// files in another form than the session wrote. git stash --keep-index does this to a file that is
// staged in part.
func stashed(ctx context.Context, w *workspace.Workspace, s *session.State, m authorship.Committed, paths []string, wrote map[string]git.TreeEntry) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	stashes, err := stashes(ctx, w)
	if err != nil || len(stashes) == 0 {
		return nil, err
	}
	files := authorship.NewCreated(w, m.Changes, []*session.State{s})
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		for _, tree := range stashes {
			e, found, failed := w.Lookup(ctx, tree, p)
			if failed != nil {
				err = errors.Join(err, failed)
				return true
			}
			if !found || e.OID == m.Changes[p].New || !workspace.IsBlob(e.Mode) {
				continue
			}
			if e.OID == wrote[p].OID {
				return false
			}
			steps := files.History(ctx, s, p, wrote[p].OID)
			share, ok, failed := files.Compare(ctx, s, authorship.Comparison{Final: e.OID, Base: m.Changes[p].New, Steps: steps})
			if failed != nil {
				err = errors.Join(err, failed)
				return true
			}
			if ok && share.Counts() {
				return false
			}
		}
		return true
	}), err
}

// stashes returns the trees of the newest stashes, newest first.
func stashes(ctx context.Context, w *workspace.Workspace) ([]git.OID, error) {
	const name = "refs/stash"
	top, err := w.Repo.Commit(ctx, name)
	if errors.Is(err, git.ErrMissing) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the stash: %w", err)
	}
	trees := []git.OID{top.Tree}
	// Older stashes are only in the reflog. If that isn't a file, only the newest one is used.
	log, err := disk.ReadFile(filepath.Join(w.Repo.CommonDir, "logs", filepath.FromSlash(name)))
	if err != nil {
		return trees, nil //nolint:nilerr // see above
	}
	lines := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
	for _, line := range slices.Backward(lines) {
		fields := bytes.Fields(line)
		if len(trees) == mostStashes || len(fields) < 2 {
			break
		}
		if oid := string(fields[1]); oid != string(top.OID) {
			if c, err := w.Repo.Commit(ctx, oid); err == nil {
				trees = append(trees, c.Tree)
			}
		}
	}
	return trees, nil
}
