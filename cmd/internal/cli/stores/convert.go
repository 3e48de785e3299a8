package stores

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/disk"
)

type fsConvertOptions struct {
	driver, name, size string
	done, cancel       bool
}

func newFSConvertCmd(f *Command) *cobra.Command {
	var opts fsConvertOptions
	cmd := &cobra.Command{
		Use:   "convert <dir>",
		Short: "Convert a folder to a volume, or back",
		Long: `Converts a folder with files to a volume of the given driver (see init), or, with
--driver tree, a volume to an ordinary folder. All files are copied beside the folder,
as reflinks if possible, and compared; then the two folders are exchanged. The old one
is kept as <dir>.former until "convert <dir> --done" removes it.

The folder gets a new store. Its previous store keeps its checkpoints, and the old
folder. Sockets, FIFOs and devices are not copied.

An interrupted or failed conversion has not changed the folder. The same command
continues it, --cancel undoes it.` + ExitStatus,
		Example: "  " + f.Program + " convert ~/projects/myapp --driver subvolume\n  " + f.Program + " convert ~/projects/myapp --done\n  " +
			f.Program + " convert ~/projects/myapp --driver tree",
		Args: cobra.ExactArgs(1),
		RunE: f.RunStrict(func(ctx context.Context, args []string) error {
			root := f.Absolute(args[0])
			c := registry.Converter{Registry: f.Registry()}
			if err := f.EndConversion(ctx, c.Registry); err != nil {
				return err
			}
			switch {
			case (opts.done || opts.cancel) && (opts.name != "" || opts.size != ""):
				return app.Usagef("--name and --size need --driver")
			case opts.done:
				return endConversion(ctx, f, c, root)
			case opts.cancel:
				entry, err := c.Cancel(ctx, root)
				if err != nil {
					return err
				}
				if f.JSON {
					return f.PrintJSON(canceledJSON{entry.Name, root})
				}
				f.Say("Removed store '%s' and its copies; %s is unchanged", entry.Name, f.ShortPath(root))
				return nil
			case !slices.Contains(convertDrivers(), opts.driver):
				return app.Usagef("--driver %s: not one of %s", opts.driver, strings.Join(convertDrivers(), ", "))
			}
			size, err := parseSize(opts.size)
			if err != nil {
				return err
			}
			o := registry.ConvertOptions{Name: opts.name, Driver: opts.driver, Size: size}
			if o.Driver == driverTree {
				o.Driver = ""
			}
			if size != 0 && !volume.Contained(o.Driver) {
				return app.Usagef("--size needs the driver pool, image or sparsebundle")
			}
			if err := c.Check(ctx, root, o.Driver); err != nil {
				return explainConversion(f, root, opts.driver, err)
			}
			if nameUsers(f, root) > 0 {
				f.Streams.Notef("These processes continue to use the current folder, which becomes %s.", f.ShortPath(registry.BackupPath(root)))
			}
			question := fmt.Sprintf("Convert %s to the driver %s? The current folder is kept as %s.", f.ShortPath(root), opts.driver, f.ShortPath(registry.BackupPath(root)))
			if yes, err := sure(ctx, f, question); err != nil || !yes {
				return err
			}
			return convert(ctx, f, c, root, opts, o)
		}),
	}
	cmd.Flags().StringVar(&opts.driver, "driver", "", "the new driver: "+strings.Join(convertDrivers(), ", "))
	cmd.Flags().StringVar(&opts.name, "name", "", "the name of the new store")
	cmd.Flags().StringVar(&opts.size, "size", "", "maximum size of a pool, image or sparse bundle, such as 50G")
	cmd.Flags().BoolVar(&opts.done, "done", false, "remove the old folder")
	cmd.Flags().BoolVar(&opts.cancel, "cancel", false, "undo an interrupted conversion")
	cmd.MarkFlagsMutuallyExclusive("driver", "done", "cancel")
	cmd.MarkFlagsOneRequired("driver", "done", "cancel")
	setup.Flag(cmd, "driver", cobra.FixedCompletions(convertDrivers(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// convertDrivers returns the values of --driver.
func convertDrivers() []string {
	return slices.DeleteFunc(driverNames(), func(name string) bool { return name == driverAuto })
}

// convertedJSON is the output of `convert --json`.
type convertedJSON struct {
	storeJSON

	// Former is the folder of the former files, FormerStore the store that it belongs to.
	Former      string   `json:"former"`
	FormerStore string   `json:"former_store,omitempty"`
	Files       int64    `json:"files"`
	Bytes       int64    `json:"bytes"`
	LeftOut     []string `json:"left_out"`
	Late        []string `json:"late"`
}

func convert(ctx context.Context, f *Command, c registry.Converter, root string, opts fsConvertOptions, o registry.ConvertOptions) error {
	began := f.Now()
	var done registry.Converted
	err := f.Streams.Stages("Converting", func(reach func(stage string, done, total int64)) (err error) {
		stages := map[registry.ConvertStage]string{registry.ConvertCopy: "copying", registry.ConvertVerify: "comparing", registry.ConvertExchange: "exchanging"}
		said := false
		c.Progress = func(stage registry.ConvertStage, done int64) {
			if !said {
				f.Say("Copying %s...", f.ShortPath(root))
				said = true
			}
			reach(stages[stage], done, 0)
		}
		done, err = c.Run(ctx, root, o)
		missing, is := errors.AsType[*volume.MissingError](err)
		if !is || o.Driver != (volume.Subvolume{}).Name() {
			return err
		}
		o.Driver = volume.PoolDriver // as in init
		if done, err = c.Run(ctx, root, o); err == nil {
			f.Streams.Notef("Using the driver pool, a Btrfs in a file: %v.", missing.Err)
		}
		return err
	})
	if err != nil {
		return explainConversion(f, root, opts.driver, err)
	}
	if len(done.LeftOut) > 0 {
		f.Streams.Notef("Not copied: sockets, FIFOs and devices (%d), such as %s.", len(done.LeftOut), format.Path(done.LeftOut[0]))
	}
	if len(done.Late) > 0 {
		f.Streams.Notef("Written meanwhile, now only in %s: %s, such as %s.", f.ShortPath(done.Former), ui.Plural(len(done.Late), "path"), format.Path(done.Late[0]))
	}
	if f.JSON {
		return f.PrintJSON(convertedJSON{
			storeJSON: newStoreJSON(done.Store), Former: done.Former, FormerStore: done.From.Name, Files: done.Files, Bytes: done.Bytes,
			LeftOut: format.NotNil(done.LeftOut), Late: format.NotNil(done.Late),
		})
	}
	f.Say("Compared %s, %s: no differences", ui.Plural(int(done.Files), "file"), format.Size(done.Bytes))
	f.Say("Converted %s: store '%s', driver %s (%s)", f.ShortPath(root), done.Store.Name, driverOf(done.Store), format.Took(f.Now().Sub(began)))
	switch {
	case done.From.Dir == "":
		f.Say("The old folder is kept in %s", f.ShortPath(done.Former))
	case volume.Contained(done.From.Driver):
		f.Say("The old volume is kept in store '%s', with %s", done.From.Name, allCheckpoints(done.From))
	default:
		f.Say("The old folder is kept in %s, of store '%s' with %s", f.ShortPath(done.Former), done.From.Name, allCheckpoints(done.From))
	}
	f.Streams.Hint(fmt.Sprintf("run `cd \"$PWD\"` in a shell in the folder; `%s convert %s --done` removes the old one", f.Program, ShellWord(f.ShortPath(root))))
	return nil
}

// explainConversion adds a hint to an error of a conversion.
func explainConversion(f *Command, root, driver string, err error) error {
	dir := ShellWord(root)
	switch {
	case errors.Is(err, registry.ErrFormerKept):
		return app.WithHint(err, fmt.Sprintf("`%s convert %s --done` removes it", f.Program, dir))
	case errors.Is(err, volume.ErrInUse):
		nameUsers(f, root)
		return app.WithCode(app.ExitInactive, app.WithHint(err, "stop the processes that use it, and leave the folder in shells"))
	}
	if _, missing := errors.AsType[*volume.MissingError](err); missing || errors.Is(err, registry.ErrConverted) {
		return err
	}
	known := f.Registry()
	if entry, bad := (registry.Converter{Registry: known}).Under(root); bad == nil {
		return app.WithHint(err, fmt.Sprintf("the folder is unchanged; `%[1]s convert %[2]s --driver %[3]s` continues, `%[1]s convert %[2]s --cancel` removes store '%[4]s' and the copies",
			f.Program, dir, driver, entry.Name))
	}
	return err
}

// endConversion removes the former folder that a conversion has kept.
func endConversion(ctx context.Context, f *Command, c registry.Converter, root string) error {
	entry, err := c.Kept(ctx, root)
	if errors.Is(err, registry.ErrNotConverting) {
		return app.WithHint(err, "nothing to remove; `"+f.Program+" status` shows an old folder that is kept")
	}
	if err != nil {
		return err
	}
	if disk.Physical(root) != entry.Root {
		return app.Usagef("%s isn't the folder of store '%s'", f.ShortPath(root), entry.Name)
	}
	former := entry.Former
	if yes, err := sure(ctx, f, fmt.Sprintf("Remove %s, which was converted to %s?", f.ShortPath(former), f.ShortPath(root))); err != nil || !yes {
		return err
	}
	if entry, err = c.Done(ctx, root); err != nil {
		return err
	}
	if f.JSON {
		return f.PrintJSON(removedFormerJSON{former, entry.Root})
	}
	f.Say("Removed %s", f.ShortPath(former))
	entries, err := f.Registry().List(ctx)
	for _, left := range entries {
		if left.Root == former {
			f.Streams.Hint(fmt.Sprintf("store '%s' keeps %s; `%s delete %s` deletes it", left.Name, allCheckpoints(left), f.Program, left.Name))
		}
	}
	return err
}

// canceledJSON is the output of `convert --cancel --json`.
type canceledJSON struct {
	Canceled  string `json:"canceled"`
	MountPath string `json:"mount_path"`
}

// removedFormerJSON is the output of the removal of the former tree, with --json.
type removedFormerJSON struct {
	Removed   string `json:"removed"`
	MountPath string `json:"mount_path"`
}
