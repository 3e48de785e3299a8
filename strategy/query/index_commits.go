package query

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
)

// commits updates the commits that name checkpoints, if branches or the notes of commits have
// changed since the last run.
func (r *run) commits(ctx context.Context) error {
	deepened := r.known.Shallow != r.now.Shallow // earlier commits came, or went
	if r.known.Refs == r.now.Refs && !deepened {
		return nil
	}
	refs, err := git.ListRefs(ctx, r.Repo, "refs/heads", "refs/remotes")
	if err != nil {
		return err
	}
	var tips []git.OID // of HEAD and of all branches but the program's own, each once
	for _, ref := range refs {
		if !strings.HasPrefix(ref.Name, checkpoint.BranchRefs) && !strings.Contains(ref.Name, "/entire/checkpoints/") {
			tips = append(tips, ref.OID)
		}
	}
	head, found, err := r.Head(ctx)
	if err != nil {
		return err
	}
	if found {
		tips = append(tips, head.OID)
	}
	slices.Sort(tips)
	tips = slices.Compact(tips)
	var before []git.OID
	if err := r.meta(ctx, tipsKey, &before); err != nil {
		return err
	}
	r.Repo.Notes.Reset() // a browser keeps the repository open
	notes, err := r.Repo.Notes.Trees(ctx)
	if err != nil {
		return err
	}
	text, err := r.w.Meta(ctx, notesKey)
	if err != nil {
		return err
	}
	former := noteTrees(text)
	if slices.Equal(before, tips) && former == notes && !deepened {
		return nil
	}
	gone, err := git.CommitsBetween(ctx, r.Repo, checkpoint.TrailerKey+":", before, tips)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || deepened { // a former tip doesn't exist any more
		before = nil
		if err := r.w.DropCommit(ctx, ""); err != nil {
			return err
		}
	}
	for _, c := range gone {
		if err := r.w.DropCommit(ctx, string(c.OID)); err != nil {
			return err
		}
	}
	come, err := git.CommitsBetween(ctx, r.Repo, checkpoint.TrailerKey+":", tips, before)
	if err != nil {
		if ctx.Err() == nil {
			r.skip(ctx, "commits", err) // a history that lacks objects
			return nil
		}
		return err
	}
	for _, c := range come {
		if err := r.putCommit(ctx, c); err != nil {
			return err
		}
	}
	if before != nil && former != notes {
		if err := r.noted(ctx, former, notes, tips); err != nil {
			return err
		}
	}
	return errors.Join(r.setMeta(ctx, tipsKey, tips), r.w.SetMeta(ctx, notesKey, string(notes.Own+" "+notes.Imported)))
}

// noteTrees decodes the trees of the notes that the index has read.
func noteTrees(text string) git.NoteTrees {
	own, imported, _ := strings.Cut(text, " ")
	return git.NoteTrees{Own: git.OID(own), Imported: git.OID(imported)}
}

func (r *run) putCommit(ctx context.Context, c git.Commit) error {
	for _, id := range checkpoint.IDsOf(c) {
		if err := r.w.PutCommit(ctx, commitRow(c, id)); err != nil {
			return err
		}
	}
	return nil
}

func commitRow(c git.Commit, id checkpoint.ID) index.Commit {
	isNoted := !slices.Contains(checkpoint.IDs(c.Message), id)
	return index.Commit{
		OID: string(c.OID), Checkpoint: string(id), At: c.Committer.When, Author: c.Author.Name, Email: c.Author.Email, Subject: c.Subject(),
		Derived: isNoted && checkpoint.IsDerived(c), Imported: isNoted && checkpoint.IsImported(c),
	}
}

// renoted returns the commits whose notes differ between two trees of notes.
func (r *run) renoted(ctx context.Context, former, notes git.OID) (oids []git.OID, err error) {
	if former == notes {
		return nil, nil
	}
	changes, err := git.Changes(ctx, r.Repo, former, notes)
	if err != nil && ctx.Err() == nil { // the former tree doesn't exist any more
		changes, err = git.Changes(ctx, r.Repo, "", notes)
	}
	for _, change := range changes {
		if oid := git.OID(strings.ReplaceAll(change.Path, "/", "")); r.Repo.Format.Valid(oid) {
			oids = append(oids, oid)
		}
	}
	return oids, err
}

