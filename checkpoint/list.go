package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Trees returns the trees of all metadata branches for reading: the local branch's first, then
// those fetched from remotes. A checkpoint may be in any of them. The list may be empty. It lacks the
// trees that a partial clone lacks: see AbsentTrees.
func Trees(ctx context.Context, repo *git.Repo) ([]git.OID, error) {
	trees, err := branchTrees(ctx, repo)
	if err != nil {
		return nil, err
	}
	absent, err := absentOf(ctx, repo, trees)
	return slices.DeleteFunc(trees, func(tree git.OID) bool { return slices.Contains(absent, tree) }), err
}

// AbsentTrees returns the trees of metadata branches that a partial clone lacks, as one without any
// trees does.
func AbsentTrees(ctx context.Context, repo *git.Repo) ([]git.OID, error) {
	trees, err := branchTrees(ctx, repo)
	if err != nil {
		return nil, err
	}
	return absentOf(ctx, repo, trees)
}

func absentOf(ctx context.Context, repo *git.Repo, trees []git.OID) (absent []git.OID, err error) {
	if partial, err := repo.IsPartial(); err != nil || !partial {
		return nil, err
	}
	for _, tree := range trees {
		if _, err := repo.Tree(ctx, tree); errors.Is(err, git.ErrMissing) {
			absent = append(absent, tree)
		}
	}
	return absent, ctx.Err()
}

// branchTrees returns the trees of all metadata branches.
func branchTrees(ctx context.Context, repo *git.Repo) ([]git.OID, error) {
	refs, err := metadataRefs(ctx, repo)
	if err != nil {
		return nil, err
	}
	trees := make([]git.OID, 0, len(refs))
	for _, ref := range refs { // sorted by name: refs/heads is before refs/remotes
		tip, err := repo.Commit(ctx, string(ref.OID))
		if err != nil && ref.Name != MetadataBranch {
			continue // the remote's ref is not a branch of checkpoints
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", ref.Name, err)
		}
		trees = append(trees, tip.Tree)
	}
	return trees, nil
}

// BranchesAsRevisions returns the arguments for the metadata branches, local and of remotes, of git
// commands that walk the history.
func BranchesAsRevisions() []string {
	return []string{"--branches=entire/checkpoints/*", "--remotes=*/entire/checkpoints/*"}
}

// OfSession returns the ids of checkpoints in messages on the metadata branches that contain a
// session's id, the most recent first. They are a superset of the session's checkpoints, except on
// a branch that was squashed and so has no such messages.
func OfSession(ctx context.Context, repo *git.Repo, session string) ([]ID, error) {
	messages, err := git.MessagesContaining(ctx, repo, transcript.SessionID(session), BranchesAsRevisions()...)
	if err != nil {
		return nil, fmt.Errorf("find the checkpoints of session %s: %w", session, err)
	}
	var ids []ID
	for _, message := range messages {
		subject, _, _ := strings.Cut(message, "\n")
		if id, ok := SubjectID(subject); ok && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Find returns the checkpoints in v1Tree whose ids begin with prefix, in order. It reads only the
// directories that may contain them.
func Find(ctx context.Context, repo *git.Repo, v1Tree git.OID, prefix string) ([]ID, error) {
	if len(prefix) > 2*idBytes || !plain.IsHex(prefix) {
		return nil, nil
	}
	shards, err := repo.Tree(ctx, v1Tree)
	if err != nil {
		return nil, fmt.Errorf("find checkpoint %s: %w", prefix, err)
	}
	var ids []ID
	for _, shard := range shards {
		if shard.Mode != git.ModeTree || !strings.HasPrefix(prefix, shard.Name) && !strings.HasPrefix(shard.Name, prefix) {
			continue
		}
		entries, err := repo.Tree(ctx, shard.OID)
		if errors.Is(err, git.ErrMissing) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("find checkpoint %s: %w", prefix, err)
		}
		for _, e := range entries {
			id, err := ParseID(shard.Name + e.Name)
			if err == nil && len(shard.Name) == shardLen && e.Mode == git.ModeTree && strings.HasPrefix(string(id), prefix) {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}
