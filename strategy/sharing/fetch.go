package sharing

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// fetched is the ref of a remote's checkpoints while they are merged, fetchedNotes the prefix
// of the refs of its notes, of which there may be none.
const (
	fetched      = checkpoint.FetchedRefs + "checkpoints/v1"
	fetchedNotes = checkpoint.FetchedRefs + "notes/entire"
)

// FetchCheckpoints fetches the checkpoints of a remote, given by name or URL, and merges them
// into the local branch with checkpoint.Merge: no local checkpoint is lost, and the branch
// doesn't move if the remote has nothing new. The error is git.ErrNoRemoteRef if the remote
// has no checkpoints. It uses the network until ctx ends.
func FetchCheckpoints(ctx context.Context, w *workspace.Workspace, remote string) error {
	shown := git.HideURL(remote)
	err := exchange(ctx, w, func(bool) error {
		got, err := takeIn(ctx, w, remote, "")
		got.report(shown, w.Env.Say)
		return err
	})
	if err != nil {
		return fmt.Errorf("fetch checkpoints from %s: %w", shown, err)
	}
	return nil
}

// Fetch fetches all checkpoints of a remote that the user asked to fetch from, also those with refs of
// their own, and merges them as FetchCheckpoints does. It returns the number of checkpoints that were not
// here before, and removes what the remote lists as forgotten. The error wraps git.ErrNoRemoteRef if the
// remote has no checkpoints.
func Fetch(ctx context.Context, w *workspace.Workspace, remote string) (int, error) {
	place, err := git.FindPushDestination(ctx, w.Repo, remote)
	if err == nil {
		err = CheckRemote(w, place)
	}
	if err != nil {
		return 0, err
	}
	before, err := known(ctx, w)
	if err != nil {
		return 0, err
	}
	all := *w
	all.Options.Order = checkpoint.RefsFirst
	if err := FetchCheckpoints(ctx, &all, remote); err != nil {
		return 0, err
	}
	after, err := known(ctx, w)
	return max(len(after)-len(before), 0), err
}

// known returns the ids of the checkpoints that are here.
func known(ctx context.Context, w *workspace.Workspace) ([]checkpoint.ID, error) {
	records, err := w.Records(ctx)
	if err != nil {
		return nil, err
	}
	return records.Find(ctx, "")
}

// FetchForgotten fetches the checkpoints of configured remotes that, as the last fetch of them shows,
// list content as forgotten that this repository still has, and removes it here. Otherwise it uses
// no network.
func FetchForgotten(ctx context.Context, w *workspace.Workspace) error {
	refs, err := git.ListRefs(ctx, w.Repo, checkpoint.RemoteBranches)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		more, err := w.LacksTombstones(ctx, ref.OID)
		if err != nil {
			return err
		}
		if !more {
			continue
		}
		remote := remoteOf(ref.Name)
		place, err := git.FindPushDestination(ctx, w.Repo, remote)
		if err != nil {
			return err
		}
		if !place.Configured || CheckRemote(w, place) != nil {
			continue
		}
		if err := FetchCheckpoints(ctx, w, remote); err != nil {
			return err
		}
	}
	t, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
	if err != nil || !t.Unswept {
		return err
	}
	return exchange(ctx, w, func(bool) error { return nil }) // a process was killed before its end
}

// HasUnlearned reports whether the user has fetched a history of push_remote, by git alone, that lists
// content as forgotten that this repository doesn't know to be: then TakeFetched removes it. It starts
// no git process if nothing was fetched since it returned false.
func HasUnlearned(ctx context.Context, w *workspace.Workspace) bool {
	if w.Options.PushRemote == "" {
		return false
	}
	now, err := w.Repo.ResolveRef(trackingRef(w.Options.PushRemote))
	if errors.Is(err, git.ErrMissing) {
		return false
	}
	path := filepath.Join(w.RecordsDir(), "fetched.seen")
	if seen, failed := disk.ReadFile(path); err == nil && failed == nil && string(seen) == string(now) {
		return false
	}
	tip, failed := unlearned(ctx, w)
	if failed == nil && tip == "" && err == nil {
		failed = disk.WriteCache(path, []byte(now), 0o600)
	}
	if failed != nil {
		w.Log.InfoContext(ctx, "fetched checkpoints not examined", "error", failed.Error())
	}
	return tip != ""
}

