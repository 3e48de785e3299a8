package sharing

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/checkpoint/tombstone"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/filelock"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitnote"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/internal/git/gitremote"
	"github.com/seed-3aff656d/entire/internal/git/gitwork"
	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
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
	shown := gitremote.HideURL(remote)
	err := pu.exchange(ctx, func(bool) error {
		got, err := pu.takeIn(ctx, remote, "")
		got.report(shown, pu.Env.Say)
		return err
	})
	if err != nil {
		return fmt.Errorf("fetch checkpoints from %s: %w", shown, err)
	}
	return nil
}

// FetchForgotten fetches the checkpoints of configured remotes that, as the last fetch of them shows,
// list content as forgotten that this repository still has, and removes it here. Otherwise it uses
// no network.
func (pu *Pusher) FetchForgotten(ctx context.Context) error {
	const prefix, suffix = "refs/remotes/", "/entire/checkpoints/v1"
	refs, err := gitref.List(ctx, pu.Repo, prefix+"*"+suffix)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		more, err := pu.tombstones.Lacks(ctx, ref.OID)
		if err != nil {
			return err
		}
		if !more {
			continue
		}
		remote := strings.TrimSuffix(strings.TrimPrefix(ref.Name, prefix), suffix)
		place, err := gitremote.FindDestination(ctx, pu.Repo, remote)
		if err != nil {
			return err
		}
		if !place.Configured || pu.CheckRemote(place) != nil {
			continue
		}
		if err := pu.FetchCheckpoints(ctx, remote); err != nil {
			return err
		}
	}
	t, err := tombstone.Load(pu.Repo.CommonDir)
	if err != nil || !t.Unswept {
		return err
	}
	return pu.exchange(ctx, func(bool) error { return nil }) // a process was killed before its end
}

// HasUnlearned reports whether the user has fetched a history of push_remote, by git alone, that lists
// content as forgotten that this repository doesn't know to be: then TakeFetched removes it. It starts
// no git process if nothing was fetched since it returned false.
func (pu *Pusher) HasUnlearned(ctx context.Context) bool {
	if pu.Options.PushRemote == "" {
		return false
	}
	now, err := pu.Repo.ResolveRef(trackingRef(pu.Options.PushRemote))
	if errors.Is(err, git.ErrMissing) {
		return false
	}
	path := filepath.Join(pu.RecordsDir(), "fetched.seen")
	if seen, failed := disk.ReadFile(path); err == nil && failed == nil && string(seen) == string(now) {
		return false
	}
	tip, failed := pu.unlearned(ctx)
	if failed == nil && tip == "" && err == nil {
		failed = disk.WriteCache(path, []byte(now), 0o600)
	}
	if failed != nil {
		pu.Log.InfoContext(ctx, "fetched checkpoints not examined", "error", failed.Error())
	}
	return tip != ""
}

// unlearned returns the commit of the history that HasUnlearned reports, or "". A partial clone may
// lack what its merge needs, and has none.
func (pu *Pusher) unlearned(ctx context.Context) (git.OID, error) {
	tip, err := pu.tipOf(ctx, trackingRef(pu.Options.PushRemote))
	if err != nil || tip == "" {
		return "", err
	}
	more, err := pu.tombstones.Lacks(ctx, tip)
	if err != nil || !more {
		return "", err
	}
	if partial, err := pu.Repo.IsPartial(); err != nil || partial {
		return "", err
	}
	return tip, nil
}

// TakeFetched merges the history that HasUnlearned reports into the local branch, and removes what it
// lists from here, without the network.
func (pu *Pusher) TakeFetched(ctx context.Context) error {
	if pu.Options.PushRemote == "" {
		return nil
	}
	tip, err := pu.unlearned(ctx)
	if err != nil || tip == "" {
		return err
	}
	place, err := gitremote.FindDestination(ctx, pu.Repo, pu.Options.PushRemote)
	if err == nil {
		err = pu.CheckRemote(place)
	}
	if err != nil {
		return err
	}
	return pu.exchange(ctx, func(bool) error {
		if err := gitref.Update(ctx, pu.Repo, "entire: take fetched", []gitref.Change{{Name: fetched, New: tip}}); err != nil {
			return err
		}
		_, err := pu.mergeFetched(ctx, "")
		return err
	})
}

// trackingRef returns the ref of the metadata branch of a remote as git fetched it last.
func trackingRef(remote string) string {
	return "refs/remotes/" + remote + "/" + strings.TrimPrefix(checkpoint.MetadataBranch, "refs/heads/")
}

// taken describes the history that was fetched from a remote.
type taken struct {
	tip git.OID
	// learned reports that it listed content as forgotten that this repository didn't know to be,
	// texts that texts were among it.
	learned, texts bool
	// masked reports that it contained forgotten content, listed that the remote's own list, or that
	// of the branch that was last sent there, names all of it.
	masked, listed bool
}

// report prints a line about forgotten content.
func (t taken) report(remote string, say func(line string)) {
	switch {
	case t.masked:
		say("entire: the checkpoints of " + remote + " have forgotten content again: it was left out here")
	case t.learned:
		say("entire: " + remote + " lists forgotten content: it was removed from the checkpoints here")
		if !t.texts {
			return
		}
		say("hint: `entire forget --listed` removes it from sessions, snapshots and shadow branches, too")
	}
}

