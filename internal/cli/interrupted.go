package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
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
	a.noteInterruptedRewind(repo)
}

// noteInterruptedRewind names a rewind of the worktree that did not end.
func (a *app) noteInterruptedRewind(repo *git.Repo) {
	store, err := bands.Open(bands.RepositoryDir(repo.CommonDir))
	if err != nil {
		return
	}
	j, found := store.Interrupted(checkpoint.WorktreeHash(repo.WorktreeID))
	switch {
	case !found:
	case j.Other():
		a.Streams.Notef("A rewind was interrupted, and another version of entire wrote its journal: only that one can end it.")
	default:
		a.Streams.Notef("The rewind to %s did not end: some files are from %s, some are not.", j.Target, j.Target)
		a.Streams.Hint("`entire rewind --undo` takes it back, `entire rewind --to " + j.Target.String() + "` goes on")
	}
}
