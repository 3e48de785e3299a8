package app

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/rewind"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// NoteInterruptedRewind prints a note on an interrupted rewind of the worktree, as long as it is
// neither completed nor undone.
func (a *App) NoteInterruptedRewind(repo *git.Repo) {
	if note, hint := ExplainInterruptedRewind(repo); note != "" {
		a.Streams.Notef("%s", note)
		if hint != "" {
			a.Streams.Hint(hint)
		}
		return
	}
	// It may have been interrupted between the files and the conversation or the sessions.
	store, err := bands.Open(registry.RepositoryDir(repo.CommonDir))
	if err != nil {
		return
	}
	if stopped, found := rewind.FindUnfinished(store, session.Open(repo.CommonDir), repo.WorktreeID); found {
		what, hint := stopped.Explain()
		a.Streams.Notef("%s%s.", strings.ToUpper(what[:1]), what[1:])
		a.Streams.Hint(hint)
	}
}

// ExplainInterruptedRewind returns the note on a rewind that was interrupted while it changed
// files, and the hint on the commands that end it. Both are empty if there is none.
func ExplainInterruptedRewind(repo *git.Repo) (note, hint string) {
	target, other := InterruptedRewind(repo)
	switch {
	case other:
		return "A rewind by another version of entire was interrupted: use that version to complete or undo it.", ""
	case target == "":
		former, found := tracking.ReadFormerRewind(repo.CommonDir, checkpoint.WorktreeHash(repo.WorktreeID))
		if found && former.Interrupted {
			return "The rewind to " + former.To.Short() + ", by an earlier version of entire, was interrupted: some files are from it, some are not.", former.Hint()
		}
	default:
		return fmt.Sprintf("The rewind to %s was interrupted: some files are from %s, some are not.", target, target),
			"`entire undo` undoes it, `entire rewind --to " + target + "` completes it"
	}
	return "", ""
}

// InterruptedRewind returns the point of an interrupted rewind as an argument of --to, "" if there
// is none; other reports whether another version of the program began it.
func InterruptedRewind(repo *git.Repo) (target string, other bool) {
	lineage := checkpoint.WorktreeHash(repo.WorktreeID)
	store := bands.At(registry.RepositoryDir(repo.CommonDir))
	if j, found := bands.InterruptedRestore(store, lineage); found && !j.Other() {
		return tracking.TargetName(store, j.Target), false
	} else if found {
		return "", true
	}
	return "", false
}

// EndRewindsTogether ends the rewinds of several repositories, this one among them, that were stopped: they
// are completed or taken back in all of them.
func (a *App) EndRewindsTogether(ctx context.Context, repo *git.Repo) error {
	for _, t := range rewind.FindTogether(a.Machine().RewindsDir(), repo.Root) {
		outcome, err := rewind.FinishTogether(ctx, t, func(root string) (*workspace.Workspace, func() error, error) {
			other, err := git.Discover(git.Locate{Dir: root, Getenv: a.Getenv, Environ: a.Environ, Here: true})
			if err != nil {
				return nil, nil, err
			}
			return a.Workspace(other), other.Close, nil
		})
		if err != nil {
			return WithHint(fmt.Errorf("can't complete an interrupted rewind of %d repositories: %w", len(t.Parts), err),
				"run `entire rewind --list` there to see what was restored; the next command tries again")
		}
		switch outcome {
		case rewind.Completed:
			a.Streams.Notef("Completed an interrupted rewind of %d repositories.", len(t.Parts))
		case rewind.TakenBack:
			a.Streams.Notef("Undid an interrupted rewind of %d repositories.", len(t.Parts))
		case rewind.Unbegun:
		}
	}
	return nil
}

// NoteConversation prints notes on the files of a restored transcript.
func (a *App) NoteConversation(t rewind.Conversation) {
	if t.Changed {
		a.Streams.Notef("Writing transcript to: %s", t.Path)
	} else {
		a.Streams.Notef("Transcript unchanged: %s", t.Path)
	}
	if t.Copy != "" {
		a.Streams.Notef("The previous one is kept: %s", t.Copy)
	}
	if n := len(t.Subagents); n > 0 {
		a.Streams.Notef("Writing transcripts of %s to: %s", ui.Plural(n, "subagent"), filepath.Dir(t.Subagents[0]))
	}
}
