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
// shows them. ImportedNotesRef holds those of commits that an import linked.
const (
	NotesRef         = "refs/notes/entire"
	ImportedNotesRef = NotesRef + "-imported"
)

// linkLine begins the lines of a note that decide about the links of its commit.
const linkLine = "Entire-Checkpoint:"

// NoteTrees are the trees of the notes, each empty if there are none.
type NoteTrees struct {
	Own      OID // of NotesRef
	Imported OID // of ImportedNotesRef
}

// Notes reads the texts in NotesRef and ImportedNotesRef. The refs are read on first use; later changes
// by other processes are not noticed. It is safe for concurrent use.
type Notes struct {
	repo *Repo

	mu    sync.Mutex
	read  bool
	trees NoteTrees
	twice map[OID]bool // the commits that have a note in both; nil if not read yet
}

// Trees returns the trees of the notes.
func (n *Notes) Trees(ctx context.Context) (NoteTrees, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.read {
		return n.trees, nil
	}
	var trees NoteTrees
	var err error
	if trees.Own, err = n.tree(ctx, NotesRef); err == nil {
		trees.Imported, err = n.tree(ctx, ImportedNotesRef)
	}
	if err != nil {
		return NoteTrees{}, err
	}
	n.read, n.trees = true, trees
	return trees, nil
}

func (n *Notes) tree(ctx context.Context, ref string) (OID, error) {
	object, err := n.repo.Read(ctx, ref+"^{commit}")
	if err != nil {
		return "", UnlessMissing(err)
	}
	c, err := ParseCommit(object)
	return c.Tree, err
}

// Reset makes the next use read the notes again, after they were changed.
func (n *Notes) Reset() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.read, n.trees, n.twice = false, NoteTrees{}, nil
}

// Of returns the note of a commit, or "" if there is none: that of NotesRef, followed by that of
// ImportedNotesRef unless the first one links the commit or declines a link.
func (n *Notes) Of(ctx context.Context, commit OID) (string, error) {
	trees, err := n.Trees(ctx)
	if err != nil {
		return "", err
	}
	text, err := n.in(ctx, trees.Own, commit)
	if err != nil || trees.Imported == "" || links(text) {
		return text, err
	}
	imported, err := n.in(ctx, trees.Imported, commit)
	return text + imported, err
}

// Own returns the note of a commit in NotesRef, or "" if there is none.
func (n *Notes) Own(ctx context.Context, commit OID) (string, error) {
	trees, err := n.Trees(ctx)
	if err != nil {
		return "", err
	}
	return n.in(ctx, trees.Own, commit)
}

// Imported returns the note of a commit in ImportedNotesRef, or "" if there is none.
func (n *Notes) Imported(ctx context.Context, commit OID) (string, error) {
	trees, err := n.Trees(ctx)
	if err != nil {
		return "", err
	}
	return n.in(ctx, trees.Imported, commit)
}

// in returns the note of a commit in a tree of notes. It tries several paths, as git splits the names in
// a large tree.
func (n *Notes) in(ctx context.Context, tree, commit OID) (string, error) {
	if tree == "" {
		return "", nil
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

// links reports whether a note links its commit, or declines a link.
func links(note string) bool {
	for line := range strings.Lines(note) {
		if strings.HasPrefix(line, linkLine) {
			return true
		}
	}
	return false
}

// choose replaces the notes of commits as git log prints them, which are those of both refs.
func (n *Notes) choose(ctx context.Context, commits []Commit) error {
	trees, err := n.Trees(ctx)
	if err != nil || trees.Own == "" || trees.Imported == "" {
		return err
	}
	twice, err := n.inBoth(ctx, trees)
	if err != nil {
		return err
	}
	for i, c := range commits {
		if !twice[c.OID] {
			continue
		}
		if commits[i].Note, err = n.Of(ctx, c.OID); err != nil {
			return err
		}
	}
	return nil
}

// inBoth returns the commits that have a note in both trees.
func (n *Notes) inBoth(ctx context.Context, trees NoteTrees) (map[OID]bool, error) {
	n.mu.Lock()
	twice := n.twice
	n.mu.Unlock()
	if twice != nil {
		return twice, nil
	}
	own, err := Noted(ctx, n.repo, trees.Own)
	if err != nil {
		return nil, err
	}
	imported, err := Noted(ctx, n.repo, trees.Imported)
	if err != nil {
		return nil, err
	}
	twice = map[OID]bool{}
	for _, oid := range imported {
		if _, found := slices.BinarySearch(own, oid); found {
			twice[oid] = true
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.read && n.trees == trees {
		n.twice = twice
	}
	return twice, nil
}

// Noted returns the commits that have a note in a tree of notes, in order.
func Noted(ctx context.Context, r *Repo, tree OID) ([]OID, error) {
	const levels = 3 // of names, as in NotePaths
	var list []OID
	var add func(tree OID, prefix string, level int) error
	add = func(tree OID, prefix string, level int) error {
		entries, err := r.Tree(ctx, tree)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := OID(prefix + e.Name)
			switch {
			case e.Mode == ModeTree && level+1 < levels && len(e.Name) == 2:
				if err := add(e.OID, string(name), level+1); err != nil {
					return err
				}
			case e.Mode != ModeTree && r.Format.Valid(name):
				list = append(list, name)
			}
		}
		return nil
	}
	if tree == "" {
		return nil, nil
	}
	if err := add(tree, "", 0); err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
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

// WriteNotes replaces the notes of commits in NotesRef; an empty text removes a note. by is the author
// and committer of the notes' commit.
func WriteNotes(ctx context.Context, r *Repo, by Signature, texts map[OID]string) error {
	return WriteNotesIn(ctx, r, NotesRef, by, texts)
}

// WriteNotesIn is WriteNotes for a given ref, NotesRef or ImportedNotesRef.
func WriteNotesIn(ctx context.Context, r *Repo, ref string, by Signature, texts map[OID]string) error {
	if len(texts) == 0 {
		return nil
	}
	err := ErrRefMoved
	for attempt := 0; attempt < noteAttempts && errors.Is(err, ErrRefMoved); attempt++ {
		err = writeNotes(ctx, r, ref, by, texts)
	}
	r.Notes.Reset()
	if err != nil {
		return fmt.Errorf("write notes: %w", err)
	}
	return nil
}

func writeNotes(ctx context.Context, r *Repo, ref string, by Signature, texts map[OID]string) error {
	change, err := NotesChange(ctx, r, ref, by, texts)
	if err != nil {
		return err
	}
	return UpdateRefs(ctx, r, "entire: link commits", []RefChange{change})
}

// NotesChange writes what WriteNotesIn writes except the ref, and returns the change of the ref, for a
// caller that moves it together with others. The caller resets r.Notes afterwards.
func NotesChange(ctx context.Context, r *Repo, ref string, by Signature, texts map[OID]string) (RefChange, error) {
	parent, err := r.Commit(ctx, ref)
	if err != nil && !errors.Is(err, ErrMissing) {
		return RefChange{}, err
	}
	next := Commit{Tree: r.Format.EmptyTree(), Author: by, Committer: by, Message: "Notes of checkpoints\n"}
	if err == nil {
		next.Tree, next.Parents = parent.Tree, []OID{parent.OID}
	}
	if next.Tree, err = applyNotes(ctx, r, next.Tree, texts); err != nil {
		return RefChange{}, err
	}
	oid, err := r.WriteCommit(next)
	if err != nil {
		return RefChange{}, err
	}
	return RefChange{Name: ref, New: oid, Old: parent.OID}, r.SyncObjects()
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
