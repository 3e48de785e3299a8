package stores

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/internal/settings"
)

type fsInitOptions struct{ size, mount, driver string }

func newFSInitCmd(f *Command) *cobra.Command {
	var opts fsInitOptions
	cmd := &cobra.Command{
		Use:   "init <name>",
		Short: "Create a store and its folder",
		Long: `Creates a store and its folder, and names the store in a file .agentfs there. The
folder is the one given with --mount, or else one of that name in default_mount_base
of config.toml or in the current folder. An existing folder keeps its files; "manage"
creates a store named after the folder.

--size limits the space of the checkpoints: new automatic ones replace old ones. For a
pool, an image or a sparse bundle it is the maximum size.

With these drivers, a checkpoint or restore of many files is much faster:

  subvolume     the folder is a Btrfs subvolume; on other file systems use pool
  pool          a subvolume of a Btrfs in a sparse file; Linux, needs root
  image         a file system in a sparse file; needs root, and XFS or another file
                system with reflinks for the stores
  sparsebundle  a sparse bundle; macOS

The folder must be new, empty or already a subvolume ("convert" accepts one with
files). --driver auto uses the first one that works (with --size not subvolume, which
has no size), or else tree, which works everywhere.` + ExitStatus,
		Example: "  " + f.Program + " init myapp\n  " + f.Program + " init myapp --size 50G --mount ~/projects/myapp\n  " + f.Program + " init myapp --driver subvolume",
		Args:    cobra.ExactArgs(1),
		RunE: f.RunStrict(func(ctx context.Context, args []string) error {
			name := args[0]
			size, err := parseSize(opts.size)
			if err != nil {
				return err
			}
			if !slices.Contains(driverNames(), opts.driver) {
				return app.Usagef("--driver %s: not one of %s", opts.driver, strings.Join(driverNames(), ", "))
			}
			isVolume := opts.driver != driverTree && opts.driver != driverAuto
			subvolume := volume.Subvolume{}.Name()
			if isVolume && opts.size != "" && !volume.Contained(opts.driver) && opts.driver != subvolume {
				return app.Usagef("--size needs the driver tree, pool, image or sparsebundle: only the free space limits the checkpoints of a %s", opts.driver)
			}
			if err := registry.CheckName(name); err != nil {
				return err
			}
			known := f.Registry()
			config, err := usableConfig(f, known)
			if err != nil {
				return err
			}
			root := f.Absolute(opts.mount)
			switch {
			case opts.mount != "":
			case config.DefaultMountBase != "":
				root = filepath.Join(config.DefaultMountBase, name)
			default:
				root = filepath.Join(f.Dir, name)
			}
			f.Say("Creating store...")
			return makeStore(f, config, func() (registry.Entry, error) {
				switch opts.driver {
				case driverTree:
					return known.Init(ctx, name, root, size)
				case driverAuto:
					return initBest(ctx, f, known, name, root, size)
				}
				own := size // a subvolume of an existing Btrfs has none
				if opts.driver == subvolume {
					own = 0
				}
				e, err := known.InitVolume(ctx, name, root, opts.driver, own)
				missing, is := errors.AsType[*volume.MissingError](err)
				if !is || opts.driver != subvolume {
					if err == nil && own != size {
						f.Streams.Notef("--size doesn't apply to a subvolume: only the free space limits its checkpoints.")
					}
					return e, err
				}
				// Without Btrfs the driver subvolume falls back to pool.
				if e, err := known.InitVolume(ctx, name, root, volume.PoolDriver, size); err == nil {
					f.Streams.Notef("Using the driver pool, a Btrfs in a file: %v.", missing.Err)
					return e, nil
				}
				return e, err
			})
		}),
	}
	cmd.Flags().StringVar(&opts.size, "size", "", "room for the checkpoints, such as 50G")
	cmd.Flags().StringVar(&opts.mount, "mount", "", "the store's folder")
	cmd.Flags().StringVar(&opts.driver, "driver", driverTree, "the driver: "+strings.Join(driverNames(), ", "))
	setup.Flag(cmd, "driver", cobra.FixedCompletions(driverNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// usableConfig returns the settings for a new store. A bad value of a key that decides the place or
// the size of the store is an error; others are noted, and have their defaults.
func usableConfig(f *Command, known *registry.Registry) (registry.Config, error) {
	config, err := known.Config()
	for _, bad := range registry.ConfigErrors(err) {
		if bad.Places() {
			return config, err
		}
		f.Streams.Notef("%v: the default applies.", bad)
	}
	return config, nil
}

// The values of --driver that aren't names of drivers.
const (
	driverTree = "tree"
	driverAuto = "auto"
)

// driverNames returns the values of --driver.
func driverNames() []string {
	names := []string{driverTree}
	for _, d := range volume.Drivers(volume.Place{}) {
		names = append(names, d.Name())
	}
	return append(names, driverAuto)
}

// initBest makes a store with the first driver that works there and supports the size, if one is
// given; else a store of the driver tree.
func initBest(ctx context.Context, f *Command, known *registry.Registry, name, root string, size int64) (registry.Entry, error) {
	var reasons []string
	for _, d := range volume.Drivers(volume.Place{}) {
		if size != 0 && !volume.Contained(d.Name()) {
			continue
		}
		e, err := known.InitVolume(ctx, name, root, d.Name(), size)
		missing, is := errors.AsType[*volume.MissingError](err)
		switch {
		case is:
			reasons = append(reasons, fmt.Sprintf("%s: %v", d.Name(), missing.Err))
		case errors.Is(err, volume.ErrNotEmpty), errors.Is(err, volume.ErrInUse), errors.Is(err, registry.ErrInVolume):
			reasons = append(reasons, fmt.Sprintf("%s: %v", d.Name(), err))
		default:
			return e, err
		}
	}
	f.Streams.Notef("Using the driver tree, since no other works here:\n  %s", strings.Join(reasons, "\n  "))
	return known.Init(ctx, name, root, size)
}

// driverOf returns the name of a store's driver.
func driverOf(e registry.Entry) string { return cmp.Or(e.Driver, driverTree) }

// makeStore installs the hooks that config.toml asks for, and then creates a store. If that fails,
// it removes the hooks, unless there were hooks of other stores before.
func makeStore(f *Command, config registry.Config, create func() (registry.Entry, error)) error {
	hooks := ""
	before, err := claudeRecords(f)
	if err != nil {
		return err
	}
	if config.ClaudeCode {
		path, changed, err := installClaudeHooks(f, config.CheckpointOn)
		if err != nil {
			return err
		}
		if changed {
			hooks = path
		}
	}
	entry, err := create()
	if err != nil && hooks != "" && len(before) == 0 { // else other stores may use them
		return errors.Join(err, removeRecordedHooks(f))
	}
	if err != nil {
		return err
	}
	f.Say("Created store '%s'", entry.Name)
	if entry.Driver != "" {
		f.Say("Driver: %s", entry.Driver)
	}
	f.Say("Mounted at %s", f.ShortPath(entry.Root))
	if hooks != "" {
		f.Streams.Notef("Installed hooks in %s", f.ShortPath(hooks))
	}
	if f.JSON {
		return f.PrintJSON(newStoreJSON(entry))
	}
	return nil
}

// storeJSON is the JSON of a store.
type storeJSON struct {
	Name        string     `json:"name"`
	Driver      string     `json:"driver"`
	Size        string     `json:"size"`
	SizeBytes   int64      `json:"size_bytes"`
	Mounted     bool       `json:"mounted"`
	Checkpoints int        `json:"checkpoints"`
	MountPath   string     `json:"mount_path"`
	BundlePath  string     `json:"bundle_path"`
	CreatedAt   time.Time  `json:"created_at"`
	MountedAt   *time.Time `json:"mounted_at"`
	// Used is the space that the file of a volume, or its bands, take on the disk. Shared is the
	// part of it that checkpoints share. Both are absent for trees and subvolumes.
	Used   int64 `json:"used_bytes,omitempty"`
	Shared int64 `json:"shared_bytes,omitempty"`
}

func newStoreJSON(e registry.Entry) storeJSON {
	size := bands.CapAt(e.Dir, e.Size)
	text := format.Size(size)
	if e.Driver != "" && !volume.Contained(e.Driver) {
		size, text = 0, noSize
	}
	s := storeJSON{
		Name: e.Name, Driver: driverOf(e), Size: text, SizeBytes: size, Mounted: e.Active(), Checkpoints: e.Checkpoints,
		MountPath: e.Root, BundlePath: e.Dir, CreatedAt: format.UTC(e.Created),
	}
	if e.Mounted != nil {
		at := format.UTC(*e.Mounted)
		s.MountedAt = &at
	}
	if d, ok := volume.Named(e.Driver, volume.Place{Store: e.Dir}); ok {
		room, _ := d.Room() // commands that use the volume report the error
		s.Used = room.Used
		s.Shared, _ = volume.Shared(bands.At(e.Dir), d)
	}
	return s
}

// volumeText returns the driver and space of a volume, in parentheses after a space; "" for trees.
func (s storeJSON) volumeText() string {
	if s.Driver == driverTree {
		return ""
	}
	text := s.Driver
	if s.SizeBytes > 0 {
		text += fmt.Sprintf(", %s of %s", format.Size(s.Used), s.Size)
	}
	if s.Shared > 0 {
		text += ", " + format.Size(s.Shared) + " of it shared with checkpoints"
	}
	return " (" + text + ")"
}

// noSize is the text for a size that doesn't exist, such as that of a subvolume.
const noSize = "-"

// parseSize parses the size of a flag; "" is 0.
func parseSize(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	const least = 1 << 20
	n, err := settings.ParseSize(text)
	if err == nil && n < least {
		err = errors.New("too small: a store needs at least 1M")
	}
	if err != nil {
		return 0, app.Usagef("--size %s: %v", text, err)
	}
	return n, nil
}