// noted updates those commits in the histories of tips whose notes differ between two states of the notes.
// A note may be written long after its commit was read.
func (r *run) noted(ctx context.Context, former, notes git.NoteTrees, tips []git.OID) error {
	changed, err := r.renoted(ctx, former.Own, notes.Own)
	if err != nil {
		return err
	}
	imported, err := r.renoted(ctx, former.Imported, notes.Imported)
	if err != nil {
		return err
	}
	changed = append(changed, imported...)
	var linked []git.Commit
	var oids []git.OID
	slices.Sort(changed)
	for _, oid := range slices.Compact(changed) {
		if err := r.w.DropCommit(ctx, string(oid)); err != nil {
			return err
		}
		c, err := r.Repo.Commit(ctx, string(oid))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && len(checkpoint.IDsOf(c)) > 0 { // else it may be of another clone
			linked, oids = append(linked, c), append(oids, oid)
		}
	}
	outside, err := git.CommitsBetween(ctx, r.Repo, checkpoint.TrailerKey+":", oids, tips)
	if err != nil {
		return err
	}
	for _, c := range linked {
		if slices.ContainsFunc(outside, func(o git.Commit) bool { return o.OID == c.OID }) {
			continue
		}
		if err := r.putCommit(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// authors updates the authors of checkpoints from the history of the metadata branches, if that or the
// mailmap has changed since the last run.
func (r *run) authors(ctx context.Context) error {
	mapped := r.known.Mailmap == r.now.Mailmap
	if r.known.Refs == r.now.Refs && r.known.Shallow == r.now.Shallow && mapped {
		return nil
	}
	tips, err := checkpoint.Tips(ctx, r.Repo)
	if err != nil {
		return err
	}
	imported, err := checkpoint.ImportedTip(ctx, r.Repo)
	if err != nil {
		return err
	}
	if imported != "" {
		tips = append(tips, imported)
	}
	var before []git.OID
	if err := r.meta(ctx, recordsKey, &before); err != nil {
		return err
	}
	if r.known.Shallow == r.now.Shallow && mapped && slices.Equal(before, tips) {
		return nil
	}
	gone, err := git.CommitsBetween(ctx, r.Repo, checkpoint.RecordSubject, before, tips)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || len(gone) > 0 || r.known.Shallow != r.now.Shallow || !mapped { // rewritten, or there may be earlier records
		before = nil
		if err := r.w.Checkpoints.DropAuthors(ctx); err != nil {
			return err
		}
		state, err := readRecords(ctx, r.Workspace)
		if err != nil {
			return err
		}
		all := make(map[checkpoint.ID]git.OID, len(state.refs))
		for _, ref := range state.refs {
			all[ref.ID] = ""
		}
		if err := r.refAuthors(ctx, &state, all); err != nil {
			return err
		}
	}
	come, err := git.CommitsBetween(ctx, r.Repo, checkpoint.RecordSubject, tips, before)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.skip(ctx, "authors of checkpoints", err) // a history that lacks objects
		return nil
	}
	slices.Reverse(come) // the oldest first
	if err := r.putAuthors(ctx, come); err != nil {
		return err
	}
	return r.setMeta(ctx, recordsKey, tips)
}

// putAuthors writes the authors of the records in commits, with their names of the mailmap.
func (r *run) putAuthors(ctx context.Context, commits []git.Commit) error {
	records := make([]checkpoint.Record, 0, len(commits))
	for _, c := range commits {
		if record, ok := checkpoint.RecordOf(c); ok {
			records = append(records, record)
		}
	}
	persons := make([]*git.Signature, len(records))
	for i := range records {
		persons[i] = &records[i].By
	}
	if err := git.MapPersons(ctx, r.Repo, persons); err != nil {
		r.skip(ctx, "names of the mailmap", err)
	}
	for _, record := range records {
		err := r.w.Checkpoints.PutAuthor(ctx, index.Recorded{
			Checkpoint: string(record.ID), Session: record.Session, At: record.By.When, Name: record.By.Name, Email: record.By.Email,
		})
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}