// unlearned returns the commit of the history that HasUnlearned reports, or "". A partial clone may
// lack what its merge needs, and has none.
func unlearned(ctx context.Context, w *workspace.Workspace) (git.OID, error) {
	tip, err := tipOf(ctx, w, trackingRef(w.Options.PushRemote))
	if err != nil || tip == "" {
		return "", err
	}
	more, err := w.LacksTombstones(ctx, tip)
	if err != nil || !more {
		return "", err
	}
	if partial, err := w.Repo.IsPartial(); err != nil || partial {
		return "", err
	}
	return tip, nil
}

// TakeFetched merges the history that HasUnlearned reports into the local branch, and removes what it
// lists from here, without the network.
func TakeFetched(ctx context.Context, w *workspace.Workspace) error {
	if w.Options.PushRemote == "" {
		return nil
	}
	tip, err := unlearned(ctx, w)
	if err != nil || tip == "" {
		return err
	}
	place, err := git.FindPushDestination(ctx, w.Repo, w.Options.PushRemote)
	if err == nil {
		err = CheckRemote(w, place)
	}
	if err != nil {
		return err
	}
	return exchange(ctx, w, func(bool) error {
		if err := git.UpdateRefs(ctx, w.Repo, "entire: take fetched", []git.RefChange{{Name: fetched, New: tip}}); err != nil {
			return err
		}
		_, err := mergeFetched(ctx, w, "")
		return err
	})
}

// trackingRef returns the ref of the metadata branch of a remote as git fetched it last.
func trackingRef(remote string) string {
	return "refs/remotes/" + remote + "/" + strings.TrimPrefix(checkpoint.MetadataBranch, "refs/heads/")
}

// remoteOf returns the remote of the ref that trackingRef returns for it.
func remoteOf(ref string) string {
	prefix, suffix, _ := strings.Cut(checkpoint.RemoteBranches, "*")
	return strings.TrimSuffix(strings.TrimPrefix(ref, prefix), suffix)
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
		say("entire: the checkpoints of " + remote + " contain forgotten content again: left out here")
	case t.learned:
		say("entire: " + remote + " lists forgotten content: removed from the checkpoints here")
		if !t.texts {
			say("hint: objects of the old checkpoints stay in this clone until `git gc --prune=now` removes them")
			return
		}
		say("hint: this clone may still have the text, in old objects and in what its sessions recorded; `entire forget --listed` removes it")
	}
}

// exchange runs do while no other process of this repository exchanges
// checkpoints with a remote. Neither hooks nor commits wait for it. searched reports that the branch has
// nothing that was forgotten; a partial clone may lack contents that have to be searched. If they are
// missing to the end the error is an [AbsentError].
func exchange(ctx context.Context, w *workspace.Workspace, do func(searched bool) error) error {
	if err := disk.MkdirAll(w.RecordsDir(), 0o700); err != nil {
		return fmt.Errorf("make %s: %w", w.RecordsDir(), err)
	}
	lock, err := disk.AcquireLock(ctx, filepath.Join(w.RecordsDir(), "remote.lock"))
	if err != nil {
		return errors.Join(ctx.Err(), err)
	}
	err = sweep(ctx, w)
	searched := !errors.Is(err, git.ErrMissing)
	if !searched {
		w.Log.WarnContext(ctx, "checkpoints not searched for forgotten content", "error", err.Error())
		err = nil
	}
	if err == nil {
		err = do(searched)
	}
	// Remove the refs of all fetches: those of fetches that weren't merged, also by a killed
	// process, and all of notes.
	sweeping := ctx
	ctx = context.WithoutCancel(ctx)
	left, dropped := git.ListRefs(ctx, w.Repo, checkpoint.FetchedRefs)
	if dropped == nil {
		dropped = git.Remove(ctx, w.Repo, "entire: fetch given up", left)
	}
	if err == nil {
		err = sweep(sweeping, w)
	}
	if errors.Is(err, git.ErrMissing) {
		err = &AbsentError{err}
	}
	return errors.Join(err, dropped, lock.Unlock())
}

