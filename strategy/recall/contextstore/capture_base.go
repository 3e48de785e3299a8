package contextstore

import (
	"bytes"
	"context"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// baseTree is the tree of the commit at the session's start.
type baseTree struct {
	repo   *git.Repo
	commit string // empty for none
	// oid is the tree of the commit, valid once read is set.
	oid  git.OID
	read bool
	// unknown is set if the base exists but can't be read.
	unknown bool
}

// place looks up the path in the base.
func (b *baseTree) place(ctx context.Context, s *observation) error {
	if !b.read {
		b.read = true
		if b.commit != "" {
			c, err := b.repo.Commit(ctx, b.commit)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			b.oid, b.unknown = c.Tree, err != nil
		}
	}
	if b.oid == "" {
		return nil
	}
	e, found, err := git.LookupPath(ctx, b.repo, b.oid, s.path)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // damaged
		b.unknown = true
		return nil //nolint:nilerr // unknown is what callers need
	}
	s.base, s.inBase = e, found && e.Mode != git.ModeTree
	return nil
}

// isBuilt reports whether a path that is not in the base is below a folder of builds or
// package managers that is not in the base either.
func (b *baseTree) isBuilt(ctx context.Context, path string) (bool, error) {
	for i, c := range path {
		if c != '/' || !isBuildFolder(path[strings.LastIndexByte(path[:i], '/')+1:i]) {
			continue
		}
		if b.oid == "" {
			return true, nil
		}
		_, found, err := git.LookupPath(ctx, b.repo, b.oid, path[:i])
		if err != nil || !found {
			return err == nil, err
		}
	}
	return false, nil
}

// content returns the content of a path in the base, or nil if it is missing, not text, or
// larger than limit.
func (b *baseTree) content(ctx context.Context, s *observation, limit int64) []byte {
	if !s.inBase || s.base.Mode != git.ModeFile && s.base.Mode != git.ModeExec {
		return nil
	}
	object, err := b.repo.Read(ctx, string(s.base.OID))
	if err != nil || int64(len(object.Data)) > limit || isBinary(object.Data) {
		return nil
	}
	if object.Data == nil {
		return []byte{}
	}
	return object.Data
}

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
