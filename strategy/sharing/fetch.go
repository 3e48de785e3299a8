package sharing

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/checkpoint/tombstone"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/filelock"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitnote"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/internal/git/gitremote"
	"github.com/seed-3aff656d/entire/internal/git/gitwork"
)

// fetched is the ref of a remote's checkpoints while they are merged, fetchedNotes the prefix
// of the refs of its notes, of which there may be none.
const (
	fetched      = "refs/entire/fetched/checkpoints/v1"
	fetchedNotes = "refs/entire/fetched/notes/entire"
)

// FetchCheckpoints fetches the checkpoints of a remote, given by name or URL, and merges them
// into the local branch with checkpoint.Merge: no local checkpoint is lost, and the branch
// doesn't move if the remote has nothing new. The error is gitremote.ErrNoRef if the remote
// has no checkpoints. It uses the network until ctx ends.
func (pu *Pusher) FetchCheckpoints(ctx context.Context, remote string) error {
	if err := pu.exchange(ctx, func() error { return pu.takeIn(ctx, remote) }); err != nil {
		return fmt.Errorf("fetch checkpoints from %s: %w", gitremote.HideURL(remote), err)
	}
	return nil
}

// exchange runs do while no other process of this repository exchanges
// checkpoints with a remote. Neither hooks nor commits wait for it.
func (pu *Pusher) exchange(ctx context.Context, do func() error) error {
	if err := disk.MkdirAll(pu.RecordsDir(), 0o700); err != nil {
		return fmt.Errorf("make %s: %w", pu.RecordsDir(), err)
	}
	lock, err := filelock.Acquire(ctx, filepath.Join(pu.RecordsDir(), "remote.lock"))
	if err != nil {
		return errors.Join(ctx.Err(), err)
	}
	err = do()
	// Remove the refs of all fetches: those of fetches that weren't merged, also by a killed
	// process, and all of notes.
	ctx = context.WithoutCancel(ctx)
	left, dropped := gitref.List(ctx, pu.Repo, "refs/entire/fetched/")
	if dropped == nil && len(left) > 0 {
		drop := make([]gitref.Change, len(left))
		for i, ref := range left {
			drop[i] = gitref.Change{Name: ref.Name, Old: ref.OID}
		}
		dropped = gitref.Update(ctx, pu.Repo, "entire: fetch given up", drop)
	}
	return errors.Join(err, dropped, lock.Unlock())
}

// takeIn fetches a remote's checkpoints and merges them into the local branch.
func (pu *Pusher) takeIn(ctx context.Context, remote string) error {
	err := gitremote.Fetch(ctx, pu.Repo, remote, "+"+checkpoint.MetadataBranch+":"+fetched, "+"+git.NotesRef+"*:"+fetchedNotes+"*")
	if err != nil {
		return err
	}
	err = pu.mergeFetched(ctx)
	if !errors.Is(err, git.ErrMissing) {
		return err
	}
	// A partial clone lacks objects that the merge needs.
	for _, ref := range []string{fetched, checkpoint.MetadataBranch, fetchedNotes, git.NotesRef} {
		if tip, err := pu.tipOf(ctx, ref); err != nil || tip == "" {
			continue // it doesn't exist, or its object is missing
		}
		if err := gitremote.FetchMissing(ctx, pu.Repo, remote, ref); err != nil {
			return err
		}
	}
	return pu.mergeFetched(ctx)
}

// mergeFetched merges the fetched checkpoints and notes.
func (pu *Pusher) mergeFetched(ctx context.Context) error {
	by, err := pu.Identity(ctx)
	if err != nil {
		return err
	}
	return pu.WithLock(ctx, func() error {
		err := gitref.ErrMoved
		for attempt := 0; attempt < pushAttempts && errors.Is(err, gitref.ErrMoved); attempt++ {
			err = pu.mergeNotes(ctx, by)
		}
		if err != nil {
			return err
		}
		theirs, err := pu.Repo.Commit(ctx, fetched)
		if err != nil {
			return err
		}
		t, err := tombstone.Load(pu.Repo.CommonDir)
		if err != nil {
			return err
		}
		clean := theirs.OID // without the texts and files that were forgotten here
		if f := t.Masker(func() []string { return gitwork.Roots(pu.Repo) }); f != nil {
			if clean, err = (&checkpoint.Rewriting{Repo: pu.Repo, Mask: f.Mask}).Metadata(ctx, clean); err != nil {
				return err
			}
		}
		if err := pu.tombstones.Learn(ctx, theirs.Tree); err != nil { // first, so that the next run repeats it if this one is killed
			return err
		}
		_, err = checkpoint.Merge(ctx, pu.Repo, by, clean, []gitref.Change{{Name: fetched, Old: theirs.OID}})
		return err
	})
}

// mergeNotes merges the notes that were fetched. It wraps gitref.ErrMoved if a hook moves them meanwhile.
func (pu *Pusher) mergeNotes(ctx context.Context, by git.Signature) error {
	theirs, err := pu.Repo.Commit(ctx, fetchedNotes)
	if errors.Is(err, git.ErrMissing) {
		return nil // the remote has none
	}
	if err != nil {
		return err
	}
	ours, err := pu.Repo.Commit(ctx, git.NotesRef)
	next := theirs.OID
	switch {
	case err == nil:
		if next, err = gitnote.Merge(ctx, pu.Repo, by, ours, theirs); err != nil {
			return err
		}
	case !errors.Is(err, git.ErrMissing):
		return err
	}
	defer pu.Repo.Notes.Reset()
	if next == ours.OID {
		return nil
	}
	return gitref.Update(ctx, pu.Repo, "entire: merge notes", []gitref.Change{{Name: git.NotesRef, New: next, Old: ours.OID}})
}

// tipOf returns the commit of a ref, empty if there is no such ref.
func (pu *Pusher) tipOf(ctx context.Context, ref string) (git.OID, error) {
	c, err := pu.Repo.Commit(ctx, ref)
	if errors.Is(err, git.ErrMissing) {
		return "", nil
	}
	return c.OID, err
}
