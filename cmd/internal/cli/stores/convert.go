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
		Short: "Make a folder with files a volume, or a volume a folder",
		Long: `Makes a folder that has files a volume of the driver given (see init), or with
--driver tree a volume an ordinary folder again. All files are copied beside the
folder, as reflinks where the file system has them, and compared; then the two
folders are exchanged. What was there before is kept beside it, as <dir>.former,
until "convert <dir> --done" removes it.

The folder becomes that of a new store. A store that it belonged to keeps its
checkpoints, and has the former folder. Sockets, FIFOs and devices stay there.

A conversion that was interrupted, or failed, has changed nothing in the folder.
The same command goes on with it, --cancel takes it back.` + ExitStatus,
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
				return app.Usagef("--name and --size are for --driver")
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
				f.Say("Removed store '%s' and its copies; %s is as it was", entry.Name, f.ShortPath(root))
				return nil
			case !slices.Contains(convertDrivers(), opts.driver):
				return app.Usagef("--driver %s: there are %s", opts.driver, strings.Join(convertDrivers(), ", "))
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
				return app.Usagef("--size is for the drivers pool, image and sparsebundle")
			}
			if err := c.Check(ctx, root, o.Driver); err != nil {
				return explainConversion(f, root, opts.driver, err)
			}
			if nameUsers(f, root) > 0 {
				f.Streams.Notef("These continue to use the current folder, which becomes %s.", f.ShortPath(registry.BackupPath(root)))
			}
			question := fmt.Sprintf("Convert %s to the driver %s? What is there now is kept as %s.", f.ShortPath(root), opts.driver, f.ShortPath(registry.BackupPath(root)))
			if yes, err := sure(ctx, f, question); err != nil || !yes {
				return err
			}
			return convert(ctx, f, c, root, opts, o)
		}),
	}
	cmd.Flags().StringVar(&opts.driver, "driver", "", "what makes the checkpoints from then on: "+strings.Join(convertDrivers(), ", "))
	cmd.Flags().StringVar(&opts.name, "name", "", "the name of the new store")
	cmd.Flags().StringVar(&opts.size, "size", "", "how large a pool, image or sparse bundle may become, such as 50G")
	cmd.Flags().BoolVar(&opts.done, "done", false, "remove the folder that was converted")
	cmd.Flags().BoolVar(&opts.cancel, "cancel", false, "take back a conversion that was interrupted")
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
		f.Streams.Notef("Written meanwhile, and only in %s: %s, such as %s.", f.ShortPath(done.Former), ui.Plural(len(done.Late), "path"), format.Path(done.Late[0]))
	}
	if f.JSON {
		return f.PrintJSON(convertedJSON{
			storeJSON: newStoreJSON(done.Store), Former: done.Former, FormerStore: done.From.Name, Files: done.Files, Bytes: done.Bytes,
			LeftOut: format.NotNil(done.LeftOut), Late: format.NotNil(done.Late),
		})
	}
	f.Say("Compared %s, %s: all are the same", ui.Plural(int(done.Files), "file"), format.Size(done.Bytes))
	f.Say("Converted %s: store '%s', driver %s (%s)", f.ShortPath(root), done.Store.Name, driverOf(done.Store), format.Took(f.Now().Sub(began)))
	switch {
	case done.From.Dir == "":
		f.Say("What was there is kept in %s", f.ShortPath(done.Former))
	case volume.Contained(done.From.Driver):
		f.Say("What was there is kept in store '%s', with %s", done.From.Name, allCheckpoints(done.From))
	default:
		f.Say("What was there is kept in %s, which is of store '%s' with %s", f.ShortPath(done.Former), done.From.Name, allCheckpoints(done.From))
	}
	f.Streams.Hint(fmt.Sprintf("a shell in the folder needs `cd \"$PWD\"`; `%s convert %s --done` removes what is kept", f.Program, ShellWord(f.ShortPath(root))))
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
		return app.WithCode(app.ExitInactive, app.WithHint(err, "end the processes that use it, or leave the folder in a shell"))
	}
	if _, missing := errors.AsType[*volume.MissingError](err); missing || errors.Is(err, registry.ErrConverted) {
		return err
	}
	known := f.Registry()
	if entry, bad := (registry.Converter{Registry: known}).Under(root); bad == nil {
		return app.WithHint(err, fmt.Sprintf("nothing has changed in the folder; `%[1]s convert %[2]s --driver %[3]s` goes on, `%[1]s convert %[2]s --cancel` removes store '%[4]s' and the copies",
			f.Program, dir, driver, entry.Name))
	}
	return err
}

// endConversion removes the former folder that a conversion has kept.
func endConversion(ctx context.Context, f *Command, c registry.Converter, root string) error {
	entry, err := c.Kept(ctx, root)
	if errors.Is(err, registry.ErrNotConverting) {
		return app.WithHint(err, "there is nothing to remove; `"+f.Program+" status` names a former folder that is kept")
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
