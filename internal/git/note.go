package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// NotesRef holds the texts stored for commits, in the form of git notes: `git log --notes=entire`
// shows them.
const NotesRef = "refs/notes/entire"

// Notes reads the texts in NotesRef. The ref is read on first use; later changes by other processes
// are not noticed. It is safe for concurrent use.
type Notes struct {
	repo *Repo

	mu   sync.Mutex
	read bool
	tree OID // empty if there are no notes
}

// Tree returns the tree of the notes, or "" if there is none.
func (n *Notes) Tree(ctx context.Context) (OID, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.read {
		return n.tree, nil
	}
	object, err := n.repo.Read(ctx, NotesRef+"^{commit}")
	if err != nil && !errors.Is(err, ErrMissing) {
		return "", err
	}
	if err == nil {
		c, err := ParseCommit(object)
		if err != nil {
			return "", err
		}
		n.tree = c.Tree
	}
	n.read = true
	return n.tree, nil
}

// Reset makes the next use read the notes again, after they were changed.
func (n *Notes) Reset() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.read, n.tree = false, ""
}

// Of returns the note of a commit, or "" if there is none. It tries several paths, as git splits
// the names in a large tree of notes.
func (n *Notes) Of(ctx context.Context, commit OID) (string, error) {
	tree, err := n.Tree(ctx)
	if err != nil || tree == "" {
		return "", err
	}
	for _, path := range NotePaths(commit) {
		object, err := n.repo.ReadWithin(ctx, string(tree)+":"+path, MaxNote)
		switch {
		case err == nil && object.Type == "blob":
			return string(object.Data), nil
		case err != nil && !errors.Is(err, ErrMissing):
			return "", err
		}
	}
	return "", nil
}

// MaxNote is the maximum size of a note, in bytes.
const MaxNote = 1 << 20

// NotePaths returns the paths at which a tree of notes may have the note of a commit.
func NotePaths(commit OID) []string {
	name := string(commit)
	return []string{name, name[:2] + "/" + name[2:], name[:2] + "/" + name[2:4] + "/" + name[4:]}
}

// noteAttempts is the number of attempts to write notes while other processes add some.
const noteAttempts = 5

// WriteNotes replaces the notes of commits; an empty text removes a note. by is the author and
// committer of the notes' commit.
func WriteNotes(ctx context.Context, r *Repo, by Signature, texts map[OID]string) error {
	if len(texts) == 0 {
		return nil
	}
	err := ErrRefMoved
	for attempt := 0; attempt < noteAttempts && errors.Is(err, ErrRefMoved); attempt++ {
		err = writeNotes(ctx, r, by, texts)
	}
	r.Notes.Reset()
	if err != nil {
		return fmt.Errorf("write notes: %w", err)
	}
	return nil
}

func writeNotes(ctx context.Context, r *Repo, by Signature, texts map[OID]string) error {
	parent, err := r.Commit(ctx, NotesRef)
	if err != nil && !errors.Is(err, ErrMissing) {
		return err
	}
	next := Commit{Tree: r.Format.EmptyTree(), Author: by, Committer: by, Message: "Notes of checkpoints\n"}
	if err == nil {
		next.Tree, next.Parents = parent.Tree, []OID{parent.OID}
	}
	if next.Tree, err = applyNotes(ctx, r, next.Tree, texts); err != nil {
		return err
	}
	oid, err := r.WriteCommit(next)
	if err != nil {
		return err
	}
	if err := r.SyncObjects(); err != nil {
		return err
	}
	return UpdateRefs(ctx, r, "entire: link commits", []RefChange{{Name: NotesRef, New: oid, Old: parent.OID}})
}

// applyNotes returns a tree of notes with other texts for some commits.
func applyNotes(ctx context.Context, r *Repo, tree OID, texts map[OID]string) (OID, error) {
	var edits []TreeEdit
	for commit, text := range texts {
		for i, path := range NotePaths(commit) {
			edit := TreeEdit{Path: path} // removes the note
			if i == 0 && text != "" {
				oid, err := r.WriteBlob([]byte(text))
				if err != nil {
					return "", err
				}
				edit.OID, edit.Mode = oid, ModeFile
			}
			edits = append(edits, edit)
		}
	}
	return EditTree(ctx, r, tree, edits)
}

// MergeNotes returns a commit with the notes of two copies of NotesRef: one of the two if it has
// the other in its history, else a new commit. If both changed the note of a commit since their
// merge base, the result has the lines of both, ours first. It moves no ref. Its cost depends on
// the changes in theirs.
func MergeNotes(ctx context.Context, r *Repo, by Signature, ours, theirs Commit) (OID, error) {
	base, err := MergeBase(ctx, r, ours.OID, theirs.OID)
	switch {
	case err != nil:
		return "", err
	case base == theirs.OID:
		return ours.OID, nil
	case base == ours.OID:
		return theirs.OID, nil
	}
	var common Commit
	if base != "" {
		if common, err = r.Commit(ctx, string(base)); err != nil {
			return "", err
		}
	}
	changes, err := Changes(ctx, r, common.Tree, theirs.Tree)
	if err != nil {
		return "", err
	}
	texts := map[OID]string{}
	for _, change := range changes {
		commit := OID(strings.ReplaceAll(change.Path, "/", ""))
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
	next := Commit{Parents: []OID{ours.OID, theirs.OID}, Author: by, Committer: by, Message: "Merge notes of checkpoints\n"}
	if next.Tree, err = applyNotes(ctx, r, ours.Tree, texts); err != nil {
		return "", err
	}
	oid, err := r.WriteCommit(next)
	if err != nil {
		return "", err
	}
	return oid, r.SyncObjects()
}

// noteIn returns the note of a commit in a tree of notes, or "" if there is none. The error is
// ErrMissing if its blob isn't here, as in a partial clone.
func noteIn(ctx context.Context, r *Repo, tree, commit OID) (string, error) {
	if tree == "" {
		return "", nil
	}
	for _, path := range NotePaths(commit) {
		entry, found, err := LookupPath(ctx, r, tree, path)
		if err != nil {
			return "", err
		}
		if found && entry.Mode == ModeFile {
			object, err := r.ReadWithin(ctx, string(entry.OID), MaxNote)
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
