package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitremote"
	"github.com/seed-3aff656d/entire/strategy/explain"
)

// fetch gets from the remote what this clone lacks of the checkpoints that are shown.
func (e *explaining) fetch(ctx context.Context) error {
	var missing []git.OID
	var err error
	switch {
	case e.opts.checkpoint != "":
		missing, err = e.reader.MissingOfCheckpoint(ctx, e.opts.checkpoint)
	case e.opts.commit != "":
		missing, err = e.reader.MissingOfCommit(ctx, e.opts.commit)
	default:
		missing, err = e.reader.MissingOfList(ctx)
	}
	if err != nil || len(missing) == 0 {
		return err
	}
	remote, err := e.remote(ctx)
	if err != nil {
		return err
	}
	return e.Transferring(e.reader.Repo, "Fetching from "+remote, func() error {
		if err := gitremote.FetchObjects(ctx, e.reader.Repo, remote, missing); err != nil {
			return fmt.Errorf("fetch %d objects from %s: %w", len(missing), remote, err)
		}
		return nil
	})
}

// remote returns the remote that promised what this clone lacks, else origin, else the
// only one.
func (e *explaining) remote(ctx context.Context) (string, error) {
	promised, err := e.reader.Repo.Config.Match(ctx, `^remote\..*\.promisor$`)
	if err != nil {
		return "", err
	}
	for key := range promised {
		return strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".promisor"), nil
	}
	names, err := gitremote.List(ctx, e.reader.Repo)
	switch {
	case err != nil:
		return "", err
	case slices.Contains(names, "origin"):
		return "origin", nil
	case len(names) == 1:
		return names[0], nil
	}
	return "", app.WithHint(errors.New("no remote to fetch from"), "add the remote that has entire/checkpoints/v1 as origin")
}

// problemText explains why a session is not shown whole.
func problemText(t explain.Session) string {
	if errors.Is(t.Problem, git.ErrMissing) {
		return "not in this clone: " + t.Problem.Error()
	}
	return "can't be read: " + t.Problem.Error()
}
