package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

// MissingRecords describes what this clone lacks of checkpoints.
type MissingRecords struct {
	Objects []git.OID
	// Unknown are the checkpoints that are not in this clone.
	Unknown []checkpoint.ID
}

// MissingOfCheckpoint returns what this clone lacks of the checkpoints whose ids begin with prefix.
func (r CheckpointReader) MissingOfCheckpoint(ctx context.Context, prefix string) (MissingRecords, error) {
	book, err := r.openRecord(ctx)
	if err != nil {
		return MissingRecords{}, err
	}
	ids, err := book.find(ctx, prefix)
	if err != nil || len(ids) == 0 {
		if name, ok := checkpoint.Prefix(prefix); ok {
			prefix = name
		}
		return MissingRecords{Unknown: []checkpoint.ID{checkpoint.ID(prefix)}}, err
	}
	return book.missing(ctx, ids, false)
}

// MissingOfCommit returns what this clone lacks of the checkpoints that the commit names.
func (r CheckpointReader) MissingOfCommit(ctx context.Context, rev string) (MissingRecords, error) {
	book, err := r.openRecord(ctx)
	if err != nil {
		return MissingRecords{}, err
	}
	commit, err := r.Repo.Commit(ctx, rev)
	if err != nil {
		return MissingRecords{}, errors.Join(&NotFoundError{Kind: "commit", Name: rev}, git.UnlessMissing(err))
	}
	return book.missing(ctx, checkpoint.IDsOf(commit), false)
}

// MissingOfList returns what this clone lacks for a list of the branch's checkpoints.
func (r CheckpointReader) MissingOfList(ctx context.Context) (MissingRecords, error) {
	book, err := r.openRecord(ctx)
	if err != nil {
		return MissingRecords{}, err
	}
	branch, err := git.HeadBranch(ctx, r.Repo)
	if err != nil {
		return MissingRecords{}, err
	}
	commits, err := commitFinder{r.Repo}.branchCommits(ctx, branch)
	if err != nil {
		return MissingRecords{}, err
	}
	ids, _ := idsOf(commits)
	return book.missing(ctx, ids, true)
}

// Gap is a part of the record or of the history that this clone lacks.
type Gap int

// The gaps.
const (
	// NoRecord means that no branch with checkpoints was fetched, as in a clone of a single branch,
	// though commits name checkpoints, or may do so in a shallow clone.
	NoRecord Gap = iota
	// NoContents means that a partial clone lacks contents of checkpoints.
	NoContents
	// NoHistory means that a shallow clone lacks commits.
	NoHistory
)

// Gaps determines what this clone lacks, in the order of the constants.
func (r CheckpointReader) Gaps(ctx context.Context) ([]Gap, error) {
	return r.gaps(ctx, func() bool {
		named, err := git.MessagesContaining(ctx, r.Repo, checkpoint.TrailerKey+": ", "--branches", "--remotes", "HEAD")
		return err == nil && slices.ContainsFunc(named, func(message string) bool { return !strings.Contains(message, checkpoint.ImportedNote) })
	})
}

// GapsGiven is like Gaps, for a caller that knows whether commits name checkpoints. It doesn't read
// the history, which may be long.
func (r CheckpointReader) GapsGiven(ctx context.Context, linked bool) ([]Gap, error) {
	return r.gaps(ctx, func() bool { return linked })
}

func (r CheckpointReader) gaps(ctx context.Context, linked func() bool) ([]Gap, error) {
	records, err := checkpoint.Open(ctx, r.Repo, r.Order)
	if err != nil {
		return nil, err
	}
	empty, err := records.Empty(ctx)
	if err != nil {
		return nil, err
	}
	var gaps []Gap
	shallow := git.IsShallow(r.Repo)
	if empty && (shallow || linked()) {
		gaps = append(gaps, NoRecord)
	}
	missing, err := r.Missing(ctx)
	if err != nil {
		return nil, err
	}
	if len(missing)+len(records.Absent) > 0 {
		gaps = append(gaps, NoContents)
	}
	if shallow {
		gaps = append(gaps, NoHistory)
	}
	return gaps, nil
}

// Missing returns objects of checkpoints that this clone lacks, of any of them. It asks git only in a
// partial clone. What a missing tree contains isn't known before the tree is fetched.
func (r CheckpointReader) Missing(ctx context.Context) ([]git.OID, error) {
	partial, err := r.Repo.IsPartial()
	if err != nil || !partial {
		return nil, err
	}
	book, err := r.openRecord(ctx)
	if err != nil {
		return nil, err
	}
	missing := slices.Clone(book.Absent)
	args := []string{"rev-list", "--no-walk", "--objects", "--no-object-names", "--missing=print", "--glob=" + checkpoint.CheckpointRefs + "*"}
	for _, tree := range book.Trees() {
		args = append(args, string(tree))
	}
	out, err := r.Repo.Run(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("find what is missing: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if oid, isMissing := strings.CutPrefix(strings.TrimSpace(line), "?"); isMissing {
			missing = append(missing, git.OID(oid))
		}
	}
	return missing, nil
}

// missing returns the blobs of the checkpoints that this clone lacks: all of them, or only those
// that a list reads.
func (r record) missing(ctx context.Context, ids []checkpoint.ID, listed bool) (MissingRecords, error) {
	var found MissingRecords
	wanted := map[git.OID]bool{}
	args := []string{"rev-list", "--objects", "--no-object-names", "--missing=print"}
	for _, id := range ids {
		at, err := r.Locate(ctx, id)
		if errors.Is(err, checkpoint.ErrNotFound) {
			found.Unknown = append(found.Unknown, id)
			continue
		}
		if err == nil {
			err = r.addListed(ctx, wanted, at.Dir)
		}
		if err != nil {
			return found, err
		}
		args = append(args, string(at.Dir))
	}
	if len(wanted) == 0 {
		return found, nil
	}
	out, err := r.Repo.Run(ctx, args...)
	if err != nil {
		return found, fmt.Errorf("find what is missing: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		oid, isMissing := strings.CutPrefix(strings.TrimSpace(line), "?")
		if isMissing && (!listed || wanted[git.OID(oid)]) {
			found.Objects = append(found.Objects, git.OID(oid))
		}
	}
	return found, nil
}

// addListed adds the files below a checkpoint's directory that a list reads.
func (r record) addListed(ctx context.Context, wanted map[git.OID]bool, dir git.OID) error {
	entries, err := r.Repo.Tree(ctx, dir)
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
