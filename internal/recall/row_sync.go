package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/catalog"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

// errNoCatalog means that the store has none.
var errNoCatalog = errors.New("no catalog")

// index is the open catalog, for one repository, with which nobody waits long.
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

// Forget removes what the catalog has of this repository.
func (s Store) Forget(ctx context.Context) error {
	return s.withIndex(ctx, func(i index) error { return i.c.DropContexts(ctx, i.repository) })
}

// note writes rows. It is no harm if that fails: the next who looks sees that
// they don't agree with the refs.
func (s Store) note(ctx context.Context, change catalog.ContextChange) {
	_ = s.withIndex(ctx, func(i index) error { return i.set(ctx, change) })
}

// rows are those that the filter selects, the newest first: from the catalog as
// far as that agrees with the refs.
func (s Store) rows(ctx context.Context, f catalog.ContextFilter) ([]catalog.Context, error) {
	stamp, settled := s.stamp()
	var list []catalog.Context
	err := s.withIndex(ctx, func(i index) error {
		noted, err := i.c.ContextStamp(ctx, i.repository)
		if err != nil {
			return err
		}
		if noted != stamp {
			change, err := s.compare(ctx, i)
			if err != nil {
				return err
			}
			change.Stamp, change.Stamped = stamp, settled
			if err := i.mend(ctx, change); err != nil {
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
	return s.readRows(ctx, f)
}

// compare finds what has to be written for the rows to agree with the refs.
func (s Store) compare(ctx context.Context, i index) (catalog.ContextChange, error) {
	var change catalog.ContextChange
	refs, err := s.refs(ctx)
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
		d, err := s.loadAt(ctx, id, oid)
		switch {
		case ctx.Err() != nil:
			return change, ctx.Err()
		case err == nil:
			change.Put = append(change.Put, rowOf(d))
		case known[id] != "":
			change.Drop = append(change.Drop, id) // it can't be read any more
		}
	}
	for id := range known {
		if _, there := refs[id]; !there {
			change.Drop = append(change.Drop, id)
		}
	}
	return change, nil
}

// mend writes the change. That only the stamp can't be written is no error.
func (i index) mend(ctx context.Context, change catalog.ContextChange) error {
	wrong := len(change.Put)+len(change.Drop) > 0
	if !wrong && !change.Stamped {
		return nil
	}
	if err := i.set(ctx, change); wrong {
		return err
	}
	return nil
}

// without is what the rows would be with the change, which can't be written.
func (i index) without(ctx context.Context, change catalog.ContextChange, f catalog.ContextFilter) ([]catalog.Context, error) {
	all, err := i.list(ctx, catalog.ContextFilter{Texts: f.Texts})
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

// dropGone removes what the catalog has of repositories that are no longer there.
func (i index) dropGone(ctx context.Context) {
	list, _ := i.c.ContextRepositories(ctx)
	for _, dir := range list {
		if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
			_ = i.c.DropContexts(ctx, dir)
		}
	}
}

// readRows makes rows from the refs, without the catalog.
func (s Store) readRows(ctx context.Context, f catalog.ContextFilter) ([]catalog.Context, error) {
	refs, err := s.refs(ctx)
	if err != nil {
		return nil, err
	}
	var list []catalog.Context
	for _, id := range slices.Sorted(maps.Keys(refs)) {
		d, err := s.loadAt(ctx, id, refs[id])
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

// selected are those of list that the filter selects.
func selected(list []catalog.Context, f catalog.ContextFilter) []catalog.Context {
	is := func(want, has string) bool { return want == "" || want == has }
	list = slices.DeleteFunc(list, func(r catalog.Context) bool {
		return !is(f.Worktree, r.Worktree) || !is(f.Branch, r.Branch) || !is(f.Session, r.Session) || !is(f.Status, r.Status)
	})
	slices.SortFunc(list, newestFirst)
	if f.Limit > 0 && len(list) > f.Limit {
		list = list[:f.Limit]
	}
	return list
}

func newestFirst(a, b catalog.Context) int {
	return cmp.Or(cmp.Compare(b.Order, a.Order), strings.Compare(b.ID, a.ID))
}

// loadAt reads what the checkpoint's ref named when it was looked at.
func (s Store) loadAt(ctx context.Context, id string, oid git.OID) (*stored, error) {
	commit, err := s.Repo.Commit(ctx, string(oid))
	if err != nil {
		return nil, damage(ctx, err)
	}
	return s.loadCommit(ctx, id, commit)
}

// stamp is what changes with every change of a ref of ours: the data of the
// folder that the refs are in, into which git renames a file with each change,
// and of the file of packed refs. settled says that it would differ after any
// change that is still to come.
func (s Store) stamp() (stamp string, settled bool) {
	paths := []string{"packed-refs", filepath.FromSlash(strings.TrimSuffix(Refs, "/"))}
	if s.Repo.RefStorage != "files" {
		paths = []string{filepath.Join("reftable", "tables.list")}
	}
	parts := make([]string, len(paths))
	before := s.Now().Add(-settledAge)
	settled = true
	for i, path := range paths {
		info, err := os.Lstat(filepath.Join(s.Repo.CommonDir, path))
		if err != nil {
			parts[i] = "-"
			settled = settled && errors.Is(err, os.ErrNotExist)
			continue
		}
		settled = settled && info.ModTime().Before(before)
		parts[i] = fmt.Sprintf("%d.%d.%s", info.ModTime().UnixNano(), info.Size(), disk.Inode(info))
	}
	return strings.Join(parts, " "), settled
}
