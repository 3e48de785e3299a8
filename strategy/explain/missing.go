package explain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitlog"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
)

// MissingOfCheckpoint returns the files that this clone lacks of the checkpoints whose ids begin
// with prefix.
func (r Reader) MissingOfCheckpoint(ctx context.Context, prefix string) ([]git.OID, error) {
	book, err := openRecord(ctx, r.Repo)
	if err != nil {
		return nil, err
	}
	ids, err := book.find(ctx, prefix)
	if err != nil {
		return nil, err
	}
	return book.missing(ctx, ids, false)
}

// MissingOfCommit returns the files that this clone lacks of the checkpoints that the commit names.
func (r Reader) MissingOfCommit(ctx context.Context, rev string) ([]git.OID, error) {
	book, err := openRecord(ctx, r.Repo)
	if err != nil {
		return nil, err
	}
	commit, err := r.Repo.Commit(ctx, rev)
	if err != nil {
		return nil, errors.Join(&NotFoundError{Kind: "commit", Name: rev}, unlessMissing(err))
	}
	return book.missing(ctx, checkpoint.IDsOf(commit), false)
}

// MissingOfList returns the files that this clone lacks for a list of the branch's checkpoints.
func (r Reader) MissingOfList(ctx context.Context) ([]git.OID, error) {
	book, err := openRecord(ctx, r.Repo)
	if err != nil {
		return nil, err
	}
	branch, err := gitref.HeadBranch(ctx, r.Repo)
	if err != nil {
		return nil, err
	}
	commits, err := commitFinder{r.Repo}.branchCommits(ctx, branch)
	if err != nil {
		return nil, err
	}
	ids, _ := idsOf(commits)
	return book.missing(ctx, ids, true)
}

// Gap is a part of the record or of the history that this clone lacks.
type Gap int

// The gaps.
const (
	NoGap Gap = iota
	// NoRecord means that commits name checkpoints, but no branch with checkpoints was fetched, as
	// in a clone of a single branch.
	NoRecord
	// NoContents means that a partial clone lacks contents of checkpoints.
	NoContents
	// NoHistory means that a shallow clone lacks commits.
	NoHistory
)

// Gap determines what this clone lacks, of several parts the first in the order of the constants.
func (r Reader) Gap(ctx context.Context) (Gap, error) {
	trees, err := checkpoint.Trees(ctx, r.Repo)
	if err != nil {
		return NoGap, err
	}
	if len(trees) == 0 {
		named, err := gitlog.Messages(ctx, r.Repo, checkpoint.TrailerKey+": ", "--branches", "--remotes", "HEAD")
		if err == nil && len(named) > 0 {
			return NoRecord, nil
		}
	}
	incomplete, err := r.incomplete(ctx)
	switch {
	case err != nil:
		return NoGap, err
	case incomplete:
		return NoContents, nil
	case gitlog.IsShallow(r.Repo):
		return NoHistory, nil
	}
	return NoGap, nil
}

// IsPartial reports whether a repository is a partial clone, which has a pack with a .promisor file.
func IsPartial(repo *git.Repo) (bool, error) {
	packs, err := os.ReadDir(filepath.Join(repo.CommonDir, "objects", "pack"))
	isMark := func(file os.DirEntry) bool { return strings.HasSuffix(file.Name(), ".promisor") }
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return slices.ContainsFunc(packs, isMark), err
}

// incomplete reports whether this clone lacks a file of any checkpoint. It asks git only in a
// partial clone.
func (r Reader) incomplete(ctx context.Context) (bool, error) {
	partial, err := IsPartial(r.Repo)
	if err != nil || !partial {
		return false, err
	}
	book, err := openRecord(ctx, r.Repo)
	if err != nil || len(book.trees) == 0 {
		return false, err
	}
	args := []string{"rev-list", "--objects", "--no-object-names", "--missing=print"}
	for _, tree := range book.trees {
		args = append(args, string(tree))
	}
	out, err := r.Repo.Run(ctx, args...)
	if err != nil {
		return false, fmt.Errorf("find what is missing: %w", err)
	}
	return strings.HasPrefix(string(out), "?") || strings.Contains(string(out), "\n?"), nil
}

// missing returns the blobs of the checkpoints that this clone lacks: all of them, or only those
// that a list reads.
func (r record) missing(ctx context.Context, ids []checkpoint.ID, listed bool) ([]git.OID, error) {
	wanted := map[git.OID]bool{}
	args := []string{"rev-list", "--objects", "--no-object-names", "--missing=print"}
	for _, id := range ids {
		for _, tree := range r.trees {
			dir, found, err := gittree.Lookup(ctx, r.repo, tree, id.Dir())
			if err != nil {
				return nil, err
			}
			if !found || dir.Mode != git.ModeTree {
				continue
			}
			args = append(args, string(dir.OID))
			if err := r.addListed(ctx, wanted, dir.OID); err != nil {
				return nil, err
			}
			break
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	out, err := r.repo.Run(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("find what is missing: %w", err)
	}
	var missing []git.OID
	for line := range strings.Lines(string(out)) {
		oid, isMissing := strings.CutPrefix(strings.TrimSpace(line), "?")
		if isMissing && (!listed || wanted[git.OID(oid)]) {
			missing = append(missing, git.OID(oid))
		}
	}
	return missing, nil
}

// addListed adds the files below a checkpoint's directory that a list reads.
func (r record) addListed(ctx context.Context, wanted map[git.OID]bool, dir git.OID) error {
	entries, err := r.repo.Tree(ctx, dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.Mode == git.ModeTree:
			if err := r.addListed(ctx, wanted, e.OID); err != nil {
				return err
			}
		case e.Name == "metadata.json", e.Name == "prompt.txt":
			wanted[e.OID] = true
		}
	}
	return nil
}
