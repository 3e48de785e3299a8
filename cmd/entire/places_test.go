package main

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// unknownPlaces returns the program's files and refs that no place of strategy/workspace/places.go
// has. A folder with other places below it has only its own files.
func unknownPlaces(tb testkit.TB, r *testkit.Repo) []string {
	repo, worktrees := opened(tb, r)
	known := workspace.Folders(repo, 0, worktrees...)
	isKnown := func(file string) bool {
		return slices.ContainsFunc(known, func(dir string) bool {
			inner := func(other string) bool { return strings.HasPrefix(other, dir+string(filepath.Separator)) }
			return file == dir || filepath.Dir(file) == dir || inner(file) && !slices.ContainsFunc(known, inner)
		})
	}
	roots := disk.Glob(repo.CommonDir, "entire*")
	for _, w := range worktrees {
		roots = append(roots, disk.Glob(filepath.Join(repo.CommonDir, "worktrees", w.ID), "entire*")...)
		roots = append(roots, filepath.Join(w.Root, ".entire"))
	}
	var unknown []string
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && !isKnown(file) {
				unknown = append(unknown, file)
			}
			return nil
		})
	}
	for name := range strings.FieldsSeq(r.Git("for-each-ref", "--format=%(refname)")) {
		isRow := func(row string) bool {
			is, _ := path.Match(row, name)
			return is || strings.HasPrefix(name, row)
		}
		if slices.Contains(strings.Split(name, "/"), "entire") && !slices.ContainsFunc(workspace.Refs(0), isRow) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// cmdUninstalled asserts that nothing is left in the places that uninstalling removes.
func cmdUninstalled(s *story, _ []string) {
	repo, worktrees := opened(scriptTB{s.ts}, s.repo())
	var left []string
	for _, dir := range workspace.Folders(repo, workspace.Own, worktrees...) {
		left = append(left, disk.Glob(filepath.Dir(dir), filepath.Base(dir))...)
	}
	for name := range strings.FieldsSeq(s.repo().Git(append([]string{"for-each-ref", "--format=%(refname)"}, workspace.Refs(workspace.Own)...)...)) {
		if name != checkpoint.MetadataBranch && !strings.HasPrefix(name, checkpoint.CheckpointRefs) {
			left = append(left, name)
		}
	}
	s.equal("left", left, nil)
}

func opened(tb testkit.TB, r *testkit.Repo) (*git.Repo, []git.Worktree) {
	repo, err := git.Discover(git.Locate{Dir: r.Dir, Environ: r.Env})
	if err != nil {
		tb.Fatalf("%v", err)
	}
	_ = repo.Close()
	return repo, git.Worktrees(repo)
}
