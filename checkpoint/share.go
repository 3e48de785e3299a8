package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
)

// Share moves the checkpoints of ImportedRef to where new ones go, with the messages of their commits: to
// refs of their own, whose names are added to the queue of the next push, or by a merge to the metadata
// branch. In the same transaction it removes ImportedRef and moves the extra refs. A checkpoint that is
// there already keeps the sessions of both. What w lists as forgotten is left out. It returns the number of
// checkpoints that were on ImportedRef.
func Share(ctx context.Context, w *Rewriting, order Order, by git.Signature, extra []git.RefChange) (n int, err error) {
	tip, found, err := git.RefCommit(ctx, w.Repo, ImportedRef)
	if err != nil {
		return 0, fmt.Errorf("share imported checkpoints: %w", err)
	}
	if !found {
		return 0, git.UpdateRefs(ctx, w.Repo, "entire: share", extra)
	}
	ids, err := findInTree(ctx, w.Repo, tip.Tree, "")
	if err != nil {
		return 0, fmt.Errorf("share imported checkpoints: %w", err)
	}
	extra = append(slices.Clip(extra), git.RefChange{Name: ImportedRef, Old: tip.OID})
	if order == BranchesFirst {
		_, err = Merge(ctx, w, by, tip.OID, extra)
		return len(ids), err
	}
	if tip, err = w.rewritten(ctx, tip); err != nil {
		return 0, fmt.Errorf("share imported checkpoints: %w", err)
	}
	_, err = persist(ctx, w.Repo, extra, func() (git.OID, error) {
		s := sharing{repo: w.Repo, by: by, chains: map[ID]*refUpdate{}}
		if err := s.history(ctx, tip); err != nil {
			return "", err
		}
		changes, queue, err := s.changes(ctx, ids)
		if err != nil {
			return "", err
		}
		if err := Enqueue(ctx, w.Repo.CommonDir, queue...); err != nil {
			return "", err
		}
		return "", git.UpdateRefs(ctx, w.Repo, "entire: share", append(changes, extra...))
	})
	return len(ids), err
}

// sharing moves imported checkpoints to refs.
type sharing struct {
	repo   *git.Repo
	by     git.Signature
	chains map[ID]*refUpdate // the commits of each checkpoint
}

// history repeats the commits of ImportedRef for each checkpoint alone.
func (s *sharing) history(ctx context.Context, tip git.Commit) error {
	commits, err := git.Commits(ctx, s.repo, "--reverse", "--topo-order", string(tip.OID), "--")
	if err != nil {
		return err
	}
	for _, c := range commits {
		id, ok := SubjectID(c.Subject())
		if !ok {
			continue // it changed several: see below
		}
		if err := s.add(ctx, id, c.Tree, c); err != nil {
			return err
		}
	}
	ids, err := findInTree(ctx, s.repo, tip.Tree, "")
	if err != nil {
		return err
	}
	for _, id := range ids { // what commits changed that belong to no single checkpoint
		if err := s.add(ctx, id, tip.Tree, git.Commit{Author: s.by, Committer: s.by, Message: RecordSubject + string(id) + "\n"}); err != nil {
			return err
		}
	}
	return nil
}

// add adds a commit with a checkpoint as tree, a tree of ImportedRef, has it, unless the last commit has it.
func (s *sharing) add(ctx context.Context, id ID, tree git.OID, like git.Commit) error {
	at, err := ImportedSource(s.repo, tree).Locate(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	chain := s.chains[id]
	if chain == nil {
		chain = &refUpdate{}
		s.chains[id] = chain
	}
	dir, err := inOwnRef(ctx, s.repo, id, at.Dir)
	if err != nil || dir == chain.dir {
		return err
	}
	c := git.Commit{Tree: dir, Author: like.Author, Committer: like.Committer, Message: like.Message}
	if chain.last != "" {
		c.Parents = []git.OID{chain.last}
	}
	chain.dir = dir
	chain.last, err = s.repo.WriteCommit(c)
	return err
}

// changes returns the changes of the checkpoints' refs, and their names.
func (s *sharing) changes(ctx context.Context, ids []ID) (changes []git.RefChange, queue []string, err error) {
	branch, _, err := findTip(ctx, s.repo)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, nil, err
	}
	for _, id := range ids {
		chain := s.chains[id]
		if chain == nil {
			continue
		}
		ours, found, err := git.RefCommit(ctx, s.repo, id.Ref())
		if err != nil {
			return nil, nil, err
		}
		old := ours.OID
		if !found && branch.Tree != "" { // the ref is read before the branch
			if ours.OID, err = s.fromBranch(ctx, id, branch.Tree); err != nil {
				return nil, nil, err
			}
		}
		next := chain.last
		if ours.OID != "" {
			if next, err = MergeRef(ctx, s.repo, id, ours.OID, next); err != nil {
				return nil, nil, err
			}
		}
		if next != old {
			changes, queue = append(changes, git.RefChange{Name: id.Ref(), New: next, Old: old}), append(queue, id.Ref())
		}
	}
	return changes, queue, nil
}

// fromBranch returns a commit with the checkpoint that a tree of the metadata branch has, "" if it has none.
func (s *sharing) fromBranch(ctx context.Context, id ID, tree git.OID) (git.OID, error) {
	at, err := BranchSource(s.repo, tree).Locate(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	dir, err := inOwnRef(ctx, s.repo, id, at.Dir)
	if err != nil {
		return "", err
	}
	return s.repo.WriteCommit(git.Commit{Tree: dir, Author: s.by, Committer: s.by, Message: RecordSubject + string(id) + "\n"})
}

// inOwnRef returns the directory of a checkpoint as its own ref has it: with the paths in its summary from
// the root.
func inOwnRef(ctx context.Context, repo *git.Repo, id ID, dir git.OID) (git.OID, error) {
	d, err := directoryAt(ctx, repo, dir)
	if err != nil || len(d.slots) == 0 { // it was forgotten
		return dir, err
	}
	d.summarize(id, Present{InRef: true}.root(id), SummaryInfo{})
	return writeDirectory(repo, d)
}
