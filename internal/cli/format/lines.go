package format

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/blame"
)

// LinesError says in other words why the authors of a file's lines were not found, with a hint
// for a person, empty if there is none. An error that isn't known is returned as it is.
func LinesError(err error, rev, path string) (said error, hint string) {
	exit, isExit := errors.AsType[*git.ExitError](err)
	shown := Path(path)
	const naming = "a revision is named as git does it: HEAD~2, a branch, the beginning of an id"
	switch {
	case errors.Is(err, blame.ErrBinary):
		return fmt.Errorf("%s is binary: it has no lines", shown), "`entire explain " + shown + "` lists the checkpoints that changed it"
	case errors.Is(err, blame.ErrEmpty):
		return fmt.Errorf("%s is empty", shown), ""
	case errors.Is(err, git.ErrTooMuch):
		return fmt.Errorf("%s is too large", shown), ""
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no file %s in the worktree", shown), "name a revision before it that has it: `entire blame HEAD~1 " + shown + "`"
	case errors.Is(err, git.ErrMissing):
		return fmt.Errorf("%s has no file %s", ui.Line(rev, NameWidth), shown), naming
	case isExit && strings.Contains(exit.Stderr, "no such path"):
		return fmt.Errorf("git has no file %s", shown), "a file that was never added has no history: `git add -N " + shown + "` makes it known"
	case isExit && (strings.Contains(exit.Stderr, "has only") || strings.Contains(exit.Stderr, "-L")):
		return errors.New(ui.Line(strings.TrimPrefix(strings.TrimSpace(exit.Stderr), "fatal: "), LineWidth)), "lines count from 1: -L 10,20"
	case isExit && strings.Contains(exit.Stderr, "bad revision"):
		return fmt.Errorf("unknown revision %s", ui.Line(rev, NameWidth)), naming
	}
	return err, ""
}
