package gitwork

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
)

// noteAttempts is how often notes are written anew when another process adds some.
const noteAttempts = 5

// WriteNotes gives commits other notes; an empty text removes a note. by is who and when.
func WriteNotes(ctx context.Context, r *git.Repo, by git.Signature, texts map[git.OID]string) error {
	if len(texts) == 0 {
		return nil
	}
	err := gitref.ErrMoved
	for attempt := 0; attempt < noteAttempts && errors.Is(err, gitref.ErrMoved); attempt++ {
		err = writeNotes(ctx, r, by, texts)
	}
	r.Notes.Reset()
	if err != nil {
		return fmt.Errorf("write notes: %w", err)
	}
	return nil
}

func writeNotes(ctx context.Context, r *git.Repo, by git.Signature, texts map[git.OID]string) error {
	parent, err := r.Commit(ctx, git.NotesRef)
	if err != nil && !errors.Is(err, git.ErrMissing) {
		return err
	}
	next := git.Commit{Tree: r.Format.EmptyTree(), Author: by, Committer: by, Message: "Notes of checkpoints\n"}
	if err == nil {
		next.Tree, next.Parents = parent.Tree, []git.OID{parent.OID}
	}
	var edits []gittree.Edit
	for commit, text := range texts {
		for i, path := range git.NotePaths(commit) {
			edit := gittree.Edit{Path: path} // removes it
			if i == 0 && text != "" {
				if edit.OID, err = r.WriteBlob([]byte(text)); err != nil {
					return err
				}
				edit.Mode = git.ModeFile
			}
			edits = append(edits, edit)
		}
	}
	if next.Tree, err = gittree.Apply(ctx, r, next.Tree, edits); err != nil {
		return err
	}
	oid, err := r.WriteCommit(next)
	if err != nil {
		return err
	}
	if err := r.SyncObjects(); err != nil {
		return err
	}
	return gitref.Update(ctx, r, "entire: link commits", []gitref.Change{{Name: git.NotesRef, New: oid, Old: parent.OID}})
}
