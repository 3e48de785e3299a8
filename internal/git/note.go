package git

import (
	"context"
	"errors"
	"sync"
)

// NotesRef is where texts are kept beside commits, in the form of git notes:
// `git log --notes=entire` shows them.
const NotesRef = "refs/notes/entire"

// Notes are the texts in NotesRef. They are read when they are first needed; what other
// processes add later is not seen. It is safe for concurrent use.
type Notes struct {
	repo *Repo

	mu   sync.Mutex
	read bool
	tree OID // empty if there are none
}

// Tree returns the tree of the notes, "" if there are none.
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

// Reset has the notes read again: they were changed.
func (n *Notes) Reset() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.read, n.tree = false, ""
}

// Of returns the text beside a commit, "" if there is none. Git splits the names in a large
// tree of notes.
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

// MaxNote bounds a note, in bytes.
const MaxNote = 1 << 20

// NotePaths returns where a tree of notes may have that of a commit.
func NotePaths(commit OID) []string {
	name := string(commit)
	return []string{name, name[:2] + "/" + name[2:], name[:2] + "/" + name[2:4] + "/" + name[4:]}
}
