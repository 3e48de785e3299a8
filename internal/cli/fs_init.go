package cli

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/settings"
)

type fsInitOptions struct{ size, mount string }

func newFSInitCmd(f *fsApp) *cobra.Command {
	var opts fsInitOptions
	cmd := &cobra.Command{
		Use:   "init <name>",
		Short: "Make a new store and its folder",
		Long: `Makes a store and the folder that belongs to it, and names the store in a file
.agentfs there. The folder is that of --mount; without it, one of that name in
default_mount_base of config.toml or in the current folder. A folder that
exists keeps its files; "manage" takes its name for the store's.

--size is how much room the checkpoints may take: automatic ones make way for
newer ones.` + fsExitStatus,
		Example: "  " + f.program + " init myapp\n  " + f.program + " init myapp --size 50G --mount ~/projects/myapp",
		Args:    cobra.ExactArgs(1),
		RunE:    f.run(func(ctx context.Context, args []string) error { return runFSInit(ctx, f, opts, args[0]) }),
	}
	cmd.Flags().StringVar(&opts.size, "size", "", "room for the checkpoints, such as 50G")
	cmd.Flags().StringVar(&opts.mount, "mount", "", "the store's folder")
	return cmd
}

func runFSInit(ctx context.Context, f *fsApp, opts fsInitOptions, name string) error {
	size, err := parseSize(opts.size)
	if err != nil {
		return err
	}
	if err := bands.CheckName(name); err != nil {
		return err
	}
	known := f.registry()
	config, err := known.Config()
	if err != nil {
		return err
	}
	root := f.absolute(opts.mount)
	switch {
	case opts.mount != "":
	case config.DefaultMountBase != "":
		root = filepath.Join(config.DefaultMountBase, name)
	default:
		root = filepath.Join(f.Dir, name)
	}
	f.say("Creating store...")
	return f.makeStore(config, func() (bands.Entry, error) { return known.Init(ctx, name, root, size) })
}

// makeStore makes a store, and before it the hooks that config.toml asks for.
// If one of them fails nothing stays.
func (f *fsApp) makeStore(config bands.Config, create func() (bands.Entry, error)) error {
	hooks := ""
	before, err := f.claudeRecords()
	if err != nil {
		return err
	}
	if config.ClaudeCode {
		path, changed, err := f.installClaudeHooks(config.CheckpointOn)
		if err != nil {
			return err
		}
		if changed {
			hooks = path
		}
	}
	entry, err := create()
	if err != nil && hooks != "" && len(before) == 0 { // else they are another store's, too
		return errors.Join(err, f.removeRecordedHooks())
	}
	if err != nil {
		return err
	}
	f.say("Created store '%s'", entry.Name)
	f.say("Mounted at %s", f.shortPath(entry.Root))
	if hooks != "" {
		f.Streams.Notef("Installed hooks in %s", f.shortPath(hooks))
	}
	if f.json {
		return f.compact(f.newStoreJSON(entry))
	}
	return nil
}

// storeJSON is a store in JSON.
type storeJSON struct {
	Name        string     `json:"name"`
	Size        string     `json:"size"`
	SizeBytes   int64      `json:"size_bytes"`
	Mounted     bool       `json:"mounted"`
	Checkpoints int        `json:"checkpoints"`
	MountPath   string     `json:"mount_path"`
	BundlePath  string     `json:"bundle_path"`
	CreatedAt   time.Time  `json:"created_at"`
	MountedAt   *time.Time `json:"mounted_at"`
}

func (f *fsApp) newStoreJSON(e bands.Entry) storeJSON {
	size := bands.CapAt(e.Dir, e.Size)
	s := storeJSON{
		Name: e.Name, Size: shortSize(size), SizeBytes: size, Mounted: e.Active(), Checkpoints: e.Checkpoints,
		MountPath: e.Root, BundlePath: e.Dir, CreatedAt: utc(e.Created),
	}
	if e.Mounted != nil {
		at := utc(*e.Mounted)
		s.MountedAt = &at
	}
	return s
}

// parseSize reads a size as a flag; none is 0.
func parseSize(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	const least = 1 << 20
	n, err := settings.ParseSize(text)
	if err == nil && n < least {
		err = errors.New("too small: a store needs 1M at least")
	}
	if err != nil {
		return 0, usagef("--size %s: %v", text, err)
	}
	return n, nil
}
