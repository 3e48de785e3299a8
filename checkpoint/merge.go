package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
)

// Merge merges the commit theirs, of another copy of the metadata branch, into the branch, and
// moves it in one transaction with the extra ref updates. Nothing of either side is lost:
//
//   - A checkpoint that only one side has, or has changed since the merge base, is taken from
//     that side. So is its removal, unless the other side has changed it.
//   - Of a checkpoint that both have changed, the sessions of both are kept: see
//     merger.checkpoint.
//   - If one side of a checkpoint that both have changed is too large to be read, the other side
//     is kept. The commit's message names it.
//   - Other files that both have changed stay as they are on this side.
//
// If one side contains the other, no commit is made: the branch stays, or is fast-forwarded to
// theirs. Without a local branch the merge starts from the one fetched from origin, as in v1. The
// cost depends on the differences of the two sides.
//
// Records that w or either side lists as forgotten are dropped from both sides and from their
// histories: the merged commits are the rewritten ones. w.Moved tells which were rewritten.
//
// It returns the branch's commit. Like [Update] it starts again, at most five times, if another
// process moves the branch.
func Merge(ctx context.Context, w *Rewriting, by git.Signature, theirs git.OID, extra []git.RefChange) (git.OID, error) {
	repo := w.Repo
	their, err := repo.Commit(ctx, string(theirs))
	if err != nil {
		return "", fmt.Errorf("merge into %s: %w", MetadataBranch, err)
	}
	return persist(ctx, repo, extra, func() (git.OID, error) {
		ours, local, err := findTip(ctx, repo)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return "", err
		}
		old := ours.OID
		ours, theirs, err := w.both(ctx, ours, their)
		if err != nil {
			return "", err
		}
		unite := join
		if ours.OID != old { // the other side's history takes its place
			unite = replay
		}
		tip, err := unite(ctx, repo, by, ours, theirs)
		if err != nil {
			return "", err
		}
		if tip, err = w.list(ctx, tip, by); err != nil {
			return "", err
		}
		if !local {
			old = ""
		}
		updates := slices.Clip(extra)
		if tip != old {
			updates = append(updates, git.RefChange{Name: MetadataBranch, New: tip, Old: old})
		}
		if len(updates) == 0 {
			return tip, nil
		}
		return tip, git.UpdateRefs(ctx, repo, "entire: merge checkpoints", updates)
	})
}

// both returns both sides without the records that w or either of them lists as forgotten, and adds
// their lists to w.Forgotten. A side that has the list may still need it: a program without such a
// list merges any history.
func (w *Rewriting) both(ctx context.Context, ours, theirs git.Commit) (git.Commit, git.Commit, error) {
	our, err := ForgottenIn(ctx, w.Repo, ours.Tree)
	if err != nil {
		return ours, theirs, err
	}
	their, err := ForgottenIn(ctx, w.Repo, theirs.Tree)
	if err != nil {
		return ours, theirs, err
	}
	w.forget(our.With(their))
	if w.Forgotten.Empty() && w.Mask == nil {
		return ours, theirs, nil
	}
	if ours.OID != "" {
		if ours, err = w.rewritten(ctx, ours); err != nil {
			return ours, theirs, err
		}
	}
	theirs, err = w.rewritten(ctx, theirs)
	return ours, theirs, err
}

// rewritten returns the rewritten commit that replaces c, a commit of the metadata branch.
func (w *Rewriting) rewritten(ctx context.Context, c git.Commit) (git.Commit, error) {
	next, err := w.Metadata(ctx, c.OID)
	if err != nil || next == c.OID {
		return c, err
	}
	return w.Repo.Commit(ctx, string(next))
}

// replay returns a commit that contains both: one of them if possible, else commits that add the
// changes of ours to theirs. Unlike a merge it does not keep a second version of the history that both
// had before it was rewritten: the clone that has forgotten the data may have known more of it, and
// so removed more.
func replay(ctx context.Context, repo *git.Repo, _ git.Signature, ours, theirs git.Commit) (git.OID, error) {
	return replayBy(ctx, repo, ours, theirs, func(ctx context.Context, t three) (git.OID, string, error) {
		return mergeTrees(ctx, merger{repo: repo, masked: true}, t)
	})
}

