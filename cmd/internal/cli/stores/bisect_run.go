package stores

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/proc"
)

type runOptions struct {
	from, to string
	paths    []string
	keep     bool
	once     bool
	again    bool
	quiet    bool
	scratch  string
}

func (c *command) newRun() *cobra.Command {
	var opts runOptions
	moment := "A moment is a version\n(v12) or a time (2h, \"10 minutes ago\"), which is the last snapshot before it."
	if c.records {
		moment = "A moment is anything\nthat `entire rewind` accepts: v12, last:2, a checkpoint, a commit, \"2 hours ago\"."
	}
	cmd := &cobra.Command{
		Use:   "run [--from MOMENT] [--to MOMENT] [--paths PATH]... -- COMMAND [ARG]...",
		Short: "Run a command until the first bad snapshot is found",
		Long: long + `

It searches the snapshots of this tree between --from, by default the oldest, and --to,
by default the current tree, of which a snapshot is taken if it has changed. ` + moment + ` With --paths it searches
only snapshots in which these files or folders changed.

After an interruption, --continue continues with the results so far.` + ExitStatus,
		Example: "  " + c.name + " run -- make test\n  " + c.name + " run --from 2h --paths src -- go test ./src/...\n  " + c.name + " run --continue",
		RunE: func(cmd *cobra.Command, args []string) error {
			if opts.again {
				for _, name := range []string{"from", "to", "paths", "keep", "no-repeat"} {
					if cmd.Flags().Changed(name) {
						return app.Usagef("--continue and --%s can't be combined: --continue uses the options of the start", name)
					}
				}
				if len(args) > 0 {
					return app.Usagef("--continue runs the same command: give none")
				}
			} else if len(args) == 0 {
				return app.Usagef("which command? Type %s run -- COMMAND", c.name)
			}
			return c.with(func(ctx context.Context, o *opened, args []string) error { return c.run(ctx, o, opts, args) })(cmd, args)
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.StringVar(&opts.from, "from", "", "the first snapshot, which is good (default: the oldest)")
	f.StringVar(&opts.to, "to", "", "the last snapshot, which is bad (default: the current tree)")
	f.StringArrayVar(&opts.paths, "paths", nil, "only where this file or folder changed; may be given more than once")
	f.BoolVar(&opts.keep, "keep", false, "keep what the command creates, such as build output")
	f.BoolVar(&opts.once, "no-repeat", false, "don't test the two found snapshots again")
	f.BoolVar(&opts.again, "continue", false, "continue an interrupted bisect")
	f.BoolVarP(&opts.quiet, "quiet", "q", false, "don't show what the command prints")
	f.StringVar(&opts.scratch, "scratch", "", "create the scratch tree in this `FOLDER` (default: TMPDIR)")
	if c.records {
		setup.Flag(cmd, "from", setup.FlagValue(c.App, setup.Versions, setup.Checkpoints))
		setup.Flag(cmd, "to", setup.FlagValue(c.App, setup.Versions, setup.Checkpoints))
	}
	return cmd
}

// run starts a search, or continues one.
func (c *command) run(ctx context.Context, o *opened, opts runOptions, args []string) error {
	state, err := o.record.Read()
	switch {
	case opts.again && err != nil:
		return err
	case opts.again:
		return c.search(ctx, o, state, opts)
	case err == nil && state.Ended == nil:
		return app.WithHint(fmt.Errorf("a bisect of %s is in progress", ui.Plural(len(state.Versions), "snapshot")),
			fmt.Sprintf("`%s run --continue` continues it, `%s reset` stops it", c.name, c.name))
	case err != nil && !errors.Is(err, diff.ErrNoBisect):
		return app.WithHint(err, fmt.Sprintf("`%s reset` removes it", c.name))
	}
	if opts.keep && o.IsVolume() {
		return app.Usagef("--keep: the scratch tree of a volume is rebuilt for each run")
	}
	state = &diff.BisectState{Command: args, Keep: opts.keep, Repeat: !opts.once, Began: c.Now().UTC()}
	if state.Paths, err = o.TreePaths(opts.paths...); err != nil {
		return err
	}
	if state.Versions, err = c.candidates(ctx, o, opts, state.Paths); err != nil {
		return err
	}
	if err := o.record.Write(state); err != nil {
		return err
	}
	return c.search(ctx, o, state, opts)
}

// search runs the search to its end, and reports the result.
func (c *command) search(ctx context.Context, o *opened, state *diff.BisectState, opts runOptions) error {
	dir, err := c.scratchFolder(o, state, opts)
	if err != nil {
		return err
	}
	out := c.Streams.Err
	if opts.quiet {
		out = io.Discard
	}
	s := &diff.BisectSearch{
		Store: o.Store, Record: o.record, BisectState: state, Dir: dir, Now: c.Now,
		Clones: func(ctx context.Context, v bands.Snapshot) (*restore.CloneSource, error) { return clones(ctx, o, v) },
		Exec: func(ctx context.Context, dir string, v bands.Version) (int, error) {
			env := slices.DeleteFunc(slices.Clone(c.Environ), func(pair string) bool {
				name, _, _ := strings.Cut(pair, "=")
				return name == "PWD" || strings.HasPrefix(name, "GIT_") && gitLocal[name] // of the user's repository
			})
			env = append(env, "PWD="+dir, "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "ENTIRE_BISECT="+v.String())
			return proc.Run{Path: state.Command[0], Args: state.Command[1:], Dir: dir, Env: env}.Wait(ctx, out)
		},
		Trying: func(n diff.BisectStep) {
			text := "Trying " + n.Version.String()
			if s, err := o.Snapshot(n.Version); err == nil {
				if turn := format.TurnText(s); turn != "" {
					text += ", " + turn
				} else {
					text += format.Quoted(s.Message)
				}
			}
			if n.Repeat {
				text += ": again, to confirm the result"
			} else {
				text += fmt.Sprintf(": %s left, about %s", ui.Plural(n.Left, "snapshot"), ui.Plural(max(n.Steps, 1), "run"))
			}
			c.Streams.Notef("%s", text)
		},
		Tried: func(r diff.BisectRun) {
			style := map[diff.BisectResult]ui.Style{diff.BisectGood: ui.Green, diff.BisectBad: ui.Red, diff.BisectSkip: ui.Yellow}[r.Result]
			about := r.Note
			if about == "" {
				about = fmt.Sprintf("exit status %d, %s", r.Exit, format.Took(time.Duration(r.Millis)*time.Millisecond))
			}
			c.Streams.Notef("%s is %s (%s)", r.Version, c.Streams.Paint(style, string(r.Result)), about)
		},
		Writing: func(_ context.Context, what string, do func(func(bands.Progress)) error) error {
			return c.Streams.Sized(what, func(reach func(string, ui.Amount)) error { return do(format.ProgressOnly(reach)) })
		},
	}
	found, err := s.Run(ctx)
	switch {
	case ctx.Err() != nil:
		c.Streams.Hint("`" + c.name + " run --continue` continues it")
		return ctx.Err()
	case errors.Is(err, proc.ErrNoProgram), errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return app.WithHint(err, "the command starts in the scratch tree: give a script outside the tree by its absolute path; run `"+c.name+" reset` before trying another command")
	case err != nil:
		return err
	}
	return c.report(ctx, o, state, found)
}

// scratchFolder returns the folder for the scratch tree.
func (c *command) scratchFolder(o *opened, state *diff.BisectState, opts runOptions) (string, error) {
	dir := opts.scratch
	if dir == "" && o.IsVolume() {
		dir = o.Dir() // in the volume's file system
	}
	if dir == "" {
		dir = c.Getenv("TMPDIR")
	}
	if dir == "" {
		dir = os.TempDir()
	}
	dir = disk.Physical(c.Absolute(dir))
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", app.Usagef("%s is not a folder", format.Path(dir))
	case dir == o.Options.Root || strings.HasPrefix(dir, o.Options.Root+string(filepath.Separator)):
		return "", app.WithHint(fmt.Errorf("the scratch tree can't be in %s itself", c.ShortPath(o.Options.Root)), "choose a folder outside it with --scratch")
	}
	last, err := o.Snapshot(state.Versions[len(state.Versions)-1])
	if err != nil {
		return "", err
	}
	if space, err := disk.SpaceAt(dir); err == nil && space.Free < last.Totals.Bytes && state.Base == "" && o.Linking() != disk.Reflink {
		return "", app.WithHint(fmt.Errorf("%s has %s free; the files of a snapshot take %s", c.ShortPath(dir), format.Size(space.Free), format.Size(last.Totals.Bytes)),
			"choose another folder with --scratch")
	}
	return dir, nil
}

// clones returns the present tree as a source of clones, if the file system shares blocks.
func clones(ctx context.Context, o *opened, v bands.Snapshot) (*restore.CloneSource, error) {
	if o.Linking() != disk.Reflink || v.Lineage != o.Options.Lineage {
		return nil, nil //nolint:nilnil // none
	}
	set, err := o.ResolveOptions(o.Options)
	if err != nil {
		return nil, err
	}
	read, err := o.Stamp(set)
	if err != nil {
		return nil, err
	}
	present, err := capture.Scan(ctx, o.Store, o.Options)
	if err != nil {
		return nil, err
	}
	return &restore.CloneSource{Root: o.Options.Root, Read: read, Present: present}, nil
}

// gitLocal holds the variables that belong to one repository, as git rev-parse --local-env-vars
// lists them.
//
//nolint:gochecknoglobals // a table
var gitLocal = map[string]bool{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES": true, "GIT_CONFIG": true, "GIT_CONFIG_PARAMETERS": true, "GIT_CONFIG_COUNT": true,
	"GIT_OBJECT_DIRECTORY": true, "GIT_DIR": true, "GIT_WORK_TREE": true, "GIT_IMPLICIT_WORK_TREE": true,
	"GIT_GRAFT_FILE": true, "GIT_INDEX_FILE": true, "GIT_NO_REPLACE_OBJECTS": true, "GIT_REPLACE_REF_BASE": true,
	"GIT_PREFIX": true, "GIT_SHALLOW_FILE": true, "GIT_COMMON_DIR": true, "GIT_CEILING_DIRECTORIES": true,
	"GIT_INTERNAL_SUPER_PREFIX": true,
}
