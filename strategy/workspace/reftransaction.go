package workspace

import (
	"context"
	"errors"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
)

// RefTransaction collects changes of refs that are made together. Each ref must
// still have the value that the transaction has read.
type RefTransaction struct {
	repo   *git.Repo
	before map[string]git.OID
	after  map[string]git.OID
}

// NewRefTransaction returns a transaction without changes.
func NewRefTransaction(repo *git.Repo) *RefTransaction {
	return &RefTransaction{repo: repo, before: map[string]git.OID{}, after: map[string]git.OID{}}
}

// Get returns the value of a ref with the changes so far, empty if it doesn't exist.
func (r *RefTransaction) Get(ctx context.Context, name string) (git.OID, error) {
	if oid, ok := r.after[name]; ok {
		return oid, nil
	}
	c, err := r.repo.Commit(ctx, name)
	if err != nil && !errors.Is(err, git.ErrMissing) {
		return "", err
	}
	r.before[name], r.after[name] = c.OID, c.OID
	return c.OID, nil
}

// Set changes a ref; the empty id removes it.
func (r *RefTransaction) Set(ctx context.Context, name string, oid git.OID) error {
	if _, err := r.Get(ctx, name); err != nil {
		return err
	}
	r.after[name] = oid
	return nil
}

// Updates returns the changes, ordered by name.
func (r *RefTransaction) Updates() []git.RefChange {
	var list []git.RefChange
	for name, oid := range r.after {
		if oid != r.before[name] {
			list = append(list, git.RefChange{Name: name, New: oid, Old: r.before[name]})
		}
	}
	slices.SortFunc(list, func(a, b git.RefChange) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return list
}
