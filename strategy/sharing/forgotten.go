package sharing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/checkpoint/tombstone"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/internal/git/gitremote"
)

// ErrRemoteHasForgotten means that a remote still has data that was forgotten here.
var ErrRemoteHasForgotten = errors.New("it still has content that was forgotten here: run entire forget --push")

// PushForgotten replaces the remote's metadata branch, which has forgotten data, by this
// repository's. Additions of other clones to the remote's are merged first. It fails if the
// remote's branch moves meanwhile.
func (pu *Pusher) PushForgotten(ctx context.Context, remote string) error {
	place, err := gitremote.FindDestination(ctx, pu.Repo, remote)
	if err == nil {
		err = pu.CheckRemote(place)
	}
	if err != nil {
		return err
	}
	err = pu.exchange(ctx, func() error {
		t, err := tombstone.Load(pu.Repo.CommonDir)
		if err != nil {
			return err
		}
		at, err := gitremote.Ref(ctx, pu.Repo, remote, checkpoint.MetadataBranch)
		if err != nil {
			return err
		}
		if at != "" && !slices.Contains(t.Replaced, at) {
			if err := pu.takeIn(ctx, remote); err != nil {
				return err
			}
		}
		tip, err := pu.tipOf(ctx, checkpoint.MetadataBranch)
		if err != nil || tip == "" || tip == at {
			return err
		}
		return gitremote.Replace(ctx, pu.Repo, remote, gitref.Change{Name: checkpoint.MetadataBranch, New: tip, Old: at})
	})
	if err != nil {
		return fmt.Errorf("send to %s: %w", gitremote.HideURL(remote), err)
	}
	return nil
}
