package history

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/record"
)

// foundJSON is an element of the output of `link --find --json`; docs/formats/sessions.md
// describes it.
type foundJSON struct {
	Commit      git.OID         `json:"commit"`
	Checkpoints []checkpoint.ID `json:"checkpoints"`
	Sessions    []string        `json:"sessions"`
}

// runFind links the commits of a range that have no link and contain a session's changes.
func runFind(ctx context.Context, a *app.App, opts linkOptions, args []string) (err error) {
	repo, err := a.Worktree()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	revs := []string{"HEAD", "--not", "--remotes"}
	if len(args) > 0 {
		if strings.HasPrefix(args[0], "-") {
			return app.Usagef("%s is not a range", ui.Line(args[0], format.NameWidth))
		}
		revs = args
	}
	w, log := a.LoggingWorkspace(repo, "link")
	defer func() { _ = log.Close() }()
	w.Options.AmendCommits = false
	found, err := record.FindUnlinked(ctx, w, revs...)
	if err != nil {
		if len(args) > 0 && len(found) == 0 {
			return app.WithHint(fmt.Errorf("find commits of %s: %w", ui.Line(args[0], format.NameWidth), err), "a range is what `git log` takes: main..topic, HEAD~5..HEAD")
		}
		return err
	}
	if opts.json {
		list := make([]foundJSON, len(found))
		for i, c := range found {
			list[i] = foundJSON{Commit: c.Commit.OID, Checkpoints: c.IDs, Sessions: format.NotNil(c.Sessions)}
		}
		return a.Streams.JSON(struct {
			Found []foundJSON `json:"found"`
		}{list})
	}
	if len(found) == 0 {
		a.Streams.Printf("No commit without a link has a session's content\n")
	}
	for _, c := range found {
		a.Streams.Printf("Linked %s%s (%s)\n", c.Commit.OID.Short(), format.Quoted(plain.FirstLine(c.Commit.Message)), namesOf(c.IDs))
	}
	return nil
}
