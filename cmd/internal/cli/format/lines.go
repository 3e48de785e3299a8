package format

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/blame"
)

// gitUsage is git's exit status for invalid arguments.
const gitUsage = 129

// LinesError converts an error of finding the authors of lines into one for the user, with a hint
// or "". It returns other errors unchanged.
func LinesError(repo *git.Repo, err error, rev, path string) (hint string, said error) {
	hint, said = linesError(err, rev, path)
	_, isExit := errors.AsType[*git.ExitError](err)
	partial, failed := repo.IsPartial()
	if failed == nil && partial && (isExit && hint == "" || errors.Is(err, git.ErrMissing)) {
		return "`git fetch --refetch --no-filter` fetches them", errors.New("this partial clone lacks the file's history")
	}
	return hint, said
}

func linesError(err error, rev, path string) (hint string, said error) {
	exit, isExit := errors.AsType[*git.ExitError](err)
	shown := Path(path)
	const naming = "give a revision as for git: HEAD~2, a branch, a commit id"
	switch {
	case errors.Is(err, blame.ErrBinary):
		return "`entire show " + shown + "` lists the checkpoints that changed it", fmt.Errorf("%s is binary", shown)
	case errors.Is(err, blame.ErrEmpty):
		return "", fmt.Errorf("%s is empty", shown)
	case errors.Is(err, git.ErrTooMuch):
		return "", fmt.Errorf("%s is too large", shown)
	case errors.Is(err, fs.ErrNotExist):
		return "give an earlier revision that has it: `entire blame HEAD~1 " + shown + "`", fmt.Errorf("no file %s in the worktree", shown)
	case errors.Is(err, git.ErrMissing):
		return naming, fmt.Errorf("%s has no file %s", ui.Line(rev, NameWidth), shown)
	case isExit && strings.Contains(exit.Stderr, "no such path"):
		return "the file is untracked; add it first: `git add -N " + shown + "`", fmt.Errorf("git has no file %s", shown)
	case isExit && exit.Code == gitUsage: // only the range can be invalid
		return "give lines as -L 40,60, -L 40,+20 or -L :function", errors.New("no such range of lines")
	case isExit && (strings.Contains(exit.Stderr, "has only") || strings.Contains(exit.Stderr, "-L")):
		return "lines are numbered from 1: -L 10,20", errors.New(ui.Line(strings.TrimPrefix(strings.TrimSpace(exit.Stderr), "fatal: "), LineWidth))
	case isExit && strings.Contains(exit.Stderr, "bad revision"):
		return naming, fmt.Errorf("unknown revision %s", ui.Line(rev, NameWidth))
	}
	return "", err
}
