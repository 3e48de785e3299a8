package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/cli/hookrun"
	"github.com/seed-3aff656d/entire/strategy/forget"
)

// warnInterrupted prints, before a command runs, that a rewind of this worktree
// did not end, and how to end it. Commands that print for programs alone, or
// that see to it themselves, are silent.
func warnInterrupted(a *app.App, cmd *cobra.Command) {
	top := cmd
	for top.HasParent() && top.Parent().HasParent() {
		top = top.Parent()
	}
	if slices.Contains([]string{"hooks", hookrun.StatuslineCommand, "fs", "rewind", "doctor", "version", "help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}, top.Name()) || !cmd.HasParent() {
		return
	}
	repo, err := a.Repository()
	if err != nil || repo.Bare {
		return
	}
	if top.Name() != "forget" && forget.Interrupted(repo.CommonDir) {
		a.Streams.Notef("Forgetting was interrupted: some of it is still recorded.")
		a.Streams.Hint("run the same `entire forget` again, it goes on where it stopped")
	}
	a.NoteInterruptedRewind(repo)
}
