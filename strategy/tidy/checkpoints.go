package tidy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitlog"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
	"github.com/seed-3aff656d/entire/internal/git/gitwork"
	"github.com/seed-3aff656d/entire/internal/settings"
)

const (
	// subject begins that of the commit that stores a checkpoint.
	subject = "Checkpoint: "
	// pushedRefs remember what was sent to a remote without tracking refs.
	pushedRefs = "refs/entire/pushed/"
)

// checkpoints lists the checkpoints of the auto-commit strategy whose commits
// are in no ref and no reflog. One that was shared stays, since others may have
// its commit, and in a shallow clone all do, since the history isn't known.
func (c Cleaner) checkpoints(ctx context.Context) ([]Item, error) {
	repo := c.rec.Repo
	if gitlog.IsShallow(repo) {
		return nil, nil
	}
	tip, err := repo.Commit(ctx, checkpoint.MetadataBranch)
	if errors.Is(err, git.ErrMissing) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read checkpoints: %w", err)
	}
	ids, err := made(ctx, repo)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	linked, err := linkedIDs(ctx, repo)
	if err != nil {
		return nil, err
	}
	shared, err := sharedTrees(ctx, repo)
	if err != nil {
		return nil, err
	}
	var items []Item
	for _, id := range ids {
		if linked[id] || inAny(ctx, repo, shared, id) {
			continue
		}
		entry, found, err := gittree.Lookup(ctx, repo, tip.Tree, id.Dir())
		if err != nil {
			return nil, err
		}
		if found && isAuto(ctx, repo, tip.Tree, id) {
			items = append(items, Item{Kind: Checkpoint, Name: string(id), Why: "auto-commit, no commit refers to it", oid: entry.OID})
		}
	}
	return items, nil
}

// made returns the ids that the strategy stored, by the branch's own commits:
// nearly always none, without reading any checkpoint.
func made(ctx context.Context, repo *git.Repo) ([]checkpoint.ID, error) {
	messages, err := gitlog.Messages(ctx, repo, checkpoint.StrategyKey+": "+settings.AutoCommit, checkpoint.MetadataBranch)
	if err != nil {
		return nil, fmt.Errorf("read history of checkpoints: %w", err)
	}
	var ids []checkpoint.ID
	for _, message := range messages {
		line, _, _ := strings.Cut(message, "\n")
		id, err := checkpoint.ParseID(strings.TrimPrefix(line, subject))
		if err == nil && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// linkedIDs are the ids that any commit names which a ref or a reflog reaches, in
// any worktree.
func linkedIDs(ctx context.Context, repo *git.Repo) (map[checkpoint.ID]bool, error) {
	messages, err := gitlog.Messages(ctx, repo, checkpoint.TrailerKey, "--all", "--reflog")
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	linked := map[checkpoint.ID]bool{}
	for _, message := range messages {
		for _, id := range checkpoint.IDs(message) {
			linked[id] = true
		}
	}
	return linked, nil
}

// sharedTrees are the trees of checkpoints that remotes are known to have.
func sharedTrees(ctx context.Context, repo *git.Repo) ([]git.OID, error) {
	refs, err := gitref.List(ctx, repo, "refs/remotes/*/entire/checkpoints/v1", pushedRefs)
	if err != nil {
		return nil, err
	}
	var trees []git.OID
	for _, ref := range refs {
		c, err := repo.Commit(ctx, string(ref.OID))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", ref.Name, err)
		}
		trees = append(trees, c.Tree)
	}
	return trees, nil
}

// inAny reports whether one of the trees has the checkpoint, or can't be read.
func inAny(ctx context.Context, repo *git.Repo, trees []git.OID, id checkpoint.ID) bool {
	return slices.ContainsFunc(trees, func(tree git.OID) bool {
		_, found, err := gittree.Lookup(ctx, repo, tree, id.Dir())
		return found || err != nil
	})
}

// isAuto reports whether all of the checkpoint was made by the strategy.
func isAuto(ctx context.Context, repo *git.Repo, tree git.OID, id checkpoint.ID) bool {
	stored, err := checkpoint.Read(ctx, repo, tree, id)
	if err != nil || len(stored.Sessions) == 0 || stored.Summary.Strategy != settings.AutoCommit {
		return false
	}
	return !slices.ContainsFunc(stored.Sessions, func(s checkpoint.Stored) bool { return s.Meta.Strategy != settings.AutoCommit })
}

// removeCheckpoints takes the checkpoints from the branch, in one commit. One
// that was written anew since it was found stays.
func (c Cleaner) removeCheckpoints(ctx context.Context, items []Item, done *Removal) error {
	if len(items) == 0 {
		return nil
	}
	by, err := gitwork.Identity(ctx, c.rec.Repo)
	if err != nil {
		return err
	}
	by.When = c.rec.Env.Now()
	var gone, kept []Item
	change := func(ctx context.Context, tree git.OID) (git.OID, string, error) {
		gone, kept = nil, nil
		var edits []gittree.Edit
		for _, item := range items {
			dir := checkpoint.ID(item.Name).Dir()
			entry, found, err := gittree.Lookup(ctx, c.rec.Repo, tree, dir)
			if err != nil {
				return "", "", err
			}
			if !found || entry.OID != item.oid {
				kept = append(kept, item)
				continue
			}
			gone, edits = append(gone, item), append(edits, gittree.Edit{Path: dir})
		}
		next, err := gittree.Apply(ctx, c.rec.Repo, tree, edits)
		return next, fmt.Sprintf("Cleanup: removed %d orphaned checkpoints\n", len(gone)), err
	}
	if _, err := checkpoint.Update(ctx, c.rec.Repo, by, []checkpoint.Change{change}, nil); err != nil {
		done.Failed = append(done.Failed, items...)
		return err
	}
	done.Removed, done.Kept = append(done.Removed, gone...), append(done.Kept, kept...)
	return nil
}