// takeIn fetches a remote's checkpoints and merges them into those here. sent is the commit that was last
// sent there, if any.
func takeIn(ctx context.Context, w *workspace.Workspace, remote string, sent git.OID) (taken, error) {
	got, err := takeInBranch(ctx, w, remote, sent) // first: its list also holds for the refs
	isNone := errors.Is(err, git.ErrNoRemoteRef)
	if !isNone && (err != nil || w.Options.Order != checkpoint.RefsFirst) {
		return got, err
	}
	some, failed := takeInRefs(ctx, w, remote)
	switch {
	case failed != nil:
		return got, failed
	case isNone && some: // it has checkpoints without the branch
		return got, takeInNotes(ctx, w, remote)
	}
	return got, err
}

// takeInBranch is takeIn of the branch and the notes.
func takeInBranch(ctx context.Context, w *workspace.Workspace, remote string, sent git.OID) (taken, error) {
	err := git.Fetch(ctx, w.Repo, remote, "+"+checkpoint.MetadataBranch+":"+fetched, "+"+git.NotesRef+"*:"+fetchedNotes+"*")
	if err != nil {
		return taken{}, err
	}
	got, err := mergeFetched(ctx, w, sent)
	if !errors.Is(err, git.ErrMissing) {
		return got, err
	}
	// A partial clone lacks objects that the merge needs.
	for _, ref := range []string{fetched, checkpoint.MetadataBranch, fetchedNotes, git.NotesRef} {
		if tip, err := tipOf(ctx, w, ref); err != nil || tip == "" {
			continue // it doesn't exist, or its object is missing
		}
		if err := git.FetchMissing(ctx, w.Repo, remote, ref); err != nil {
			return taken{}, err
		}
	}
	return mergeFetched(ctx, w, sent)
}

// takeInNotes fetches a remote's notes and merges them.
func takeInNotes(ctx context.Context, w *workspace.Workspace, remote string) error {
	if err := git.Fetch(ctx, w.Repo, remote, "+"+git.NotesRef+"*:"+fetchedNotes+"*"); err != nil {
		return err
	}
	by, err := w.Identity(ctx)
	if err != nil {
		return err
	}
	return w.WithLock(ctx, func() error {
		err := git.ErrRefMoved
		for attempt := 0; attempt < pushAttempts && errors.Is(err, git.ErrRefMoved); attempt++ {
			err = mergeNotes(ctx, w, by)
		}
		return err
	})
}

