// Package gitnote writes and merges the notes of commits: see git.NotesRef.
package gitnote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitdiff"
	"github.com/seed-3aff656d/entire/internal/git/gitlog"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/internal/git/gittree"
)

// noteAttempts is the number of attempts to write notes while other processes add some.
const noteAttempts = 5

// Write replaces the notes of commits; an empty text removes a note. by is the author and committer
// of the notes' commit.
func Write(ctx context.Context, r *git.Repo, by git.Signature, texts map[git.OID]string) error {
	if len(texts) == 0 {
		return nil
	}
	err := gitref.ErrMoved
	for attempt := 0; attempt < noteAttempts && errors.Is(err, gitref.ErrMoved); attempt++ {
		err = write(ctx, r, by, texts)
	}
	r.Notes.Reset()
	if err != nil {
		return fmt.Errorf("write notes: %w", err)
	}
	return nil
}

func write(ctx context.Context, r *git.Repo, by git.Signature, texts map[git.OID]string) error {
	parent, err := r.Commit(ctx, git.NotesRef)
	if err != nil && !errors.Is(err, git.ErrMissing) {
		return err
	}
	next := git.Commit{Tree: r.Format.EmptyTree(), Author: by, Committer: by, Message: "Notes of checkpoints\n"}
	if err == nil {
		next.Tree, next.Parents = parent.Tree, []git.OID{parent.OID}
	}
	if next.Tree, err = apply(ctx, r, next.Tree, texts); err != nil {
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

// apply returns a tree of notes with other texts for some commits.
func apply(ctx context.Context, r *git.Repo, tree git.OID, texts map[git.OID]string) (git.OID, error) {
	var edits []gittree.Edit
	for commit, text := range texts {
		for i, path := range git.NotePaths(commit) {
			edit := gittree.Edit{Path: path} // removes the note
			if i == 0 && text != "" {
				oid, err := r.WriteBlob([]byte(text))
				if err != nil {
					return "", err
				}
				edit.OID, edit.Mode = oid, git.ModeFile
			}
			edits = append(edits, edit)
		}
	}
	return gittree.Apply(ctx, r, tree, edits)
}

// Merge returns a commit with the notes of two copies of git.NotesRef: one of the two if it has the
// other in its history, else a new commit. If both changed the note of a commit since their merge
// base, the result has the lines of both, ours first. It moves no ref. Its cost depends on the
// changes in theirs.
func Merge(ctx context.Context, r *git.Repo, by git.Signature, ours, theirs git.Commit) (git.OID, error) {
	base, err := gitlog.MergeBase(ctx, r, ours.OID, theirs.OID)
	switch {
	case err != nil:
		return "", err
	case base == theirs.OID:
		return ours.OID, nil
	case base == ours.OID:
		return theirs.OID, nil
	}
	var common git.Commit
	if base != "" {
		if common, err = r.Commit(ctx, string(base)); err != nil {
			return "", err
		}
	}
	changes, err := gitdiff.Changes(ctx, r, common.Tree, theirs.Tree)
	if err != nil {
		return "", err
	}
	texts := map[git.OID]string{}
	for _, change := range changes {
		commit := git.OID(strings.ReplaceAll(change.Path, "/", ""))
		if !r.Format.Valid(commit) {
			continue // not a note
		}
		was, errA := noteIn(ctx, r, common.Tree, commit)
		here, errB := noteIn(ctx, r, ours.Tree, commit)
		there, errC := noteIn(ctx, r, theirs.Tree, commit)
		if err := errors.Join(errA, errB, errC); err != nil {
			return "", err
		}
		switch {
		case here == was:
			texts[commit] = there
		case there != was:
			texts[commit] = withLines(here, there)
		}
	}
	next := git.Commit{Parents: []git.OID{ours.OID, theirs.OID}, Author: by, Committer: by, Message: "Merge notes of checkpoints\n"}
	if next.Tree, err = apply(ctx, r, ours.Tree, texts); err != nil {
		return "", err
	}
	oid, err := r.WriteCommit(next)
	if err != nil {
		return "", err
	}
	return oid, r.SyncObjects()
}

// noteIn returns the note of a commit in a tree of notes, or "" if there is none. The error is
// git.ErrMissing if its blob isn't here, as in a partial clone.
func noteIn(ctx context.Context, r *git.Repo, tree, commit git.OID) (string, error) {
	if tree == "" {
		return "", nil
	}
	for _, path := range git.NotePaths(commit) {
		entry, found, err := gittree.Lookup(ctx, r, tree, path)
		if err != nil {
			return "", err
		}
		if found && entry.Mode == git.ModeFile {
			object, err := r.ReadWithin(ctx, string(entry.OID), git.MaxNote)
			return string(object.Data), err
		}
	}
	return "", nil
}

// withLines appends to a text those lines of another that it doesn't have.
func withLines(text, more string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n" + more) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
