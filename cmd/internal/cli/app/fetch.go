package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

// FetchObjects fetches objects that a partial clone lacks from the promisor remote, else from
// origin, else from the only remote.
func (a *App) FetchObjects(ctx context.Context, repo *git.Repo, missing []git.OID) error {
	remote, err := promisor(ctx, repo)
	if err != nil {
		return err
	}
	return a.WithTransferProgress(repo, "Fetching from "+remote, func() error {
		if err := git.FetchObjects(ctx, repo, remote, missing); err != nil {
			return fmt.Errorf("fetch %d objects from %s: %w", len(missing), remote, err)
		}
		return nil
	})
}

// promisor returns the remote to fetch missing objects from.
func promisor(ctx context.Context, repo *git.Repo) (string, error) {
	promised, err := repo.Config.Match(ctx, `^remote\..*\.promisor$`)
	if err != nil {
		return "", err
	}
	for _, key := range slices.Sorted(maps.Keys(promised)) {
		if promised[key] != "false" {
			return strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".promisor"), nil
		}
	}
	names, err := git.Remotes(ctx, repo)
	switch {
	case err != nil:
		return "", err
	case slices.Contains(names, "origin"):
		return "origin", nil
	case len(names) == 1:
		return names[0], nil
	}
	return "", WithHint(errors.New("no remote to fetch from"), "add the remote that has entire/checkpoints/v1 as origin")
}

// FetchRecord fetches the branch with checkpoints, which a clone of a single branch lacks.
func (a *App) FetchRecord(ctx context.Context, repo *git.Repo) error {
	remote, err := promisor(ctx, repo)
	if err != nil {
		return err
	}
	tracking := "refs/remotes/" + remote + "/" + strings.TrimPrefix(checkpoint.MetadataBranch, "refs/heads/")
	return a.WithTransferProgress(repo, "Fetching from "+remote, func() error {
		if err := git.Fetch(ctx, repo, remote, "+"+checkpoint.MetadataBranch+":"+tracking); err != nil {
			return fmt.Errorf("fetch the checkpoints of %s: %w", remote, err)
		}
		return nil
	})
}