// replayBy is replay with a function that merges two trees and returns a text for the commit's message.
func replayBy(ctx context.Context, repo *git.Repo, ours, theirs git.Commit, merge func(context.Context, three) (git.OID, string, error)) (git.OID, error) {
	base, err := git.MergeBase(ctx, repo, ours.OID, theirs.OID)
	switch {
	case err != nil:
		return "", err
	case base == theirs.OID:
		return ours.OID, nil
	case base == ours.OID:
		return theirs.OID, nil
	}
	out, err := repo.Run(ctx, "rev-list", "--topo-order", "--reverse", string(ours.OID), "^"+string(theirs.OID), "--")
	if err != nil {
		return "", fmt.Errorf("read history: %w", err)
	}
	tip := theirs
	for name := range strings.FieldsSeq(string(out)) {
		c, err := repo.Commit(ctx, name)
		if err != nil {
			return "", err
		}
		t := three{ours: treeEntry(tip.Tree), theirs: treeEntry(c.Tree)}
		if len(c.Parents) > 0 {
			before, err := repo.Commit(ctx, string(c.Parents[0]))
			if err != nil {
				return "", err
			}
			t.base = treeEntry(before.Tree)
		}
		tree, unread, err := merge(ctx, t)
		if err != nil {
			return "", err
		}
		if tree == tip.Tree { // theirs has it
			continue
		}
		c.Tree, c.Parents, c.Message = tree, []git.OID{tip.OID}, c.Message+unread
		if c.OID, err = repo.WriteCommit(c); err != nil {
			return "", err
		}
		tip = c
	}
	return tip.OID, nil
}

// MergeRef returns a commit for the ref of a checkpoint that contains both sides: one of them if
// possible, else commits that add the changes of ours to theirs. The sessions of both are kept, as by
// Merge. If one side is too large to be read, the other one's content is kept. Only objects are written.
func MergeRef(ctx context.Context, repo *git.Repo, id ID, ours, theirs git.OID) (git.OID, error) {
	our, err := repo.Commit(ctx, string(ours))
	if err != nil {
		return "", err
	}
	their, err := repo.Commit(ctx, string(theirs))
	if err != nil {
		return "", err
	}
	m := merger{repo: repo, inRef: true, unread: new([]ID)}
	next, err := replayBy(ctx, repo, our, their, func(ctx context.Context, t three) (git.OID, string, error) {
		tree, err := m.checkpoint(ctx, id, t)
		if errors.Is(err, git.ErrTooMuch) {
			var kept git.TreeEntry
			kept, err = m.readable(ctx, t)
			return kept.OID, "\nOne side is too large to be read.\n", err
		}
		return tree, "", err
	})
	if err != nil {
		return "", fmt.Errorf("merge checkpoint %s: %w", id, err)
	}
	return next, nil
}

// join returns a commit that contains both: one of them if possible, else a new one. ours may be
// empty.
func join(ctx context.Context, repo *git.Repo, by git.Signature, ours, theirs git.Commit) (git.OID, error) {
	if ours.OID == "" {
		return theirs.OID, nil
	}
	base, err := git.MergeBase(ctx, repo, ours.OID, theirs.OID)
	if err != nil {
		return "", err
	}
	switch base {
	case theirs.OID:
		return ours.OID, nil
	case ours.OID:
		return theirs.OID, nil
	}
	t := three{ours: treeEntry(ours.Tree), theirs: treeEntry(theirs.Tree)}
	if base != "" {
		common, err := repo.Commit(ctx, string(base))
		if err != nil {
			return "", err
		}
		t.base = treeEntry(common.Tree)
	}
	tree, unread, err := mergeTrees(ctx, merger{repo: repo}, t)
	if err != nil {
		return "", err
	}
	return repo.WriteCommit(git.Commit{
		Tree: tree, Parents: []git.OID{ours.OID, theirs.OID}, Author: by, Committer: by, Message: mergeMessage + unread,
	})
}

// mergeTrees merges two trees of the metadata branch. unread is a text for the commit's message that
// names the checkpoints that were not merged, if there are any.
func mergeTrees(ctx context.Context, m merger, t three) (tree git.OID, unread string, err error) {
	var ids []ID
	m.unread = &ids
	// Directories are named by the first two digits of ids.
	tree, err = m.each(ctx, t, func(ctx context.Context, name string, t three) (git.TreeEntry, error) {
		if len(name) != 2 || !plain.IsHex(name) || !t.trees() {
			return t.either(), nil
		}
		oid, err := m.shard(ctx, name, t)
		return git.TreeEntry{Mode: git.ModeTree, Name: name, OID: oid}, err
	})
	if slices.Sort(ids); len(ids) > 0 {
		lines := make([]string, 0, len(ids)+1)
		lines = append(lines, "\nNot merged, as one side is too large to be read:\n")
		for _, id := range ids {
			lines = append(lines, string(id)+"\n")
		}
		unread = strings.Join(lines, "")
	}
	return tree, unread, err
}

func treeEntry(oid git.OID) git.TreeEntry { return git.TreeEntry{Mode: git.ModeTree, OID: oid} }