// mergeFetched merges the fetched checkpoints and notes.
func mergeFetched(ctx context.Context, w *workspace.Workspace, sent git.OID) (got taken, err error) {
	by, err := w.Identity(ctx)
	if err != nil {
		return got, err
	}
	return got, w.WithLock(ctx, func() error {
		err := git.ErrRefMoved
		for attempt := 0; attempt < pushAttempts && errors.Is(err, git.ErrRefMoved); attempt++ {
			err = mergeNotes(ctx, w, by)
		}
		if err != nil {
			return err
		}
		theirs, err := w.Repo.Commit(ctx, fetched)
		if err != nil {
			return err
		}
		got.tip = theirs.OID
		before, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
		if err != nil {
			return err
		}
		if got.learned, err = w.LearnTombstones(ctx, theirs.Tree); err != nil { // first, so that the next run repeats it if this one is killed
			return err
		}
		t, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
		if err != nil {
			return err
		}
		got.texts = !forgotten.Contains(before.Marks, t.Marks)
		rw, err := rewriting(ctx, w, t)
		if err != nil {
			return err
		}
		tip, err := checkpoint.Merge(ctx, rw, by, theirs.OID, []git.RefChange{{Name: fetched, Old: theirs.OID}})
		if err != nil || t.IsEmpty() {
			return err
		}
		t.Verified = tip
		if got.masked = rw.At(theirs.OID) != theirs.OID; got.masked {
			t.Unswept = true // a fetch by the user may have left it in a tracking ref
			if got.listed, err = isListed(ctx, w, rw, theirs, sent); err != nil {
				return err
			}
		}
		return t.Save(w.Repo.CommonDir)
	})
}

// rewriting returns a rewriting that removes everything that t lists.
func rewriting(ctx context.Context, w *workspace.Workspace, t checkpoint.Tombstones) (*checkpoint.Rewriting, error) {
	rw := &checkpoint.Rewriting{Repo: w.Repo, Forgotten: t.Forgotten}
	if f := t.Masker(func() []string { return git.WorktreeRoots(w.Repo) }); f != nil {
		rw.Mask = f.Mask
	}
	if t.Verified == "" {
		return rw, nil
	}
	_, err := w.Repo.Commit(ctx, string(t.Verified))
	switch {
	case err == nil:
		rw.Clean = t.Verified
	case errors.Is(err, git.ErrMissing): // removed by git's gc
		err = nil
	}
	return rw, err
}

// isListed reports whether the list in the tree of theirs, or in that of sent, names all that w has
// removed from the history of theirs: then its users agreed to have it removed there.
func isListed(ctx context.Context, w *workspace.Workspace, rw *checkpoint.Rewriting, theirs git.Commit, sent git.OID) (bool, error) {
	list, err := checkpoint.ForgottenIn(ctx, w.Repo, theirs.Tree)
	if err != nil {
		return false, err
	}
	if sent != "" {
		last, err := w.Repo.Commit(ctx, string(sent))
		if err != nil {
			return false, err
		}
		before, err := checkpoint.ForgottenIn(ctx, w.Repo, last.Tree)
		if err != nil {
			return false, err
		}
		list = list.With(before)
	}
	next, err := (&checkpoint.Rewriting{Repo: w.Repo, Forgotten: list, Clean: rw.Clean}).Metadata(ctx, theirs.OID)
	return next == rw.At(theirs.OID), err
}

// mergeNotes merges the notes that were fetched. It wraps git.ErrRefMoved if a hook moves them
// meanwhile.
func mergeNotes(ctx context.Context, w *workspace.Workspace, by git.Signature) error {
	theirs, err := w.Repo.Commit(ctx, fetchedNotes)
	if errors.Is(err, git.ErrMissing) {
		return nil // the remote has none
	}
	if err != nil {
		return err
	}
	ours, err := w.Repo.Commit(ctx, git.NotesRef)
	next := theirs.OID
	switch {
	case err == nil:
		if next, err = git.MergeNotes(ctx, w.Repo, by, ours, theirs); err != nil {
			return err
		}
	case !errors.Is(err, git.ErrMissing):
		return err
	}
	defer w.Repo.Notes.Reset()
	if next == ours.OID {
		return nil
	}
	return git.UpdateRefs(ctx, w.Repo, "entire: merge notes", []git.RefChange{{Name: git.NotesRef, New: next, Old: ours.OID}})
}

// tipOf returns the commit of a ref, empty if there is no such ref.
func tipOf(ctx context.Context, w *workspace.Workspace, ref string) (git.OID, error) {
	c, err := w.Repo.Commit(ctx, ref)
	if errors.Is(err, git.ErrMissing) {
		return "", nil
	}
	return c.OID, err
}
