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
	// Imported adds the checkpoint to ImportedRef if it is new and its id has hex digits.
	Imported bool
}

// Present is what a repository has of a checkpoint.
type Present struct {
	// Dir is the tree of its directory, empty if it doesn't exist.
	Dir git.OID
	// InRef reports that the checkpoint has, or gets, a ref of its own.
	InRef bool

	forgotten func(ctx context.Context) (Forgotten, error)
}

// IsForgotten reports whether the repository, or its metadata branch, lists the session or the checkpoint as
// forgotten.
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

// Update applies the changes, one commit for each, and moves the metadata branch, ImportedRef, the refs of
// checkpoints and the extra refs in one transaction. A checkpoint is changed where it is read in this
// order; a new one gets a ref if its id is a ULID, else it is added to the branch, or to ImportedRef. The
// names of the refs of checkpoints are first added to the queue of the next push. Without any commit the
// branch stays, and is not created. If another process moved one of the refs, the changes are applied
// again, at most five times.
// If an extra ref was moved, Update returns git.ErrRefMoved immediately and moves nothing.
func Update(ctx context.Context, repo *git.Repo, order Order, by git.Signature, changes []Change, extra []git.RefChange) error {
	_, err := persist(ctx, repo, extra, func() (git.OID, error) {
		u := newUpdate(repo, order, by)
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
	return updateHistory(ctx, repo, by, change, func(u *update) *history { return &u.branch })
}

// UpdateImported is UpdateBranch for ImportedRef. It does nothing if the ref doesn't exist.
func UpdateImported(ctx context.Context, repo *git.Repo, by git.Signature, change BranchChange) error {
	if tip, err := ImportedTip(ctx, repo); err != nil || tip == "" {
		return err
	}
	return updateHistory(ctx, repo, by, change, func(u *update) *history { return &u.imported })
}

func updateHistory(ctx context.Context, repo *git.Repo, by git.Signature, change BranchChange, of func(*update) *history) error {
	_, err := persist(ctx, repo, nil, func() (git.OID, error) {
		u := newUpdate(repo, BranchesFirst, by)
		h := of(u)
		if err := u.begin(ctx, h); err != nil {
			return "", err
		}
		if h.parent == "" {
			if _, err := git.WriteTree(repo, nil); err != nil {
				return "", err
			}
		}
		next, message, err := change(ctx, h.tree)
		if err == nil {
			err = u.commit(h, next, message)
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

	branch, imported history
	refs             map[ID]*refUpdate
	listed           *Forgotten
}

// history is the update of a ref whose tree has many checkpoints.
type history struct {
	ref  string
	read bool
	// tip is the commit of the local ref, empty if there is none. The new commits follow parent; last and
	// tree are the last of them and its tree. They are set by begin.
	tip, parent, last, tree git.OID
}

// refUpdate is the update of the ref of a checkpoint.
type refUpdate struct{ old, last, dir git.OID }

func newUpdate(repo *git.Repo, order Order, by git.Signature) *update {
	return &update{
		repo: repo, order: order, by: by, refs: map[ID]*refUpdate{},
		branch: history{ref: MetadataBranch}, imported: history{ref: ImportedRef},
	}
}

// begin resolves a history: to the local ref, for the metadata branch else to the commit fetched from
// origin, which is continued. Without any the tree is empty.
func (u *update) begin(ctx context.Context, h *history) error {
	if h.read {
		return nil
	}
	var found git.Commit
	var local, exists bool
	var err error
	if h.ref == MetadataBranch {
		found, local, err = findTip(ctx, u.repo)
		if exists = err == nil; errors.Is(err, ErrNotFound) {
			err = nil
		}
	} else {
		found, exists, err = git.RefCommit(ctx, u.repo, h.ref)
		local = exists
	}
	if err != nil {
		return err
	}
	h.read, h.tree = true, u.repo.Format.EmptyTree()
	if exists {
		h.parent, h.last, h.tree = found.OID, found.OID, found.Tree
	}
	if local {
		h.tip = found.OID
	}
	return nil
}

// commit adds a commit with a tree to a history, unless it has this tree. The metadata branch begins with
// a commit of the empty tree.
func (u *update) commit(h *history, tree git.OID, message string) (err error) {
	if tree == h.tree {
		return nil
	}
	if h.last == "" && h.ref == MetadataBranch {
		first, err := git.WriteTree(u.repo, nil)
		if err == nil {
			h.last, err = u.repo.WriteCommit(git.Commit{Tree: first, Author: u.by, Committer: u.by, Message: initMessage})
		}
		if err != nil {
			return fmt.Errorf("begin %s: %w", h.ref, err)
		}
	}
	c := git.Commit{Tree: tree, Author: u.by, Committer: u.by, Message: message}
	if h.last != "" {
		c.Parents = []git.OID{h.last}
	}
	h.tree = tree
	h.last, err = u.repo.WriteCommit(c)
	return err
}

// apply applies a change where its checkpoint is.
func (u *update) apply(ctx context.Context, change Change) error {
	if _, err := ParseID(string(change.ID)); err != nil {
		return err
	}
	ref, in, err := u.find(ctx, change)
	if err != nil {
		return err
	}
	at := Present{forgotten: u.forgotten, InRef: ref != nil}
	if ref != nil {
		at.Dir = ref.dir
	} else if at.Dir, err = u.dirIn(ctx, in, change.ID); err != nil {
		return err
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
		tree, err := git.EditTree(ctx, u.repo, in.tree, []git.TreeEdit{edit})
		if err != nil {
			return err
		}
		return u.commit(in, tree, message)
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

// find returns where the checkpoint of a change is, or is added: in a ref, or in a history.
func (u *update) find(ctx context.Context, change Change) (*refUpdate, *history, error) {
	id := change.ID
	if ref := u.refs[id]; ref != nil {
		return ref, nil, nil
	}
	if !id.IsULID() && u.order == BranchesFirst {
		if dir, err := u.dirIn(ctx, &u.branch, id); err != nil || dir != "" {
			return nil, &u.branch, err
		}
	}
	tip, found, err := git.RefCommit(ctx, u.repo, id.Ref())
	if err != nil {
		return nil, nil, err
	}
	if found || id.IsULID() {
		ref := &refUpdate{old: tip.OID, last: tip.OID, dir: tip.Tree}
		u.refs[id] = ref
		return ref, nil, nil
	}
	if dir, err := u.dirIn(ctx, &u.branch, id); err != nil || dir != "" {
		return nil, &u.branch, err
	}
	dir, err := u.dirIn(ctx, &u.imported, id)
	if err != nil || dir != "" || change.Imported {
		return nil, &u.imported, err
	}
	return nil, &u.branch, nil
}

// dirIn returns the checkpoint's directory in a history, "" if it has none.
func (u *update) dirIn(ctx context.Context, h *history, id ID) (git.OID, error) {
	if err := u.begin(ctx, h); err != nil || h.tree == u.repo.Format.EmptyTree() {
		return "", err
	}
	entry, found, err := git.LookupPath(ctx, u.repo, h.tree, id.Dir())
	if err != nil || !found || entry.Mode != git.ModeTree {
		return "", err
	}
	return entry.OID, nil
}

// forgotten returns what the repository and its metadata branch list as forgotten.
func (u *update) forgotten(ctx context.Context) (Forgotten, error) {
	if u.listed != nil {
		return *u.listed, nil
	}
	if err := u.begin(ctx, &u.branch); err != nil {
		return Forgotten{}, err
	}
	tombs, err := LoadTombstones(u.repo.CommonDir)
	if err != nil {
		return Forgotten{}, err
	}
	list := tombs.Forgotten
	if u.branch.tree != u.repo.Format.EmptyTree() {
		listed, err := ForgottenIn(ctx, u.repo, u.branch.tree)
		if err != nil {
			return Forgotten{}, err
		}
		list = list.With(listed)
	}
	u.listed = &list
	return list, nil
}

// move moves the refs.
func (u *update) move(ctx context.Context, extra []git.RefChange) error {
	updates := slices.Clip(extra)
	for _, h := range []history{u.branch, u.imported} {
		if h.last != h.parent {
			updates = append(updates, git.RefChange{Name: h.ref, New: h.last, Old: h.tip})
		}
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