// exchange runs do while no other process of this repository exchanges
// checkpoints with a remote. Neither hooks nor commits wait for it. searched reports that the branch has
// nothing that was forgotten; a partial clone may lack contents that have to be searched. If they are
// missing to the end the error is an [AbsentError].
func (pu *Pusher) exchange(ctx context.Context, do func(searched bool) error) error {
	if err := disk.MkdirAll(pu.RecordsDir(), 0o700); err != nil {
		return fmt.Errorf("make %s: %w", pu.RecordsDir(), err)
	}
	lock, err := filelock.Acquire(ctx, filepath.Join(pu.RecordsDir(), "remote.lock"))
	if err != nil {
		return errors.Join(ctx.Err(), err)
	}
	err = pu.sweep(ctx)
	searched := !errors.Is(err, git.ErrMissing)
	if !searched {
		pu.Log.WarnContext(ctx, "checkpoints not searched for forgotten content", "error", err.Error())
		err = nil
	}
	if err == nil {
		err = do(searched)
	}
	// Remove the refs of all fetches: those of fetches that weren't merged, also by a killed
	// process, and all of notes.
	sweeping := ctx
	ctx = context.WithoutCancel(ctx)
	left, dropped := gitref.List(ctx, pu.Repo, "refs/entire/fetched/")
	if dropped == nil && len(left) > 0 {
		drop := make([]gitref.Change, len(left))
		for i, ref := range left {
			drop[i] = gitref.Change{Name: ref.Name, Old: ref.OID}
		}
		dropped = gitref.Update(ctx, pu.Repo, "entire: fetch given up", drop)
	}
	if err == nil {
		err = pu.sweep(sweeping)
	}
	if errors.Is(err, git.ErrMissing) {
		err = &AbsentError{err}
	}
	return errors.Join(err, dropped, lock.Unlock())
}

// takeIn fetches a remote's checkpoints and merges them into the local branch. sent is the commit
// that was last sent there, if any.
func (pu *Pusher) takeIn(ctx context.Context, remote string, sent git.OID) (taken, error) {
	err := gitremote.Fetch(ctx, pu.Repo, remote, "+"+checkpoint.MetadataBranch+":"+fetched, "+"+git.NotesRef+"*:"+fetchedNotes+"*")
	if err != nil {
		return taken{}, err
	}
	got, err := pu.mergeFetched(ctx, sent)
	if !errors.Is(err, git.ErrMissing) {
		return got, err
	}
	// A partial clone lacks objects that the merge needs.
	for _, ref := range []string{fetched, checkpoint.MetadataBranch, fetchedNotes, git.NotesRef} {
		if tip, err := pu.tipOf(ctx, ref); err != nil || tip == "" {
			continue // it doesn't exist, or its object is missing
		}
		if err := gitremote.FetchMissing(ctx, pu.Repo, remote, ref); err != nil {
			return taken{}, err
		}
	}
	return pu.mergeFetched(ctx, sent)
}

// mergeFetched merges the fetched checkpoints and notes.
func (pu *Pusher) mergeFetched(ctx context.Context, sent git.OID) (got taken, err error) {
	by, err := pu.Identity(ctx)
	if err != nil {
		return got, err
	}
	return got, pu.WithLock(ctx, func() error {
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
		got.tip = theirs.OID
		before, err := tombstone.Load(pu.Repo.CommonDir)
		if err != nil {
			return err
		}
		if got.learned, err = pu.tombstones.Learn(ctx, theirs.Tree); err != nil { // first, so that the next run repeats it if this one is killed
			return err
		}
		t, err := tombstone.Load(pu.Repo.CommonDir)
		if err != nil {
			return err
		}
		got.texts = !forgotten.Contains(before.Marks, t.Marks)
		w, err := pu.rewriting(ctx, t)
		if err != nil {
			return err
		}
		tip, err := checkpoint.Merge(ctx, w, by, theirs.OID, []gitref.Change{{Name: fetched, Old: theirs.OID}})
		if err != nil || t.IsEmpty() {
			return err
		}
		t.Verified = tip
		if got.masked = w.At(theirs.OID) != theirs.OID; got.masked {
			t.Unswept = true // a fetch by the user may have left it in a tracking ref
			if got.listed, err = pu.isListed(ctx, w, theirs, sent); err != nil {
				return err
			}
		}
		return t.Save(pu.Repo.CommonDir)
	})
}

// rewriting returns a rewriting that removes everything that t lists.
func (pu *Pusher) rewriting(ctx context.Context, t tombstone.List) (*checkpoint.Rewriting, error) {
	w := &checkpoint.Rewriting{Repo: pu.Repo, Forgotten: t.Forgotten}
	if f := t.Masker(func() []string { return gitwork.Roots(pu.Repo) }); f != nil {
		w.Mask = f.Mask
	}
	if t.Verified == "" {
		return w, nil
	}
	_, err := pu.Repo.Commit(ctx, string(t.Verified))
	switch {
	case err == nil:
		w.Clean = t.Verified
	case errors.Is(err, git.ErrMissing): // removed by git's gc
		err = nil
	}
	return w, err
}

// isListed reports whether the list in the tree of theirs, or in that of sent, names all that w has
// removed from the history of theirs: then its users agreed to have it removed there.
func (pu *Pusher) isListed(ctx context.Context, w *checkpoint.Rewriting, theirs git.Commit, sent git.OID) (bool, error) {
	list, err := checkpoint.ForgottenIn(ctx, pu.Repo, theirs.Tree)
	if err != nil {
		return false, err
	}
	if sent != "" {
		last, err := pu.Repo.Commit(ctx, string(sent))
		if err != nil {
			return false, err
		}
		before, err := checkpoint.ForgottenIn(ctx, pu.Repo, last.Tree)
		if err != nil {
			return false, err
		}
		list = list.With(before)
	}
	next, err := (&checkpoint.Rewriting{Repo: pu.Repo, Forgotten: list, Clean: w.Clean}).Metadata(ctx, theirs.OID)
	return next == w.At(theirs.OID), err
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
