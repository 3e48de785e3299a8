package capture

import (
	"bytes"
	"context"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
	"github.com/seed-3aff656d/entire/internal/recall"
)

// track compares the files with HEAD's tree. A file that was compared with the same tree
// is not looked up again.
func (w *capturing) track(ctx context.Context) {
	for path, f := range w.taken.Files {
		if ctx.Err() != nil {
			return
		}
		if f.Head == string(w.Head) && f.Head != "" {
			continue
		}
		f.Head, f.Tracked = string(w.Head), w.head.compare(ctx, path, f)
		w.taken.Files[path] = f
	}
}

// headTree is HEAD's tree.
type headTree struct {
	repo *git.Repo
	oid  git.OID // empty for none
}

// has reports whether HEAD has the file, so that git does not ignore it.
func (h headTree) has(ctx context.Context, path string) bool {
	if h.oid == "" {
		return false
	}
	_, found, err := gittree.Lookup(ctx, h.repo, h.oid, path)
	return err == nil && found
}

// compare returns how a file compares with the tree, empty if that is unknown: for a
// file that was not read, and where git stores something else than the file's bytes.
func (h headTree) compare(ctx context.Context, path string, f Captured) recall.Tracked {
	if h.oid == "" || f.Own == "" && f.Omitted != recall.Gone {
		return ""
	}
	e, found, err := gittree.Lookup(ctx, h.repo, h.oid, path)
	switch {
	case err != nil:
		return ""
	case f.Omitted == recall.Gone && !found, found && string(e.OID) == f.Own:
		return recall.Committed
	case found && f.Own != "" && h.filtered(ctx, e):
		return ""
	}
	return recall.Uncommitted
}

// filtered reports whether git stores a file in another form: as a pointer of a filter.
func (h headTree) filtered(ctx context.Context, e git.TreeEntry) bool {
	object, err := h.repo.Read(ctx, string(e.OID))
	return err != nil || bytes.HasPrefix(object.Data, []byte("version https://git-lfs"))
}
