package contextstore

import (
	"bytes"
	"context"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// headTree is HEAD's tree.
type headTree struct {
	repo *git.Repo
	oid  git.OID // empty for none
}

// has reports whether HEAD has the file; git does not ignore such a file.
func (h headTree) has(ctx context.Context, path string) bool {
	if h.oid == "" {
		return false
	}
	_, found, err := git.LookupPath(ctx, h.repo, h.oid, path)
	return err == nil && found
}

// compare compares a file with the tree. The result is empty if it is unknown: for a file
// that was not read, or if git stores something other than the file's bytes.
func (h headTree) compare(ctx context.Context, path string, f Captured) recall.Tracked {
	if h.oid == "" || f.Own == "" && f.Omitted != recall.Gone {
		return ""
	}
	e, found, err := git.LookupPath(ctx, h.repo, h.oid, path)
	switch {
	case err != nil:
		return ""
	case f.Omitted == recall.Gone && !found, found && string(e.OID) == f.Own:
		return recall.Committed
	case found && f.Own != "":
		// Git may store the file in another form, such as the pointer of a filter.
		object, err := h.repo.Read(ctx, string(e.OID))
		if err != nil || bytes.HasPrefix(object.Data, []byte("version https://git-lfs")) {
			return ""
		}
	}
	return recall.Uncommitted
}
