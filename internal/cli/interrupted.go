package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
)

// warnInterrupted says, before a command runs, that a rewind of this worktree
// did not end, and how to end it. Commands that print for programs alone, or
// that see to it themselves, are silent.
func (a *app) warnInterrupted(cmd *cobra.Command) {
	top := cmd
	for top.HasParent() && top.Parent().HasParent() {
		top = top.Parent()
	}
	if slices.Contains([]string{"hooks", statuslineCommand, "fs", "rewind", "doctor", "version", "help", "completion"}, top.Name()) || !cmd.HasParent() {
		return
	}
	repo, err := a.repository()
	if err != nil || repo.Bare {
		return
	}
	store, err := bands.Open(bands.RepositoryDir(repo.CommonDir))
	if err != nil {
		return
	}
	if j, found := store.Interrupted(checkpoint.WorktreeHash(repo.WorktreeID)); found {
		a.Streams.Notef("A rewind to %s did not end; the files may be a mixture.", j.Target)
		a.Streams.Hint("`entire rewind --undo` takes it back, `entire rewind --to " + j.Target.String() + "` goes on")
	}
}
