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
		f.Head, f.Tracked = string(w.Head), w.trackedAs(ctx, path, f)
		w.taken.Files[path] = f
	}
}

// trackedAs returns how a file compares with HEAD's tree, empty if that is unknown: for a
// file that was not read, and where git stores something else than the file's bytes.
func (w *capturing) trackedAs(ctx context.Context, path string, f Captured) recall.Tracked {
	if w.Head == "" || f.Own == "" && f.Omitted != recall.Gone {
		return ""
	}
	e, found, err := gittree.Lookup(ctx, w.Repo, w.Head, path)
	switch {
	case err != nil:
		return ""
	case f.Omitted == recall.Gone && !found, found && string(e.OID) == f.Own:
		return recall.Committed
	case found && f.Own != "" && w.filtered(ctx, e):
		return ""
	}
	return recall.Uncommitted
}

// filtered reports whether git stores a file in another form: as a pointer of a filter.
func (w *capturing) filtered(ctx context.Context, e git.TreeEntry) bool {
	object, err := w.Repo.Read(ctx, string(e.OID))
	return err != nil || bytes.HasPrefix(object.Data, []byte("version https://git-lfs"))
}
