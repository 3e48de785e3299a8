package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/forget"
	"github.com/seed-3aff656d/entire/strategy/rewind"
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
	if top.Name() != "forget" && forget.Interrupted(repo.CommonDir) {
		a.Streams.Notef("Forgetting was interrupted: some of it is still recorded.")
		a.Streams.Hint("run the same `entire forget` again, it goes on where it stopped")
	}
	a.noteInterruptedRewind(repo)
}

// noteInterruptedRewind names a rewind of the worktree that was interrupted, until
// it is completed or taken back.
func (a *app) noteInterruptedRewind(repo *git.Repo) {
	switch target, other := interruptedRewind(repo); {
	case other:
		a.Streams.Notef("A rewind was interrupted, and another version of entire wrote its journal: only that one can end it.")
	case target != "":
		a.Streams.Notef("The rewind to %s was interrupted: some files are from %s, some are not.", target, target)
		a.Streams.Hint("`entire rewind --undo` takes it back, `entire rewind --to " + target + "` completes it")
	default:
		a.noteInterruptedTalk(repo)
	}
}

// noteInterruptedTalk names a rewind that was interrupted between the files and the
// conversation, or the sessions.
func (a *app) noteInterruptedTalk(repo *git.Repo) {
	store, err := bands.Open(bands.RepositoryDir(repo.CommonDir))
	if err != nil {
		return
	}
	if stopped, found := rewind.InterruptedConversation(store, session.Open(repo.CommonDir), repo.WorktreeID); found {
		what, hint := stopped.Explain()
		a.Streams.Notef("%s%s.", strings.ToUpper(what[:1]), what[1:])
		a.Streams.Hint(hint)
	}
}

// interruptedRewind returns what --to takes for the point of an interrupted rewind,
// empty if there was none; other reports whether another version of the program began it.
func interruptedRewind(repo *git.Repo) (target string, other bool) {
	lineage := checkpoint.WorktreeHash(repo.WorktreeID)
	if store, err := bands.Open(bands.RepositoryDir(repo.CommonDir)); err == nil {
		if j, found := store.Interrupted(lineage); found && !j.Other() {
			return j.Target.String(), false
		} else if found {
			return "", true
		}
	}
	code, other := rewind.InterruptedCode(repo.CommonDir, lineage)
	return code.Short(), other
}
