package checkpoint

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
	"github.com/seed-3aff656d/entire/session"
)

// forgottenFile is the file at the root of the metadata branch that lists the records removed from
// it on purpose.
const forgottenFile = "forgotten.json"

// forgottenVersion is the format version of the file.
const forgottenVersion = 1

// Forgotten lists the records removed from the metadata branch on purpose, by id only, so that all
// clones with the branch keep them out.
type Forgotten struct {
	Version     int      `json:"version"`
	Checkpoints []ID     `json:"checkpoints"`
	Sessions    []string `json:"sessions"`
	// Paths are files, relative to a worktree's root, that transcripts must not quote.
	Paths []string `json:"paths,omitempty"`
	// Marks are texts that were removed from the branch. They are salted hashes: whoever knows them
	// can only test guesses.
	Marks []forgotten.Marks `json:"text_marks,omitempty"`
}

const (
	// maxForgottenPaths and maxForgottenPath limit the number and the length of Paths.
	maxForgottenPaths = 1000
	maxForgottenPath  = 4096
	// maxForgottenForms and maxForgottenForm limit the number and the length of the forms of texts,
	// minForgottenForm their length: masking shorter ones would destroy other texts.
	maxForgottenForms = 4096
	maxForgottenForm  = 1 << 20
	minForgottenForm  = 6
	maxForgottenSalt  = 64
)

// Empty reports whether nothing is forgotten.
func (f Forgotten) Empty() bool {
	return len(f.Checkpoints)+len(f.Sessions)+len(f.Paths)+len(f.Marks) == 0
}

// HasCheckpoint reports whether the checkpoint is forgotten.
func (f Forgotten) HasCheckpoint(id ID) bool { return slices.Contains(f.Checkpoints, id) }

// HasSession reports whether the session is forgotten.
func (f Forgotten) HasSession(id string) bool { return id != "" && slices.Contains(f.Sessions, id) }

// Has reports whether f contains the other list.
func (f Forgotten) Has(other Forgotten) bool {
	return !slices.ContainsFunc(other.Checkpoints, func(id ID) bool { return !f.HasCheckpoint(id) }) &&
		!slices.ContainsFunc(other.Sessions, func(id string) bool { return !f.HasSession(id) }) &&
		!slices.ContainsFunc(other.Paths, func(path string) bool { return !slices.Contains(f.Paths, path) }) &&
		forgotten.Contains(f.Marks, other.Marks)
}

// With returns the union of f and the other list, sorted.
func (f Forgotten) With(other Forgotten) Forgotten {
	all := Forgotten{
		Version:     forgottenVersion,
		Checkpoints: slices.Concat(f.Checkpoints, other.Checkpoints),
		Sessions:    slices.Concat(f.Sessions, other.Sessions),
		Paths:       slices.Compact(slices.Sorted(slices.Values(slices.Concat(f.Paths, other.Paths)))),
		Marks:       forgotten.Union(f.Marks, other.Marks),
	}
	slices.Sort(all.Checkpoints)
	slices.Sort(all.Sessions)
	all.Checkpoints, all.Sessions = notNil(slices.Compact(all.Checkpoints)), notNil(slices.Compact(all.Sessions))
	return all
}

// ForgottenIn reads the list from v1Tree, the tree of the metadata branch. Malformed ids are
// dropped. An unreadable list is an error: if it were treated as empty, the records that it names
// could come back.
func ForgottenIn(ctx context.Context, repo *git.Repo, v1Tree git.OID) (Forgotten, error) {
	entries, err := repo.Tree(ctx, v1Tree)
	if err != nil {
		return Forgotten{}, fmt.Errorf("read %s: %w", forgottenFile, err)
	}
	data, err := readEntry(ctx, repo, entries, forgottenFile)
	if err != nil || data == nil {
		return Forgotten{}, err
	}
	var f Forgotten
	if err := json.Unmarshal(data, &f); err != nil {
		return Forgotten{}, fmt.Errorf("read %s: %w", forgottenFile, err)
	}
	f.Checkpoints = slices.DeleteFunc(f.Checkpoints, func(id ID) bool { _, err := ParseID(string(id)); return err != nil })
	f.Sessions = slices.DeleteFunc(f.Sessions, func(id string) bool { return session.CheckID(id) != nil })
	f.Paths = slices.DeleteFunc(f.Paths, func(path string) bool { return len(path) > maxForgottenPath || !git.ValidPath(path) })
	f.Paths = f.Paths[:min(len(f.Paths), maxForgottenPaths)]
	f.Marks = acceptedMarks(f.Marks)
	return f, nil
}

