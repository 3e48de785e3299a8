package sharing

import (
	"context"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Destination is the remote to which each push of the user's would send checkpoints, and whether the
// user has allowed that.
type Destination struct {
	// Remote is its name or URL, empty if the settings name none.
	Remote string
	// IsProposed reports that only the project's settings name it.
	IsProposed bool
	// Place is what git makes of it.
	Place git.PushDestination
	// Allowed reports whether checkpoints are sent: the user's own settings name the remote for this
	// repository, or the user has allowed sending to it.
	Allowed bool
}

// FindDestination returns the remote that the settings in force name, else the one that the project's
// settings propose.
func FindDestination(ctx context.Context, w *workspace.Workspace) (Destination, error) {
	d := Destination{Remote: w.Options.PushRemote}
	if d.Remote == "" {
		d.Remote, d.IsProposed = w.Options.ProposedRemote, true
	}
	if d.Remote == "" {
		return Destination{}, nil
	}
	var err error
	if d.Place, err = git.FindPushDestination(ctx, w.Repo, d.Remote); err != nil {
		return d, err
	}
	d.Allowed = !d.IsProposed && !w.Options.NeedsConsent || Trusts(w, d.Place)
	return d, nil
}

// Trusts reports whether the user has allowed sending to a remote from this repository.
func Trusts(w *workspace.Workspace, place git.PushDestination) bool {
	roots := []string{w.Repo.Root, w.Repo.MainRoot()}
	return w.Options.Global.Trusts(URLs(place), roots, w.Env.Home, place.Configured)
}

// URLs returns the URLs of a destination.
func URLs(place git.PushDestination) []string { return strings.Split(place.URL, "\n") }

// Keys returns the keys by which the remotes at a destination are trusted; empty if one has none.
func Keys(w *workspace.Workspace, place git.PushDestination) []string {
	var keys []string
	for _, url := range URLs(place) {
		key := settings.OriginKey(url, w.Repo.Root)
		if key == "" {
			return nil
		}
		keys = append(keys, key)
	}
	return keys
}
