package sharing

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/filelock"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/internal/git/gitremote"
)

// fetched is where a remote's checkpoints are kept while they are merged.
const fetched = "refs/entire/fetched/checkpoints/v1"

// FetchCheckpoints gets the checkpoints of a remote, by its name or URL, and
// adds them to the local branch as checkpoint.Merge does: nothing that is here
// is lost, and nothing moves if the remote has nothing new. The error is
// gitremote.ErrNoRef if the remote has no checkpoints. It uses the network,
// for as long as ctx allows.
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
	// What a process left that was killed holds objects which nobody needs.
	return errors.Join(err, pu.dropFetched(context.WithoutCancel(ctx)), lock.Unlock())
}

// takeIn fetches a remote's checkpoints and merges them into the local branch.
func (pu *Pusher) takeIn(ctx context.Context, remote string) error {
	if err := gitremote.Fetch(ctx, pu.Repo, remote, "+"+checkpoint.MetadataBranch+":"+fetched); err != nil {
		return err
	}
	err := pu.mergeFetched(ctx)
	if !errors.Is(err, git.ErrMissing) {
		return err
	}
	// A partial clone has left out what the merge needs.
	for _, ref := range []string{fetched, checkpoint.MetadataBranch} {
		if err := gitremote.FetchMissing(ctx, pu.Repo, remote, ref); err != nil {
			return err
		}
	}
	return pu.mergeFetched(ctx)
}

// mergeFetched merges what was fetched.
func (pu *Pusher) mergeFetched(ctx context.Context) error {
	by, err := pu.Identity(ctx)
	if err != nil {
		return err
	}
	return pu.WithLock(ctx, func() error {
		theirs, err := pu.Repo.Commit(ctx, fetched)
		if err != nil {
			return err
		}
		clean, err := pu.withoutForgotten(ctx, theirs.OID)
		if err != nil {
			return err
		}
		if err := pu.tombstones.Learn(ctx, theirs.Tree); err != nil { // before the branch lists it: a run may be killed
			return err
		}
		_, err = checkpoint.Merge(ctx, pu.Repo, by, clean, []gitref.Change{{Name: fetched, Old: theirs.OID}})
		return err
	})
}

// dropFetched removes the ref of a fetch that was not merged.
func (pu *Pusher) dropFetched(ctx context.Context) error {
	tip, err := pu.tipOf(ctx, fetched)
	if tip == "" || err != nil {
		return err
	}
	return gitref.Update(ctx, pu.Repo, "entire: fetch given up", []gitref.Change{{Name: fetched, Old: tip}})
}

// tipOf returns the commit of a ref, empty if there is no such ref.
func (pu *Pusher) tipOf(ctx context.Context, ref string) (git.OID, error) {
	c, err := pu.Repo.Commit(ctx, ref)
	if errors.Is(err, git.ErrMissing) {
		return "", nil
	}
	return c.OID, err
}
