package stores

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Explain adds to an error of a store its exit code and its hint.
func (c *Command) Explain(err error) error {
	if err == nil || app.CodeOf(err) != 0 || errors.Is(err, context.Canceled) {
		return err
	}
	code, hint := c.explanation(err)
	switch {
	case errors.Is(err, registry.ErrNoContext) && c.Snapshots:
		err = c.noSnapshots()
	case errors.Is(err, registry.ErrNoContext):
		//nolint:staticcheck // the text is fixed
		err = fmt.Errorf("No store selected. Use --store or run '%s'", c.call("use <name>"))
	}
	if _, has := errors.AsType[*app.HintError](err); hint != "" && !has {
		err = app.WithHint(err, hint)
	}
	if code != 0 {
		err = app.WithCode(code, err)
	}
	return err
}

// noSnapshots returns the error of a folder whose repository has no store, or that isn't in a repository.
func (c *Command) noSnapshots() error {
	repo, err := c.Repository()
	if err != nil {
		return err
	}
	return errors.Join(errors.New("this repository has no snapshots"), repo.Close())
}

// explanation returns an exit code, 0 for that of any failure, and a hint.
func (c *Command) explanation(err error) (code int, hint string) {
	run := func(command, does string) string { return "`" + c.call(command) + "` " + does }
	if _, bad := errors.AsType[*registry.ConfigError](err); bad {
		return 0, "correct it; until then hooks use the defaults"
	}
	if refused, ok := errors.AsType[*registry.ContextError](err); ok {
		return app.ExitNoStore, "give the store with --store, or remove " + ShellWord(refused.File)
	}
	if missing, ok := errors.AsType[*volume.MissingError](err); ok {
		return app.ExitInactive, "without --driver " + missing.Driver + " it is an ordinary folder, which works on every file system"
	}
	switch {
	case errors.Is(err, volume.ErrNotEmpty):
		return app.ExitInactive, run("convert <dir> --driver <driver>", "converts a folder with files to a volume")
	case errors.Is(err, registry.ErrInVolume):
		return app.ExitInactive, "choose folders outside of volumes; a store with the driver tree may be anywhere"
	case errors.Is(err, volume.ErrNotOpen) && registry.PoolClosed(c.Registry()):
		return app.ExitInactive, run("open --all", "mounts it")
	case errors.Is(err, volume.ErrNotOpen):
		return app.ExitInactive, run("open", "mounts it")
	case errors.Is(err, volume.ErrNotVolume):
		return app.ExitInactive, ""
	case errors.Is(err, volume.ErrInUse):
		return app.ExitInactive, "stop the processes that use it, leave the folder in shells, unmount what is mounted in it, and move subvolumes out of it"
	case errors.Is(err, registry.ErrNoContext):
		// The command that creates a store for the repository.
		repo, err := c.Repository()
		if err != nil {
			return app.ExitNoStore, ""
		}
		defer func() { _ = repo.Close() }()
		if !c.OwnFirst {
			return app.ExitNoStore, ""
		}
		switch is := c.Settings(repo); {
		case !is.Configured:
			return app.ExitNoStore, "`entire enable` creates one for this repository"
		case !is.Bands.Enabled:
			return app.ExitNoStore, app.BandsOffHint
		}
		return app.ExitNoStore, ""
	case errors.Is(err, registry.ErrNoHome):
		return 0, "set HOME or AGENTFS_HOME to an absolute path; a repository's own store needs neither"
	case errors.Is(err, bands.ErrNoStore) && registry.PoolClosed(c.Registry()):
		return app.ExitNoStore, run("open --all", "mounts the stores with the driver pool")
	case errors.Is(err, bands.ErrNoStore):
		return app.ExitNoStore, run("list", "lists the stores")
	case errors.Is(err, bands.ErrNoSnapshot):
		return app.ExitNoVersion, run("checkpoint list", "lists the versions")
	case errors.Is(err, bands.ErrRefusedRoot):
		return app.ExitUsage, "choose a folder below it"
	case errors.Is(err, registry.ErrBadName):
		return app.ExitUsage, ""
	case errors.Is(err, registry.ErrNameTaken):
		return 0, "choose another name, or delete that store with `" + c.call("delete") + "`"
	case errors.Is(err, registry.ErrRootTaken):
		return 0, run("list --json", "shows which one")
	case errors.Is(err, disk.ErrLocked):
		return 0, "another command is using the store; try again when it has finished"
	}
	return 0, app.StoreHint(err, c.Program)
}

// NoCheckpoints returns the error of a command that needs a checkpoint.
func (c *Command) NoCheckpoints() error {
	return app.WithCode(app.ExitNoVersion, app.WithHint(fmt.Errorf("no %ss yet", c.noun()),
		fmt.Sprintf("create one with `%s`", c.call("checkpoint create"))))
}
