package record

import (
	"context"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// FoundShare is a commit that was made without hooks.
type FoundShare struct {
	git.Commit

	Changes tracking.CommitChanges
	// By is the session whose hook found the commit in its turn, "" if none did.
	By string
}

// FoundShares decides which sessions a commit belongs to that was made without hooks. The user
// could not be asked and no staged files could be compared: a session has a share only if it
// existed when the commit was made and the content of a file is the session's.
func FoundShares(ctx context.Context, w *workspace.Workspace, here []*session.State, c FoundShare) ([]tracking.Share, error) {
	var shares []tracking.Share
	files := authorship.NewCreated(w, c.Changes, here)
	for _, s := range workspace.NewestFirst(here) {
		if c.Committer.When.Before(s.StartedAt.Truncate(time.Second)) {
			continue
		}
		var share tracking.Share
		var err error
		switch {
		case s.ID == c.By && inTurn(w, s):
			share, err = agentFiles(ctx, w, s, files)
		case session.MayCondense(s):
			share, err = overlap(ctx, w, s, files)
		}
		if err != nil {
			return nil, err
		}
		var failed error
		isShare := slices.ContainsFunc(share.Files, func(p string) bool {
			if _, isRenamed := share.RenamedFrom(p); isRenamed {
				return true // by its lines
			}
			isShare, err := files.IsShare(ctx, s, p)
			if err != nil {
				failed = err
			}
			return isShare
		})
		if failed != nil {
			return nil, failed
		}
		if isShare {
			shares = append(shares, share)
		}
	}
	return shares, nil
}
