package importing

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Undo removes all imported checkpoints and links that were not shared, in one transaction, and the index,
// which is filled again without them. It returns the number of checkpoints.
func Undo(ctx context.Context, w *workspace.Workspace) (n int, err error) {
	err = w.WithLock(ctx, func() error {
		refs, err := importedRefs(ctx, w)
		if err != nil {
			return err
		}
		if len(refs) == 0 { // a run that was killed may have left the list of imported files
			return removeLists(w)
		}
		if n, err = count(ctx, w); err != nil {
			return err
		}
		err = git.Remove(ctx, w.Repo, "entire: undo import", refs)
		w.Repo.Notes.Reset()
		if err != nil {
			return err
		}
		return errors.Join(query.DropIndex(ctx, w), removeLists(w))
	})
	if err != nil {
		return 0, fmt.Errorf("undo the import: %w", err)
	}
	return n, nil
}

// removeLists removes the lists of imported files and messages.
func removeLists(w *workspace.Workspace) error {
	return errors.Join(disk.Remove(w.ImportedMessagesPath()), disk.Remove(registerPath(w)))
}

// Share moves all imported checkpoints to where new ones go by the settings, and their links to
// git.NotesRef, in one transaction. From then on they are sent like others. A commit that git.NotesRef links
// keeps its link. It returns the number of checkpoints.
func Share(ctx context.Context, w *workspace.Workspace) (n int, err error) {
	if err := w.CheckTombstones(); err != nil {
		return 0, err
	}
	if err := w.LearnTombstonesHere(ctx); err != nil {
		return 0, err
	}
	err = w.WithLock(ctx, func() error {
		return w.Repo.WriteTogether(git.LargeBatch, func() (err error) {
			n, err = moveToShared(ctx, w)
			return err
		})
	})
	if err != nil {
		return 0, fmt.Errorf("share the import: %w", err)
	}
	return n, nil
}

func moveToShared(ctx context.Context, w *workspace.Workspace) (int, error) {
	refs, err := importedRefs(ctx, w)
	if err != nil || len(refs) == 0 {
		return 0, err
	}
	by, err := w.Identity(ctx)
	if err != nil {
		return 0, err
	}
	extra, err := shareNotes(ctx, w, by)
	if err != nil {
		return 0, err
	}
	t, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
	if err != nil {
		return 0, err
	}
	rw := &checkpoint.Rewriting{Repo: w.Repo, Forgotten: t.Forgotten}
	if f := t.Masker(func() []string { return git.WorktreeRoots(w.Repo) }); f != nil {
		rw.Mask = f.Mask
	}
	n, err := checkpoint.Share(ctx, rw, w.Options.Order, by, extra)
	w.Repo.Notes.Reset()
	return n, err
}

// shareNotes returns the changes of refs that add the imported notes to git.NotesRef and remove
// git.ImportedNotesRef.
func shareNotes(ctx context.Context, w *workspace.Workspace, by git.Signature) ([]git.RefChange, error) {
	w.Repo.Notes.Reset()
	trees, err := w.Repo.Notes.Trees(ctx)
	if err != nil || trees.Imported == "" {
		return nil, err
	}
	noted, err := git.Noted(ctx, w.Repo, trees.Imported)
	if err != nil {
		return nil, err
	}
	texts := map[git.OID]string{}
	for _, commit := range noted {
		own, err := w.Repo.Notes.Own(ctx, commit)
		if err != nil {
			return nil, err
		}
		text, err := w.Repo.Notes.Of(ctx, commit) // without the imported note, if the commit has another link
		if err != nil {
			return nil, err
		}
		if text != own {
			texts[commit] = text
		}
	}
	tip, _, err := git.RefCommit(ctx, w.Repo, git.ImportedNotesRef)
	if err != nil {
		return nil, err
	}
	removed := git.RefChange{Name: git.ImportedNotesRef, Old: tip.OID}
	if len(texts) == 0 {
		return []git.RefChange{removed}, nil
	}
	change, err := git.NotesChange(ctx, w.Repo, git.NotesRef, by, texts)
	return []git.RefChange{removed, change}, err
}

// importedRefs returns the refs of imported checkpoints and of their links.
func importedRefs(ctx context.Context, w *workspace.Workspace) ([]git.Ref, error) {
	var refs []git.Ref
	for _, name := range []string{checkpoint.ImportedRef, git.ImportedNotesRef} {
		tip, found, err := git.RefCommit(ctx, w.Repo, name)
		if err != nil {
			return nil, err
		}
		if found {
			refs = append(refs, git.Ref{Name: name, OID: tip.OID})
		}
	}
	return refs, nil
}

// count returns the number of checkpoints on checkpoint.ImportedRef.
func count(ctx context.Context, w *workspace.Workspace) (int, error) {
	tip, found, err := git.RefCommit(ctx, w.Repo, checkpoint.ImportedRef)
	if err != nil || !found {
		return 0, err
	}
	ids, err := checkpoint.ImportedSource(w.Repo, tip.Tree).Find(ctx, "")
	return len(ids), err
}
