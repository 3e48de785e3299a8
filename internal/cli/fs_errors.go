package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// errFailed ends a command with exit code 1 that has said what is wrong.
var errFailed = errors.New("failed")

// explain gives an error of a store the exit code and the hint that belong to
// it.
func (f *fsApp) explain(err error) error {
	if err == nil || ownCode(err) != 0 || errors.Is(err, context.Canceled) {
		return err
	}
	code, hint := f.explanation(err)
	if errors.Is(err, bands.ErrNoContext) {
		//nolint:staticcheck // the text is fixed
		err = fmt.Errorf("No store selected. Use --store or run '%s use <name>'", f.program)
	}
	if _, has := errors.AsType[*hintError](err); hint != "" && !has {
		err = hinted(err, hint)
	}
	if code != 0 {
		err = coded(code, err)
	}
	return err
}

// explanation is an exit code, 0 for that of any failure, and a hint.
func (f *fsApp) explanation(err error) (code int, hint string) {
	run := func(format string) string { return fmt.Sprintf(format, f.program) }
	if _, bad := errors.AsType[*bands.ConfigError](err); bad {
		return 0, "mend it; until then hooks go by the defaults"
	}
	if refused, ok := errors.AsType[*bands.ContextError](err); ok {
		return exitNoStore, "name the store with --store, or remove " + shellWord(refused.File)
	}
	switch {
	case errors.Is(err, bands.ErrNoContext):
		return exitNoStore, ""
	case errors.Is(err, bands.ErrNoHome):
		return 0, "set HOME or AGENTFS_HOME to an absolute path; a repository's own store needs neither"
	case errors.Is(err, bands.ErrNoStore):
		return exitNoStore, run("`%s list` shows the stores there are")
	case errors.Is(err, bands.ErrNoSnapshot):
		return exitNoVersion, run("`%s checkpoint list` shows the versions there are")
	case errors.Is(err, bands.ErrRefusedRoot):
		return exitUsage, "choose a folder below it"
	case errors.Is(err, bands.ErrBadName):
		return exitUsage, ""
	case errors.Is(err, bands.ErrNameTaken):
		return 0, run("choose another name, or delete that store with `%s delete`")
	case errors.Is(err, bands.ErrRootTaken):
		return 0, run("`%s list --json` shows which")
	case errors.Is(err, disk.ErrLocked):
		return 0, "another command works on the store; try again when it has ended"
	case errors.Is(err, bands.ErrDamaged), errors.Is(err, band.ErrDamaged):
		return 0, run("`%s verify` names what is damaged; everything else can be restored")
	case errors.Is(err, bands.ErrNoRoom), errors.Is(err, syscall.ENOSPC):
		return 0, run("make room on the disk, or with `%s prune`")
	case errors.Is(err, syscall.EROFS):
		return 0, "the file system is read-only"
	}
	return 0, ""
}

// noCheckpoints is the error where a command needs one.
func (f *fsApp) noCheckpoints() error {
	return coded(exitNoVersion, hinted(errors.New("no checkpoints yet"),
		fmt.Sprintf("create one with `%s checkpoint create`", f.program)))
}