// acceptedMarks returns the marks that may be searched for: anyone who can push may list any.
func acceptedMarks(list []forgotten.Marks) []forgotten.Marks {
	var marks []forgotten.Marks
	left := maxForgottenForms
	for _, m := range list {
		forms := slices.DeleteFunc(slices.Clone(m.Forms), func(t forgotten.Text) bool {
			return t.Length < minForgottenForm || t.Length > maxForgottenForm || len(t.Hash) != sha256.Size
		})
		if forms = forms[:min(len(forms), left)]; len(forms) > 0 && m.Salt != "" && len(m.Salt) <= maxForgottenSalt {
			left -= len(forms)
			marks = append(marks, forgotten.Marks{Salt: m.Salt, Forms: forms})
		}
	}
	return forgotten.Union(marks, nil)
}

// IsForgotten reports whether v1Tree lists the session or the checkpoint as forgotten. It reads the
// list if there is one.
func IsForgotten(ctx context.Context, repo *git.Repo, v1Tree git.OID, at SessionIn) (bool, error) {
	f, err := ForgottenIn(ctx, repo, v1Tree)
	return f.HasCheckpoint(at.ID) || f.HasSession(at.Session), err
}

// forgetMessage is the message of the commit that adds records to the list.
const forgetMessage = "Forget sessions and checkpoints\n"

// Forget returns a commit to replace tip, a commit of the metadata branch, so that neither it nor
// its history has records listed in w.Forgotten or texts masked by w. The list is in the commit's
// tree. Only objects are written. If tip has no such records and already has the list, it is
// returned.
func (w *Rewriting) Forget(ctx context.Context, tip git.OID, by git.Signature) (git.OID, error) {
	next, err := w.Metadata(ctx, tip)
	if err != nil {
		return "", err
	}
	return w.list(ctx, next, by)
}

// Begin returns a first commit of the metadata branch that lists w.Forgotten, for a repository whose
// checkpoints all have refs: without the list other clones would keep what was forgotten.
func (w *Rewriting) Begin(ctx context.Context, by git.Signature) (git.OID, error) {
	tree, err := git.WriteTree(w.Repo, nil)
	if err != nil {
		return "", err
	}
	first, err := w.Repo.WriteCommit(git.Commit{Tree: tree, Author: by, Committer: by, Message: initMessage})
	if err != nil {
		return "", err
	}
	return w.list(ctx, first, by)
}

// list returns a commit whose tree lists w.Forgotten: tip, if its tree does, else a child of it.
func (w *Rewriting) list(ctx context.Context, tip git.OID, by git.Signature) (git.OID, error) {
	if w.Forgotten.Empty() {
		return tip, nil
	}
	commit, err := w.Repo.Commit(ctx, string(tip))
	if err != nil {
		return "", err
	}
	listed, err := ForgottenIn(ctx, w.Repo, commit.Tree)
	if err != nil || listed.Has(w.Forgotten) {
		return tip, err
	}
	data, err := encodeFields(listed.With(w.Forgotten), nil)
	if err != nil {
		return "", err
	}
	oid, err := WriteBlob(w.Repo, data)
	if err != nil {
		return "", err
	}
	edit := git.TreeEdit{Path: forgottenFile, Mode: git.ModeFile, OID: oid}
	tree, err := git.EditTree(ctx, w.Repo, commit.Tree, []git.TreeEdit{edit})
	if err != nil {
		return "", err
	}
	if tree == commit.Tree { // the list has more than is read of it
		return tip, nil
	}
	return w.Repo.WriteCommit(git.Commit{Tree: tree, Parents: []git.OID{tip}, Author: by, Committer: by, Message: forgetMessage})
}
