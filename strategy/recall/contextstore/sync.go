package contextstore

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/catalog"
)

// rowWait is the maximum time to wait for the catalog, whose rows can be rebuilt from the
// refs.
const rowWait = 200 * time.Millisecond

// errNoCatalog means that the store has no catalog.
var errNoCatalog = errors.New("no catalog")

// index is the open catalog restricted to one repository.
type index struct {
	c          *catalog.Catalog
	repository string
}

func (s Store) withIndex(ctx context.Context, work func(i index) error) error {
	if s.Catalog == nil {
		return errNoCatalog
	}
	within, stop := context.WithTimeout(ctx, rowWait)
	defer stop()
	c, err := s.Catalog(within)
	if err != nil {
		return err
	}
	return errors.Join(work(index{c, s.Repo.CommonDir}), c.Close())
}

func (i index) set(ctx context.Context, change catalog.ContextChange) error {
	within, stop := context.WithTimeout(ctx, rowWait)
	defer stop()
	return i.c.SetContexts(within, i.repository, change)
}

func (i index) list(ctx context.Context, f catalog.ContextFilter) ([]catalog.Context, error) {
	within, stop := context.WithTimeout(ctx, rowWait)
	defer stop()
	return i.c.Contexts(within, i.repository, f)
}

// Forget removes the rows of this repository from the catalog.
func (s Store) Forget(ctx context.Context) error {
	return s.withIndex(ctx, func(i index) error { return i.c.DropContexts(ctx, i.repository) })
}

// note writes the rows of contexts changed since the stamp before. If that fails, the next
// reader detects a different stamp.
func (s Store) note(ctx context.Context, before stamp, change catalog.ContextChange) {
	now := stampOf(s.Repo)
	names := before.names
	for _, r := range change.Put {
		if !before.has[r.ID] {
			names += hashName(r.ID)
		}
	}
	for _, id := range change.Drop {
		if before.has[id] {
			names -= hashName(id)
		}
	}
	// If no other process has changed a context meanwhile, the rows stay current.
	if before.has != nil && now.names == names && now.packed == before.packed {
		change.Stamp, change.After = now.String(), before.String()
	}
	_ = s.withIndex(ctx, func(i index) error { return i.set(ctx, change) })
}

// rows returns the rows that the filter selects, the newest first. It first updates the
// rows in the catalog that differ from the refs.
func (s Store) rows(ctx context.Context, f catalog.ContextFilter) ([]catalog.Context, error) {
	at := stampOf(s.Repo)
	if at.has != nil && at.folder == "-" && at.packed == "-" {
		return nil, nil // no context has ever been saved, so don't open the catalog
	}
	now := at.String()
	var list []catalog.Context
	err := s.withIndex(ctx, func(i index) error {
		noted, err := i.c.ContextStamp(ctx, i.repository)
		if err != nil {
			return err
		}
		if noted != now {
			change, err := s.compare(ctx, i)
			if err != nil {
				return err
			}
			change.Stamp = now
			// A failure to write only the stamp is not an error: the refs are compared
			// again the next time.
			if err := i.set(ctx, change); err != nil && len(change.Put)+len(change.Drop) > 0 {
				list, err = i.without(ctx, change, f)
				return err
			}
			if noted == "" {
				i.dropGone(ctx)
			}
		}
		list, err = i.list(ctx, f)
		return err
	})
	if err == nil {
		return list, nil
	}
	// Without the catalog, build the rows from the refs.
	refs, err := s.commits().all(ctx)
	if err != nil {
		return nil, err
	}
	list = nil
	for _, id := range slices.Sorted(maps.Keys(refs)) {
		d, err := s.commits().loadAt(ctx, id, refs[id])
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			continue // damaged
		}
		list = append(list, rowOf(d))
	}
	return selected(list, f), nil
}

// compare returns the change that makes the rows agree with the refs.
func (s Store) compare(ctx context.Context, i index) (catalog.ContextChange, error) {
	var change catalog.ContextChange
	refs, err := s.commits().all(ctx)
	if err != nil {
		return change, err
	}
	known, err := i.c.ContextOIDs(ctx, i.repository)
	if err != nil {
		return change, err
	}
	for id, oid := range refs {
		if known[id] == string(oid) {
			continue
		}
		d, err := s.commits().loadAt(ctx, id, oid)
		switch {
		case ctx.Err() != nil:
			return change, ctx.Err()
		case err == nil:
			change.Put = append(change.Put, rowOf(d))
		case known[id] != "":
			change.Drop = append(change.Drop, id) // unreadable now
		}
	}
	for id := range known {
		if _, there := refs[id]; !there {
			change.Drop = append(change.Drop, id)
		}
	}
	return change, nil
}

// without returns the rows with a change applied that could not be written.
func (i index) without(ctx context.Context, change catalog.ContextChange, f catalog.ContextFilter) ([]catalog.Context, error) {
	all, err := i.list(ctx, catalog.ContextFilter{Words: f.Words})
	if err != nil {
		return nil, err
	}
	stale := map[string]bool{}
	for _, r := range change.Put {
		stale[r.ID] = true
	}
	for _, id := range change.Drop {
		stale[id] = true
	}
	all = slices.DeleteFunc(all, func(r catalog.Context) bool { return stale[r.ID] })
	return selected(append(all, change.Put...), f), nil
}

// dropGone removes the rows of repositories that no longer exist.
func (i index) dropGone(ctx context.Context) {
	list, _ := i.c.ContextRepositories(ctx)
	for _, dir := range list {
		if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
			_ = i.c.DropContexts(ctx, dir)
		}
	}
}

// selected returns the rows that the filter selects, the newest first.
func selected(list []catalog.Context, f catalog.ContextFilter) []catalog.Context {
	is := func(want, has string) bool { return want == "" || want == has }
	list = slices.DeleteFunc(list, func(r catalog.Context) bool {
		return !is(f.Worktree, r.Worktree) || !is(f.Branch, r.Branch) || !is(f.Session, r.Session) || !is(f.Status, r.Status) ||
			slices.ContainsFunc(f.Words, func(w string) bool { return !strings.Contains(r.Text, w) })
	})
	slices.SortFunc(list, func(a, b catalog.Context) int {
		return cmp.Or(cmp.Compare(b.Order, a.Order), strings.Compare(b.ID, a.ID))
	})
	if f.Limit > 0 && len(list) > f.Limit {
		list = list[:f.Limit]
	}
	return list
}
