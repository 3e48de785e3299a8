package setup

import (
	"context"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/hooks/githook"
	"github.com/seed-3aff656d/entire/internal/git"
)

// enableHint is the hint for most faults of hooks.
const enableHint = "run `entire enable --agent " + ClaudeName + "`"

// GitHooks installs git's hooks, with anew after removing them, and returns notes for the user.
func GitHooks(ctx context.Context, repo *git.Repo, anew bool) ([]string, error) {
	installer := githook.Installer{Repo: repo}
	if anew {
		if _, err := installer.Uninstall(ctx); err != nil {
			return nil, err
		}
	}
	report, err := installer.Install(ctx)
	if err != nil {
		return nil, err
	}
	notes := report.Notes
	if len(report.Chained) > 0 {
		notes = append(notes, "Existing hooks continue to run: "+strings.Join(report.Chained, ", ")+".")
	}
	return notes, nil
}

// NoGitHooks reports whether git's hooks were never installed, or were all removed.
func NoGitHooks(s githook.Status) bool {
	return len(s.Missing) > 0 && len(s.Overwritten) == 0 && !s.AnyInstalled()
}

// GitHookNotes returns notes on the faults of git's hooks.
func GitHookNotes(s githook.Status) []app.Note {
	add := func(notes []app.Note, hooks []string, code, text string) []app.Note {
		if len(hooks) == 0 {
			return notes
		}
		return append(notes, app.Note{Code: code, Message: text + ": " + strings.Join(hooks, ", ") + ".", Hint: enableHint})
	}
	if s.NoFolder {
		return []app.Note{{
			Code:    "hooks-path",
			Message: "Git looks for hooks in " + s.Dir + ", which doesn't exist: no hook runs.",
			Hint:    enableHint,
		}}
	}
	notes := add(nil, s.Missing, "git-hooks-missing", "Git hooks are missing in "+s.Dir)
	if NoGitHooks(s) { // the clone of somebody who may only read
		notes[0].Message = "None of Entire's git hooks are installed in this clone."
		notes[0].Hint = "`entire enable --agent " + ClaudeName + "` installs them, so that commits are linked to sessions; reading needs none"
	}
	notes = add(notes, s.Overwritten, "git-hooks-overwritten", "Git hooks in "+s.Dir+" were replaced by another tool")
	notes = add(notes, s.Outdated, "git-hooks-outdated", "Git hooks in "+s.Dir+" are from another version")
	for _, text := range s.Notes {
		notes = append(notes, app.Note{Code: "git-hooks", Message: text})
	}
	return notes
}
