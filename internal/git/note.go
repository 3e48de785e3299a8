package git

import (
	"context"
	"errors"
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
