package app

import (
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
)

// WithTransferProgress runs do and shows the progress of its git processes, which transfer objects or check
// out files.
func (a *App) WithTransferProgress(repo *git.Repo, what string, do func() error) error {
	if !a.Streams.Terminal.Err || a.Streams.Terminal.Accessible {
		return do() // without progress
	}
	return a.Streams.Sized(what, func(reach func(string, ui.Amount)) error {
		repo.Progress = func(p git.Progress) {
			reach(strings.ToLower(p.Stage), ui.Amount{Done: p.Done, Total: p.Total, Bytes: p.Bytes})
		}
		defer func() { repo.Progress = nil }()
		return do()
	})
}
