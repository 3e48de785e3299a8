package git

import (
	"context"
	"errors"
	"sync"
)

// NotesRef is where texts are kept beside commits, in the form of git notes:
// `git log --notes=entire` shows them.
const NotesRef = "refs/notes/entire"

// notes remembers the tree of NotesRef.
type notes struct {
	mu   sync.Mutex
	read bool
	tree OID // empty if there are none
}

// NotesTree returns the tree of the notes, "" if there are none. It is read once; what other
// processes add later is not seen.
func (r *Repo) NotesTree(ctx context.Context) (OID, error) {
	r.notes.mu.Lock()
	defer r.notes.mu.Unlock()
	if r.notes.read {
		return r.notes.tree, nil
	}
	object, err := r.Read(ctx, NotesRef+"^{commit}")
	if err != nil && !errors.Is(err, ErrMissing) {
		return "", err
	}
	if err == nil {
		c, err := ParseCommit(object)
		if err != nil {
			return "", err
		}
		r.notes.tree = c.Tree
	}
	r.notes.read = true
	return r.notes.tree, nil
}

// ForgetNotes has the notes read again: they were changed.
func (r *Repo) ForgetNotes() {
	r.notes.mu.Lock()
	defer r.notes.mu.Unlock()
	r.notes.read, r.notes.tree = false, ""
}

// Note returns the text beside a commit, "" if there is none. Git splits the names in a large
// tree of notes.
func (r *Repo) Note(ctx context.Context, commit OID) (string, error) {
	tree, err := r.NotesTree(ctx)
	if err != nil || tree == "" {
		return "", err
	}
	for _, path := range NotePaths(commit) {
		object, err := r.ReadWithin(ctx, string(tree)+":"+path, maxNote)
		switch {
		case err == nil && object.Type == "blob":
			return string(object.Data), nil
		case err != nil && !errors.Is(err, ErrMissing):
			return "", err
		}
	}
	return "", nil
}

// maxNote bounds a note.
const maxNote = 1 << 20

// NotePaths returns where a tree of notes may have that of a commit.
func NotePaths(commit OID) []string {
	name := string(commit)
	return []string{name, name[:2] + "/" + name[2:], name[:2] + "/" + name[2:4] + "/" + name[4:]}
}
