package checkpoint

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// RecordSubject is the beginning of the subject of a commit on the metadata branch that stores a
// session in a checkpoint. The id follows.
const RecordSubject = "Checkpoint: "

// Record is the information in a commit on the metadata branch that stores a session in a
// checkpoint.
type Record struct {
	ID ID
	// Session is empty if the message doesn't name it.
	Session string
	// By is the person in whose clone it was recorded. It has no name and no address if none was
	// configured there.
	By git.Signature
}

// RecordOf returns the record in a commit on the metadata branch, false if it is another commit,
// such as one that completes a checkpoint or merges two copies of the branch.
func RecordOf(c git.Commit) (Record, bool) {
	subject, _, _ := strings.Cut(c.Message, "\n")
	name, found := strings.CutPrefix(subject, RecordSubject)
	id, err := ParseID(strings.TrimSpace(name))
	if !found || err != nil {
		return Record{}, false
	}
	r := Record{ID: id, Session: transcript.SessionID(sessionOf(c.Message)), By: c.Author}
	if r.By.Email == git.UnknownEmail {
		r.By.Name, r.By.Email = "", ""
	}
	return r, true
}

// Authors returns the authors of checkpoints: the persons in whose clones they were recorded first, with
// their names of git's mailmap.
// The commits that carry their ids don't tell, as a squash or a cherry-pick may be another person's.
// A checkpoint is left out if its author isn't recorded, or the record isn't in this clone.
func Authors(ctx context.Context, repo *git.Repo, ids ...ID) (map[ID]git.Signature, error) {
	const few = 20 // else one pattern is faster
	args := []string{"--fixed-strings"}
	if len(ids) > few {
		args = append(args, "--grep="+RecordSubject)
	} else {
		for _, id := range ids {
			args = append(args, "--grep="+RecordSubject+string(id))
		}
	}
	if len(ids) == 0 {
		return nil, nil //nolint:nilnil // an empty map
	}
	commits, err := git.Commits(ctx, repo, slices.Concat(args, AsRevisions(), []string{"--"})...)
	if err != nil {
		return nil, fmt.Errorf("find the authors of checkpoints: %w", err)
	}
	first := map[ID]git.Signature{}
	for _, c := range commits { // the newest first
		r, ok := RecordOf(c)
		if known, found := first[r.ID]; ok && (!found || !r.By.When.After(known.When)) {
			first[r.ID] = r.By
		}
	}
	persons := make(map[ID]*git.Signature, len(first))
	for id, by := range first {
		if by.Name+by.Email != "" && slices.Contains(ids, id) {
			persons[id] = &by
		}
	}
	if err := git.MapPersons(ctx, repo, slices.Collect(maps.Values(persons))); err != nil {
		return nil, err
	}
	found := make(map[ID]git.Signature, len(persons))
	for id, by := range persons {
		found[id] = *by
	}
	return found, nil
}

// Tips returns the commits of all metadata branches, local and fetched from remotes.
func Tips(ctx context.Context, repo *git.Repo) ([]git.OID, error) {
	refs, err := metadataRefs(ctx, repo)
	if err != nil {
		return nil, err
	}
	var tips []git.OID
	for _, ref := range refs {
		if _, err := repo.Commit(ctx, string(ref.OID)); err == nil || ref.Name == MetadataBranch {
			tips = append(tips, ref.OID)
		}
	}
	slices.Sort(tips)
	return slices.Compact(tips), ctx.Err()
}

// metadataRefs returns the refs of all metadata branches.
func metadataRefs(ctx context.Context, repo *git.Repo) ([]git.Ref, error) {
	return git.ListRefs(ctx, repo, MetadataBranch, "refs/remotes/*/"+strings.TrimPrefix(MetadataBranch, branchPrefix))
}

// ImportedTip returns the commit of ImportedRef, "" if there is none.
func ImportedTip(ctx context.Context, repo *git.Repo) (git.OID, error) {
	tip, _, err := git.RefCommit(ctx, repo, ImportedRef)
	return tip.OID, err
}
