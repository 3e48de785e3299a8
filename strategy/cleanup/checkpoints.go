package cleanup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
)

// checkpoints lists the checkpoints of the auto-commit strategy whose commits are reachable
// from no ref and no reflog. A shared one is kept, as another clone may have its commit. In a
// shallow clone all are kept, as the history isn't known.
func (c Cleaner) checkpoints(ctx context.Context) ([]Item, error) {
	repo := c.w.Repo
	if git.IsShallow(repo) {
		return nil, nil
	}
	// The commits of the records show which checkpoints the strategy stored: nearly always none,
	// without reading any checkpoint.
	// Refs that are not in the queue were pushed, or fetched.
	queued, err := checkpoint.Queued(repo.CommonDir)
	if err != nil {
		return nil, err
	}
	stores, err := git.MessagesContaining(ctx, repo, checkpoint.StrategyKey+": "+settings.AutoCommit, checkpoint.OwnRevisions(len(queued) > 0)...)
	if err != nil {
		return nil, fmt.Errorf("read history of checkpoints: %w", err)
	}
	var ids []checkpoint.ID
	for _, message := range stores {
		line, _, _ := strings.Cut(message, "\n")
		id, err := checkpoint.ParseID(strings.TrimPrefix(line, checkpoint.RecordSubject))
		if err == nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	slices.Sort(ids)
	// The ids named by commits that are reachable from a ref or a reflog of any worktree.
	commits, err := checkpoint.LinkedCommits(ctx, repo, nil, "--all", "--reflog")
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	linked := map[checkpoint.ID]bool{}
	for _, c := range commits {
		for _, id := range checkpoint.IDsOf(c) {
			linked[id] = true
		}
	}
	refs, err := git.ListRefs(ctx, repo, checkpoint.RemoteBranches, checkpoint.PushedRefs)
	if err != nil {
		return nil, err
	}
	var shared []git.OID
	for _, ref := range refs {
		c, err := repo.Commit(ctx, string(ref.OID))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", ref.Name, err)
		}
		shared = append(shared, c.Tree)
	}
	records, err := c.w.LocalRecords(ctx)
	if err != nil {
		return nil, err
	}
	var items []Item
	for _, id := range ids {
		isShared := func(tree git.OID) bool { // or the tree can't be read
			_, err := checkpoint.BranchSource(repo, tree).Locate(ctx, id)
			return !errors.Is(err, checkpoint.ErrNotFound)
		}
		if linked[id] || slices.ContainsFunc(shared, isShared) {
			continue
		}
		at, err := records.Locate(ctx, id)
		if errors.Is(err, checkpoint.ErrNotFound) || at.InRef && !slices.Contains(queued, id.Ref()) {
			continue
		}
		if err != nil {
			return nil, err
		}
		stored, err := records.ReadWhole(ctx, id)
		isOther := func(s checkpoint.Stored) bool {
			return s.Meta.Strategy != settings.AutoCommit || s.Meta.IsImported()
		}
		if err == nil && len(stored.Sessions) > 0 && stored.Summary.Strategy == settings.AutoCommit &&
			!slices.ContainsFunc(stored.Sessions, isOther) {
			items = append(items, Item{Kind: Checkpoint, Name: string(id), Why: "auto-commit, no commit names it", oid: at.Dir})
		}
	}
	return items, nil
}

// removeCheckpoints removes the checkpoints, those on the branch in one commit. A checkpoint rewritten
// since it was found is kept.
func (c Cleaner) removeCheckpoints(ctx context.Context, items []Item, done *Removal) error {
	if len(items) == 0 {
		return nil
	}
	gone := make([]bool, len(items))
	var inRefs []checkpoint.Change
	onBranch := false
	for i, item := range items {
		id := checkpoint.ID(item.Name)
		_, found, err := git.RefCommit(ctx, c.w.Repo, id.Ref())
		if err != nil {
			return err
		}
		if onBranch = onBranch || !found; found {
			inRefs = append(inRefs, checkpoint.Change{ID: id, Next: func(_ context.Context, at checkpoint.Present) (git.OID, string, error) {
				if gone[i] = at.InRef && at.Dir == item.oid; gone[i] {
					return "", "", nil
				}
				return at.Dir, "", nil
			}})
		}
	}
	err := c.w.UpdateRecords(ctx, inRefs)
	if err == nil && onBranch {
		err = c.removeFromBranch(ctx, items, gone)
	}
	if err != nil {
		done.Failed = append(done.Failed, items...)
		return err
	}
	for i, item := range items {
		if gone[i] {
			done.Removed = append(done.Removed, item)
		} else {
			done.Kept = append(done.Kept, item)
		}
	}
	return nil
}

// removeFromBranch removes those of the checkpoints that are on the branch, and sets gone for them.
func (c Cleaner) removeFromBranch(ctx context.Context, items []Item, gone []bool) error {
	by, err := c.w.Identity(ctx)
	if err != nil {
		return err
	}
	var removed []int
	change := func(ctx context.Context, tree git.OID) (git.OID, string, error) {
		removed = nil
		var edits []git.TreeEdit
		for i, item := range items {
			dir := checkpoint.ID(item.Name).Dir()
			entry, found, err := git.LookupPath(ctx, c.w.Repo, tree, dir)
			if err != nil {
				return "", "", err
			}
			if found && entry.OID == item.oid {
				removed, edits = append(removed, i), append(edits, git.TreeEdit{Path: dir})
			}
		}
		next, err := git.EditTree(ctx, c.w.Repo, tree, edits)
		return next, fmt.Sprintf("Cleanup: removed %d orphaned checkpoints\n", len(removed)), err
	}
	err = checkpoint.UpdateBranch(ctx, c.w.Repo, by, change)
	for _, i := range removed {
		gone[i] = err == nil
	}
	return err
}
