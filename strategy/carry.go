package strategy

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
)

// left is what a commit left of a session's pending files.
type left struct {
	paths   []string            // still pending
	entries map[string]git.Edit // what they are
	// renamed are those of paths whose steps have another name, with what the
	// session wrote.
	renamed map[string]git.OID
}

// remaining returns which pending files still have something to commit: those
// that the commit doesn't contain, and those it contains otherwise than the
// session wrote them, if the worktree too has something else, or a stash has the
// rest. (A file that was edited before all of it was committed has nothing
// left.) A pending file that was renamed goes by its new name.
func (r *Recorder) remaining(ctx context.Context, s *session.State, m made, share Share) (left, error) {
	shadow, err := r.shadowTree(ctx, s)
	if err == nil && shadow == r.Repo.EmptyTree() {
		// Stopped before the state was saved, a hook has carried it forward.
		shadow, err = r.branchTree(ctx, checkpoint.ShadowBranch(m.commit, r.Repo.WorktreeID))
	}
	if err != nil {
		return left{}, err
	}
	rest := left{entries: map[string]git.Edit{}, renamed: map[string]git.OID{}}
	wrote := map[string]git.TreeEntry{}
	for _, p := range s.FilesTouched {
		c, committed := m.changes[p]
		if !committed {
			rest.paths = append(rest.paths, p)
			continue
		}
		entry, found, err := r.lookup(ctx, shadow, share.nameBefore(p))
		if err == nil && !found { // it is carried forward already, see above
			entry, found, err = r.lookup(ctx, shadow, p)
		}
		if err != nil {
			return left{}, fmt.Errorf("look up %s: %w", p, err)
		}
		if found && entry.OID != c.New {
			wrote[p] = entry
		}
	}
	differ := slices.Sorted(maps.Keys(wrote))
	dirty, err := r.dirty(ctx, differ)
	if err != nil {
		return left{}, err
	}
	clean := slices.DeleteFunc(differ, func(p string) bool { return slices.Contains(dirty, p) })
	stashed, err := r.stashed(ctx, s, m, clean, wrote)
	if err != nil {
		return left{}, err
	}
	rest.paths = append(rest.paths, dirty...)
	if rest.entries, err = r.contents(ctx, rest.paths); err != nil {
		return left{}, err
	}
	rest.paths = slices.DeleteFunc(rest.paths, func(p string) bool { // a hook's change that the index lacks
		c, committed := m.changes[p]
		return committed && c.New != "" && c.New == rest.entries[p].OID
	})
	for _, p := range stashed {
		rest.paths = append(rest.paths, p)
		rest.entries[p] = git.Edit{Path: p, Mode: wrote[p].Mode, OID: wrote[p].OID}
	}
	slices.Sort(rest.paths)
	for _, p := range rest.paths {
		if _, ok := share.renamedFrom(p); ok {
			rest.renamed[p] = wrote[p].OID
		}
	}
	return rest, nil
}

// moved gives pending files the names that the share has them under, unless they
// are still there under the old ones.
func (r *Recorder) moved(s *session.State, share Share) {
	for _, m := range share.Renamed {
		if !r.inTree(string(m.From)) {
			s.Rename(string(m.From), string(m.To))
		}
	}
}

// dirty returns which of the paths have something that HEAD has otherwise.
func (r *Recorder) dirty(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	entries, err := r.Repo.Status(ctx, paths...)
	if err != nil {
		return nil, fmt.Errorf("find what is left of a commit: %w", err)
	}
	var dirty []string
	for _, e := range entries {
		if e.Worktree != 'D' && e.Index != 'D' {
			dirty = append(dirty, e.Path)
		}
	}
	return dirty, nil
}

// carry moves what is left onto a new shadow branch that hangs on the commit,
// and drops the old branch if no session needs it but those that are leaving.
func (r *Recorder) carry(ctx context.Context, refs *refPlan, c condensed, head git.Commit, leaving []string) error {
	old, next := "", checkpoint.ShadowBranch(head.OID, r.Repo.WorktreeID)
	if base := c.state.BaseCommit; base != "" {
		old = checkpoint.ShadowBranch(git.OID(base), c.state.WorktreeID)
	}
	if len(c.rest.paths) > 0 {
		at, err := r.carryTip(ctx, refs, next, head)
		if err != nil {
			return err
		}
		oid, err := checkpoint.WriteCarryForward(ctx, r.Repo, at, editsOf(c.rest.entries, c.rest.paths), checkpoint.Carry{
			Session: c.state.ID, Strategy: r.strategy(), When: r.Env.Now(),
		})
		if err != nil {
			return fmt.Errorf("carry forward: %w", err)
		}
		if err := refs.set(ctx, next, oid); err != nil {
			return err
		}
	}
	if old == "" || old == next || r.needed(old, leaving) {
		return nil
	}
	return refs.set(ctx, old, "")
}

// carryTip answers what a carry-forward builds on: the commit, or what hangs on
// it already.
func (r *Recorder) carryTip(ctx context.Context, refs *refPlan, next string, head git.Commit) (checkpoint.Tip, error) {
	at := checkpoint.Tip{Tree: head.Tree}
	tip, err := refs.get(ctx, next)
	if err != nil || tip == "" {
		return at, err
	}
	commit, err := r.Repo.Commit(ctx, string(tip))
	return checkpoint.Tip{Commit: tip, Tree: commit.Tree}, err
}

// needed reports whether a session has something on the branch, other than those
// that leave it. The caller holds the lock, and the list of sessions is read anew:
// one may have begun since this hook did.
func (r *Recorder) needed(branch string, leaving []string) bool {
	states, _ := session.Open(r.Repo.CommonDir).Pending()
	return slices.ContainsFunc(states, func(s *session.State) bool {
		return !slices.Contains(leaving, s.ID) && s.BaseCommit != "" && len(s.FilesTouched)+s.CheckpointCount > 0 &&
			checkpoint.ShadowBranch(git.OID(s.BaseCommit), s.WorktreeID) == branch
	})
}
