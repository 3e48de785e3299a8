package contextstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// observation is the information about a path before it is read.
type observation struct {
	path   string
	stat   dirfd.Stat
	kind   fileKind
	mark   string // Captured.Stat, if it is the same after reading
	nested string // the root of the nested repository that contains it, if any

	known   Captured
	had     bool // known is valid
	omitted recall.Omitted
	// base is the entry of the path in the base, if inBase.
	base   git.TreeEntry
	inBase bool
	placed bool // base, nested and omitted are set
}

type fileKind int

const (
	missing fileKind = iota
	regular
	link
	odd // of another type, or not readable
)

// goneMark is the mark of a missing file.
const goneMark = "gone"

// place looks up the files in the base, and marks new files that git ignores or a build
// made.
func (w *capturing) place(ctx context.Context, todo []*observation) error {
	var fresh []string
	nested := map[string][]string{}
	for _, s := range todo {
		if err := w.base.place(ctx, s); err != nil {
			return err
		}
		if !w.Limits.Contents || s.kind != regular || s.omitted != "" || s.inBase || s.nested == "" && w.base.unknown {
			continue // in the base, or its content is not kept
		}
		if s.nested != "" {
			nested[s.nested] = append(nested[s.nested], s.path)
			continue
		}
		built, err := w.base.isBuilt(ctx, s.path)
		switch {
		case err != nil:
			return err
		case built:
			s.omitted = recall.BuildMade
		case !w.Unignored[s.path] && !w.head.has(ctx, s.path):
			fresh = append(fresh, s.path)
		}
	}
	// If git fails, all are treated as ignored.
	ignored := map[string]bool{}
	list, err := git.IgnoredPaths(ctx, w.Repo, fresh)
	if err != nil {
		w.taken.Warnings = append(w.taken.Warnings, "can't list ignored files: contents of new files are not kept")
		list = fresh
	}
	for _, path := range list {
		ignored[path] = true
	}
	for root, paths := range nested {
		list, err := ignoredIn(ctx, w.Repo, root, paths)
		if err != nil {
			w.taken.Warnings = append(w.taken.Warnings, fmt.Sprintf("can't list ignored files in %.100q: contents of its files are not kept", root))
			list = paths
		}
		for _, path := range list {
			ignored[path] = true
		}
	}
	for _, s := range todo {
		s.placed = s.kind != missing
		if ignored[s.path] {
			s.omitted = recall.Ignored
		}
	}
	return nil
}

// ignoredIn returns the paths that the repository at root ignores. All paths are relative
// to outer.
func ignoredIn(ctx context.Context, outer *git.Repo, root string, paths []string) (list []string, err error) {
	repo, err := outer.Below(root)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	asked := make([]string, len(paths))
	for i, path := range paths {
		asked[i] = strings.TrimPrefix(path, root+"/")
	}
	names, err := git.IgnoredPaths(ctx, repo, asked)
	for _, name := range names {
		list = append(list, root+"/"+name)
	}
	return list, err
}
