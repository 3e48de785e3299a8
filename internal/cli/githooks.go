package cli

import (
	"context"
	"strings"

	"github.com/seed-3aff656d/entire/hooks/githook"
	"github.com/seed-3aff656d/entire/internal/git"
)

// enableHint mends nearly everything about hooks.
const enableHint = "run `entire enable --agent " + claudeName + "`"

// installGitHooks puts git's hooks in place and answers what the user should
// know about them.
func installGitHooks(ctx context.Context, repo *git.Repo, anew bool) ([]string, error) {
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
		notes = append(notes, "Hooks that were there before go on running: "+strings.Join(report.Chained, ", ")+".")
	}
	return notes, nil
}

// gitHookNotes says what is wrong with git's hooks.
func gitHookNotes(s githook.Status) []note {
	add := func(notes []note, hooks []string, code, text string) []note {
		if len(hooks) == 0 {
			return notes
		}
		return append(notes, note{Code: code, Message: text + ": " + strings.Join(hooks, ", ") + ".", Hint: enableHint})
	}
	if s.NoFolder {
		return []note{{
			Code:    "hooks-path",
			Message: "Git looks for hooks in " + s.Dir + ", which doesn't exist: no hook runs.",
			Hint:    enableHint,
		}}
	}
	notes := add(nil, s.Missing, "git-hooks-missing", "Git hooks are missing in "+s.Dir)
	notes = add(notes, s.Overwritten, "git-hooks-overwritten", "Git hooks in "+s.Dir+" were replaced by another tool")
	notes = add(notes, s.Outdated, "git-hooks-outdated", "Git hooks in "+s.Dir+" are of another version")
	for _, text := range s.Notes {
		notes = append(notes, note{Code: "git-hooks", Message: text})
	}
	return notes
}
