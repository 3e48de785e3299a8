package contextstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// commits accesses the saved contexts in git: their refs and the objects reachable from
// them.
type commits struct{ repo *git.Repo }

func (s Store) commits() commits { return commits{s.Repo} }

// all returns the commits of all contexts, by id.
func (c commits) all(ctx context.Context) (map[string]git.OID, error) {
	list, err := git.ListRefs(ctx, c.repo, Refs)
	if err != nil {
		return nil, err
	}
	refs := make(map[string]git.OID, len(list))
	for _, ref := range list {
		if id, _ := strings.CutPrefix(ref.Name, Refs); IsID(id) {
			refs[id] = ref.OID
		}
	}
	return refs, nil
}

// load reads the context id.
func (c commits) load(ctx context.Context, id string) (*stored, error) {
	if !IsID(id) {
		return nil, recall.ErrNotFound
	}
	commit, err := c.repo.Commit(ctx, Refs+id)
	if err != nil {
		refs, failed := git.ListRefs(ctx, c.repo, Refs+id)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case failed != nil:
			return nil, errors.Join(err, failed)
		case len(refs) == 0:
			return nil, recall.ErrNotFound
		}
		return nil, damage(ctx, err)
	}
	d, err := c.loadAt(ctx, id, commit.Tree)
	if err != nil {
		return nil, err
	}
	d.oid, d.tree = commit.OID, commit.Tree
	return d, nil
}

// loadAt reads a context from oid, the commit of its ref or the commit's tree.
func (c commits) loadAt(ctx context.Context, id string, oid git.OID) (*stored, error) {
	object, err := c.repo.ReadWithin(ctx, string(oid)+":"+metadataName, maxMetadata)
	if err == nil {
		var d *stored
		if d, err = decode(object.Data, id, c.repo.Format); err == nil {
			d.oid = oid
			return d, nil
		}
	}
	return nil, damage(ctx, err)
}

// blobs returns the blobs of a context's tree.
func (c commits) blobs(ctx context.Context, id string) ([]git.OID, error) {
	d, err := c.load(ctx, id)
	if err != nil {
		return nil, err
	}
	var oids []git.OID
	todo := []git.OID{d.tree}
	for len(todo) > 0 {
		entries, err := c.repo.Tree(ctx, todo[0])
		if err != nil {
			return nil, damage(ctx, err)
		}
		todo = todo[1:]
		for _, e := range entries {
			if e.Mode == git.ModeTree {
				todo = append(todo, e.OID)
			} else {
				oids = append(oids, e.OID)
			}
		}
	}
	return oids, nil
}

// storeFiles sets the files of d, and writes the contents that are not objects yet. A file
// whose object is missing is kept without content, with a warning.
func (c commits) storeFiles(ctx context.Context, d *stored, files map[string]recall.File) error {
	d.State.Files = make(map[string]storedFile, len(files))
	var loose []git.OID
	for _, path := range slices.Sorted(maps.Keys(files)) {
		f := files[path]
		f.Path = strings.ToValidUTF8(cmp.Or(f.Path, path), "\uFFFD")
		if _, twice := d.State.Files[f.Path]; twice {
			d.Warnings = append(slices.Clip(d.Warnings), f.Path+": another file has the same visible name")
			continue
		}
		blob := ""
		switch {
		case f.Omitted != "":
		case c.repo.Format.Valid(git.OID(f.Blob)):
			blob = f.Blob
		default:
			oid, err := c.repo.WriteBlob([]byte(f.Content))
			if err != nil {
				return err
			}
			blob = string(oid)
		}
		if blob != "" && !c.repo.Loose.Keep(git.OID(blob)) {
			loose = append(loose, git.OID(blob))
		}
		d.State.Files[f.Path] = storedFile{File: f, Blob: blob}
	}
	gone, err := git.MissingObjects(ctx, c.repo, loose)
	if err != nil {
		return err
	}
	for path, f := range d.State.Files {
		if slices.Contains(gone, git.OID(f.Blob)) {
			f.Blob, f.Omitted = "", recall.Unreadable
			d.State.Files[path] = f
			d.Warnings = append(slices.Clip(d.Warnings), path+": its stored content is lost")
		}
		if f.Blob != "" {
			d.State.TotalSize += f.Size
		}
	}
	return nil
}

// damage wraps err, the failure to read an existing object, with ErrDamaged, unless ctx
// ended.
func damage(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, recall.ErrDamaged):
		return err
	}
	return fmt.Errorf("%w: %w", recall.ErrDamaged, err)
}
