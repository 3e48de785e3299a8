package tracking

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// LinkedCommit is the commit that a decision was made for.
type LinkedCommit struct {
	git.Commit

	// Holder is the commit that carries the id now: Commit itself, or its replacement after a
	// rewrite of history.
	Holder git.OID
	// Late means that the decision is carried out some time after the commit, by another hook
	// than the commit's.
	Late bool
}

// SearchScope is the part of the repository that is searched for a commit.
type SearchScope int

const (
	// RecentCommits are the commits made since the decision, by their dates: quick in a long
	// history, but a commit with a false date is missed.
	RecentCommits SearchScope = iota
	// AllCommits are all reachable commits of the repository.
	AllCommits
)

// clockSkew is how long before its decision a commit may be dated.
const clockSkew = time.Hour

// FindCommits returns the commits of the decisions, by nonce. A commit is found on any branch
// or HEAD of any worktree, in a reflog, or in the state of an operation in progress.
func FindCommits(ctx context.Context, w *workspace.Workspace, list []Decision, scope SearchScope) (map[string]LinkedCommit, error) {
	var ids []string
	var since time.Time
	for _, d := range list {
		if d.ID == "" {
			continue
		}
		if len(ids) == 0 || d.Created.Before(since) {
			since = d.Created
		}
		ids = append(ids, string(d.ID))
	}
	if since = since.Add(-clockSkew); scope == AllCommits {
		since = time.Time{}
	}
	commits, err := git.CommitsContaining(ctx, w.Repo, since, ids...)
	if err != nil {
		return nil, err
	}
	found := map[string]LinkedCommit{}
	for _, d := range list {
		if d.ID == "" {
			continue
		}
		if at, ok := chooseCommit(ctx, w, d, commits); ok {
			found[d.Nonce] = at
		}
	}
	return found, nil
}

// chooseCommit returns the commit that was made for the decision, whose parent is the HEAD of
// that time. If only rewritten copies are left, it returns the oldest of these. commits are
// ordered newest first.
func chooseCommit(ctx context.Context, w *workspace.Workspace, d Decision, commits []git.Commit) (LinkedCommit, bool) {
	var carriers []git.Commit
	for _, c := range commits {
		if slices.Contains(checkpoint.IDsOf(c), d.ID) && !replacedBy(d, c) {
			carriers = append(carriers, c)
		}
	}
	if len(carriers) == 0 {
		return LinkedCommit{}, false
	}
	chosen := carriers[len(carriers)-1]
	for _, c := range carriers {
		// Its parents are those that the decision recorded: HEAD, or for an amended commit the
		// parents of HEAD.
		var made bool
		switch {
		case d.Parent == "":
			made = len(c.Parents) == 0
		case len(c.Parents) > 0 && c.Parents[0] == d.Parent:
			made = true
		default:
			replaced, err := w.Repo.Commit(ctx, string(d.Parent))
			made = err == nil && slices.Equal(c.Parents, replaced.Parents)
		}
		if made {
			chosen = c
			if d.Amend { // older ones were amended before
				break
			}
		}
	}
	return LinkedCommit{Commit: chosen, Holder: holder(ctx, w, d, chosen, carriers), Late: true}, true
}

// replacedBy reports whether the commit already carried the id when the decision to replace it
// was made.
func replacedBy(d Decision, c git.Commit) bool {
	begun := d.Begun
	if begun.IsZero() {
		begun = d.Created.Add(-time.Minute)
	}
	return d.Amend && (c.OID == d.Parent || slices.Contains(d.Former, c.OID) || c.Committer.When.Before(begun))
}

// holder returns the carrier of an id that the id belongs to now: one in the history of the
// worktree's HEAD, else the newest.
func holder(ctx context.Context, w *workspace.Workspace, d Decision, made git.Commit, carriers []git.Commit) git.OID {
	if len(carriers) == 1 {
		return made.OID
	}
	name := "worktrees/" + d.Worktree + "/HEAD"
	switch d.Worktree {
	case w.Repo.WorktreeID:
		name = "HEAD"
	case "":
		name = "main-worktree/HEAD"
	}
	head, err := w.Repo.Commit(ctx, name)
	if err != nil {
		return made.OID
	}
	oids := make([]git.OID, len(carriers))
	for i, c := range carriers {
		oids[i] = c.OID
	}
	outside, err := git.Unreachable(ctx, w.Repo, head.OID, oids)
	if err != nil {
		return made.OID
	}
	if slices.Contains(oids, made.OID) && !slices.Contains(outside, made.OID) {
		return made.OID
	}
	for _, oid := range oids {
		if !slices.Contains(outside, oid) {
			return oid
		}
	}
	return oids[0]
}

// IsRebasing reports whether a rebase is in progress in the worktree.
func IsRebasing(w *workspace.Workspace, worktree string) bool {
	for _, name := range []string{"rebase-merge", filepath.Join("rebase-apply", "rebasing")} {
		if _, err := os.Lstat(filepath.Join(w.GitDirOf(worktree), name)); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// MayStillBeMade reports whether a missing commit may yet be made as decided, though no git
// process is known to make it: the process may run where this one can't find it, or a later
// commit may use its message.
func MayStillBeMade(w *workspace.Workspace, d Decision) bool {
	dir := w.GitDirOf(d.Worktree)
	mentions := func(pattern string) bool {
		return slices.ContainsFunc(disk.Glob(dir, pattern), func(path string) bool {
			data, err := disk.ReadFile(path)
			return err == nil && bytes.Contains(data, []byte(d.ID))
		})
	}
	if mentions("MERGE_MSG") || mentions("SQUASH_MSG") || mentions("rebase-merge/message*") {
		return true
	}
	old := w.Env.Now().Sub(d.Created) > StaleAfter
	return !old && (d.Git == 0 || mentions("COMMIT_EDITMSG"))
}
