package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/hookrun"
	"github.com/seed-3aff656d/entire/strategy/forget"
)

// warnInterrupted prints, before a command runs, that a rewind of this worktree was interrupted,
// and how to complete it or take it back. It is silent for commands whose output is for programs
// alone or that handle the rewind themselves.
func warnInterrupted(ctx context.Context, a *app.App, cmd *cobra.Command) {
	top := cmd
	for top.HasParent() && top.Parent().HasParent() {
		top = top.Parent()
	}
	if slices.Contains([]string{hookrun.StatuslineCommand, "fs", "rewind", "doctor", "version", "help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}, top.Name()) || !cmd.HasParent() {
		return
	}
	repo, err := a.Repository()
	if err != nil || repo.Bare {
		return
	}
	if top.Name() != "forget" && forget.IsInterrupted(repo.CommonDir) {
		a.Streams.Notef("`entire forget` was interrupted: some of the content is still recorded.")
		a.Streams.Hint("run the same `entire forget` command again to continue")
	}
	if err := a.EndRewindsTogether(ctx, repo); err != nil {
		a.Streams.Notef("%v", err)
		a.Streams.Hint(app.HintOf(err))
	}
	a.NoteInterruptedRewind(repo)
}
