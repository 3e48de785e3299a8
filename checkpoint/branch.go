package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
)

const (
	// retries is the maximum number of repetitions of an update after another process moved the
	// branch.
	retries = 5
	// backoff is the maximum wait before the first repetition; it doubles.
	backoff = 4 * time.Millisecond
)

// Change is a change of one checkpoint.
type Change struct {
	ID ID
	// Next returns the checkpoint's next directory, given the present one, and the message of the
	// commit. If it returns the present one, no commit is made; "" removes the checkpoint. It may be
	// called again for another directory.
	Next func(ctx context.Context, at Present) (dir git.OID, message string, err error)
}

// Present is what a repository has of a checkpoint.
type Present struct {
	// Dir is the tree of its directory, empty if it doesn't exist.
	Dir git.OID
	// InRef reports that the checkpoint has, or gets, a ref of its own.
	InRef bool

	forgotten func(ctx context.Context) (Forgotten, error)
}

// IsForgotten reports whether the metadata branch lists the session or the checkpoint as forgotten.
func (p Present) IsForgotten(ctx context.Context, of SessionIn) (bool, error) {
	if p.forgotten == nil {
		return false, nil
	}
	list, err := p.forgotten(ctx)
	return list.HasCheckpoint(of.ID) || list.HasSession(of.Session), err
}

// BranchChange returns the next tree of the metadata branch, given the present one, and the message of
// its commit. It may be called again with another tree.
type BranchChange func(ctx context.Context, tree git.OID) (next git.OID, message string, err error)

// v1 resolves the metadata branch for writing. tip is the local branch's commit, empty if there is
// no local branch. parent and tree are the commit to continue and its tree: the tip, else the
// commit fetched from origin, else a new first commit, whose objects are written.
func v1(ctx context.Context, repo *git.Repo, by git.Signature) (tip, parent, tree git.OID, err error) {
	found, local, err := findTip(ctx, repo)
	switch {
	case err == nil && local:
		return found.OID, found.OID, found.Tree, nil
	case err == nil:
		return "", found.OID, found.Tree, nil
	case !errors.Is(err, ErrNotFound):
		return "", "", "", err
	}
	first, err := git.WriteTree(repo, nil)
	if err != nil {
		return "", "", "", fmt.Errorf("begin %s: %w", MetadataBranch, err)
	}
	commit := git.Commit{Tree: first, Author: by, Committer: by, Message: initMessage}
	parent, err = repo.WriteCommit(commit)
	if err != nil {
		return "", "", "", fmt.Errorf("begin %s: %w", MetadataBranch, err)
	}
	return "", parent, first, nil
}

// Update applies the changes, one commit for each, and moves the metadata branch, the refs of
// checkpoints and the extra refs in one transaction. A checkpoint is changed where it is read in this
// order; a new one gets a ref if its id is a ULID, else it is added to the branch. The names of the refs
// are first added to the queue of the next push. Without any commit the branch stays, and is not
// created. If another process moved one of the refs, the changes are applied again, at most five times.
// If an extra ref was moved, Update returns git.ErrRefMoved immediately and moves nothing.
func Update(ctx context.Context, repo *git.Repo, order Order, by git.Signature, changes []Change, extra []git.RefChange) error {
	_, err := persist(ctx, repo, extra, func() (git.OID, error) {
		u := update{repo: repo, order: order, by: by, refs: map[ID]*refUpdate{}}
		for _, change := range changes {
			if err := u.apply(ctx, change); err != nil {
				return "", err
			}
		}
		return "", u.move(ctx, extra)
	})
	return err
}

// UpdateBranch applies a change to the metadata branch, and makes a commit unless the change returns the
// given tree. It repeats the change like Update.
func UpdateBranch(ctx context.Context, repo *git.Repo, by git.Signature, change BranchChange) error {
	_, err := persist(ctx, repo, nil, func() (git.OID, error) {
		u := update{repo: repo, by: by}
		if err := u.begin(ctx); err != nil {
			return "", err
		}
		next, message, err := change(ctx, u.tree)
		if err == nil {
			err = u.commit(next, message)
		}
		if err != nil {
			return "", err
		}
		return "", u.move(ctx, nil)
	})
	return err
}

// update is one attempt to update the records.
type update struct {
	repo  *git.Repo
	order Order
	by    git.Signature

	// tip is the local branch's commit. The new commits follow parent; last and tree are the last of
	// them and its tree. They are set by begin.
	tip, parent, last, tree git.OID
	refs                    map[ID]*refUpdate
	listed                  *Forgotten
}

// refUpdate is the update of the ref of a checkpoint.
type refUpdate struct{ old, last, dir git.OID }

// begin resolves the metadata branch.
func (u *update) begin(ctx context.Context) (err error) {
	if u.parent == "" {
		u.tip, u.parent, u.tree, err = v1(ctx, u.repo, u.by)
		u.last = u.parent
	}
	return err
}

// commit adds a commit with a tree to the metadata branch, unless it has this tree.
func (u *update) commit(tree git.OID, message string) (err error) {
	if tree == u.tree {
		return nil
	}
	c := git.Commit{Tree: tree, Parents: []git.OID{u.last}, Author: u.by, Committer: u.by, Message: message}
	u.tree = tree
	u.last, err = u.repo.WriteCommit(c)
	return err
}

