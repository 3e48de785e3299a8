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
	tip, err := repo.Commit(ctx, checkpoint.MetadataBranch)
	if errors.Is(err, git.ErrMissing) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read checkpoints: %w", err)
	}
	// The branch's own commits show which checkpoints the strategy stored: nearly always none,
	// without reading any checkpoint.
	stores, err := git.MessagesContaining(ctx, repo, checkpoint.StrategyKey+": "+settings.AutoCommit, checkpoint.MetadataBranch)
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
	var items []Item
	for _, id := range ids {
		isShared := func(tree git.OID) bool { // or the tree can't be read
			_, found, err := git.LookupPath(ctx, repo, tree, id.Dir())
			return found || err != nil
		}
		if linked[id] || slices.ContainsFunc(shared, isShared) {
			continue
		}
		entry, found, err := git.LookupPath(ctx, repo, tip.Tree, id.Dir())
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		stored, err := checkpoint.Read(ctx, repo, tip.Tree, id)
		isOther := func(s checkpoint.Stored) bool { return s.Meta.Strategy != settings.AutoCommit }
		if err == nil && len(stored.Sessions) > 0 && stored.Summary.Strategy == settings.AutoCommit &&
			!slices.ContainsFunc(stored.Sessions, isOther) {
			items = append(items, Item{Kind: Checkpoint, Name: string(id), Why: "auto-commit, no commit refers to it", oid: entry.OID})
		}
	}
	return items, nil
}

// removeCheckpoints removes the checkpoints from the branch, in one commit. A checkpoint
// rewritten since it was found is kept.
func (c Cleaner) removeCheckpoints(ctx context.Context, items []Item, done *Removal) error {
	if len(items) == 0 {
		return nil
	}
	by, err := git.Identity(ctx, c.w.Repo)
	if err != nil {
		return err
	}
	by.When = c.w.Env.Now()
	var gone, kept []Item
	change := func(ctx context.Context, tree git.OID) (git.OID, string, error) {
		gone, kept = nil, nil
		var edits []git.TreeEdit
		for _, item := range items {
			dir := checkpoint.ID(item.Name).Dir()
			entry, found, err := git.LookupPath(ctx, c.w.Repo, tree, dir)
			if err != nil {
				return "", "", err
			}
			if !found || entry.OID != item.oid {
				kept = append(kept, item)
				continue
			}
			gone, edits = append(gone, item), append(edits, git.TreeEdit{Path: dir})
		}
		next, err := git.EditTree(ctx, c.w.Repo, tree, edits)
		return next, fmt.Sprintf("Cleanup: removed %d orphaned checkpoints\n", len(gone)), err
	}
	if _, err := checkpoint.Update(ctx, c.w.Repo, by, []checkpoint.Change{change}, nil); err != nil {
		done.Failed = append(done.Failed, items...)
		return err
	}
	done.Removed, done.Kept = append(done.Removed, gone...), append(done.Kept, kept...)
	return nil
}