// apply applies a change where its checkpoint is.
func (u *update) apply(ctx context.Context, change Change) error {
	if _, err := ParseID(string(change.ID)); err != nil {
		return err
	}
	ref, err := u.find(ctx, change.ID)
	if err != nil {
		return err
	}
	at := Present{forgotten: u.forgotten, InRef: ref != nil}
	if ref != nil {
		at.Dir = ref.dir
	} else {
		if err := u.begin(ctx); err != nil {
			return err
		}
		if at.Dir, err = u.onBranch(ctx, change.ID); err != nil {
			return err
		}
	}
	next, message, err := change.Next(ctx, at)
	if err != nil || next == at.Dir {
		return err
	}
	if ref == nil {
		edit := git.TreeEdit{Path: change.ID.Dir()}
		if next != "" {
			edit.Mode, edit.OID = git.ModeTree, next
		}
		tree, err := git.EditTree(ctx, u.repo, u.tree, []git.TreeEdit{edit})
		if err != nil {
			return err
		}
		return u.commit(tree, message)
	}
	if ref.dir = next; next == "" {
		ref.last = ""
		return nil
	}
	c := git.Commit{Tree: next, Author: u.by, Committer: u.by, Message: message}
	if ref.last != "" {
		c.Parents = []git.OID{ref.last}
	}
	ref.last, err = u.repo.WriteCommit(c)
	return err
}

// find returns the ref in which the checkpoint is changed, nil if that is the metadata branch.
func (u *update) find(ctx context.Context, id ID) (*refUpdate, error) {
	if ref := u.refs[id]; ref != nil {
		return ref, nil
	}
	if !id.IsULID() && u.order == BranchesFirst {
		if err := u.begin(ctx); err != nil {
			return nil, err
		}
		if dir, err := u.onBranch(ctx, id); err != nil || dir != "" {
			return nil, err
		}
	}
	tip, found, err := git.RefCommit(ctx, u.repo, id.Ref())
	if err != nil || !found && !id.IsULID() {
		return nil, err
	}
	ref := &refUpdate{old: tip.OID, last: tip.OID, dir: tip.Tree}
	u.refs[id] = ref
	return ref, nil
}

// onBranch returns the checkpoint's directory on the metadata branch, "" if it has none.
func (u *update) onBranch(ctx context.Context, id ID) (git.OID, error) {
	entry, found, err := git.LookupPath(ctx, u.repo, u.tree, id.Dir())
	if err != nil || !found || entry.Mode != git.ModeTree {
		return "", err
	}
	return entry.OID, nil
}

// forgotten returns what the metadata branch lists as forgotten.
func (u *update) forgotten(ctx context.Context) (Forgotten, error) {
	if u.listed != nil {
		return *u.listed, nil
	}
	tree := u.tree
	if u.parent == "" {
		tip, _, err := findTip(ctx, u.repo)
		if errors.Is(err, ErrNotFound) {
			return Forgotten{}, nil
		}
		if err != nil {
			return Forgotten{}, err
		}
		tree = tip.Tree
	}
	list, err := ForgottenIn(ctx, u.repo, tree)
	if err == nil {
		u.listed = &list
	}
	return list, err
}

// move moves the refs.
func (u *update) move(ctx context.Context, extra []git.RefChange) error {
	updates := slices.Clip(extra)
	if u.last != u.parent {
		updates = append(updates, git.RefChange{Name: MetadataBranch, New: u.last, Old: u.tip})
	}
	var queue []string
	for _, id := range slices.Sorted(maps.Keys(u.refs)) {
		if ref := u.refs[id]; ref.last != ref.old {
			updates = append(updates, git.RefChange{Name: id.Ref(), New: ref.last, Old: ref.old})
			if ref.last != "" {
				queue = append(queue, id.Ref())
			}
		}
	}
	if len(updates) == 0 {
		return nil
	}
	if err := Enqueue(ctx, u.repo.CommonDir, queue...); err != nil {
		return err
	}
	return git.UpdateRefs(ctx, u.repo, "entire: checkpoint", updates)
}

// persist repeats try while other processes move the branch, unless they moved an extra ref.
func persist(ctx context.Context, repo *git.Repo, extra []git.RefChange, try func() (git.OID, error)) (git.OID, error) {
	for attempt := 0; ; attempt++ {
		tip, err := try()
		if err == nil {
			return tip, nil
		}
		raced := errors.Is(err, git.ErrRefMoved) || errors.Is(err, git.ErrRefLocked)
		if attempt == retries || !raced || moved(ctx, repo, extra) {
			return "", fmt.Errorf("update checkpoints: %w", err)
		}
		if err := pause(ctx, backoff<<attempt); err != nil {
			return "", fmt.Errorf("update checkpoints: %w", err)
		}
	}
}

// moved reports whether one of the refs differs from the old value in its update.
func moved(ctx context.Context, repo *git.Repo, updates []git.RefChange) bool {
	for _, u := range updates {
		object, err := repo.Read(ctx, u.Name)
		if err != nil && !errors.Is(err, git.ErrMissing) || object.OID != u.Old {
			return true
		}
	}
	return false
}

// pause waits for a random time up to limit, so that two processes that collided don't collide
// again.
func pause(ctx context.Context, limit time.Duration) error {
	timer := time.NewTimer(rand.N(limit)) //nolint:gosec // a jitter is no secret
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// UserRefs returns the arguments with which git log starts from all refs, including those of
// remotes, except the program's own.
func UserRefs() []string {
	return []string{"--exclude=refs/heads/entire/*", "--exclude=refs/remotes/*/entire/*", "--exclude=refs/entire/*", "--all"}
}
