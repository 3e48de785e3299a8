package stores

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
)

// newSnapshots returns the state of the commands that work on snapshots of the worktree.
func newSnapshots(a *app.App) *Command {
	return &Command{App: a, Program: "entire snapshot", OwnFirst: true, Snapshots: true}
}

// noun returns the word for a version: a snapshot, which agentfs calls a checkpoint.
func (c *Command) noun() string {
	if c.Snapshots {
		return "snapshot"
	}
	return "checkpoint"
}

// call returns the command line for a command of agentfs: `entire snapshot` has those for snapshots,
// agentfs those for stores.
func (c *Command) call(command string) string {
	if !c.Snapshots {
		return c.Program + " " + command
	}
	if command, isSnapshots := strings.CutPrefix(command, "checkpoint "); isSnapshots {
		return c.Program + " " + command
	}
	switch name, _, _ := strings.Cut(command, " "); name {
	case "diff":
		return "entire " + command
	case "show", "restore", "export", "prune", "verify", "du":
		return c.Program + " " + command
	}
	return "agentfs " + command
}

// NewSnapshot returns the command `entire snapshot`.
func NewSnapshot(a *app.App) *cobra.Command {
	f := newSnapshots(a)
	var opts logOptions
	cmd := &cobra.Command{
		Use:     "snapshot",
		Aliases: []string{"snapshots"},
		Short:   "Take, list and restore snapshots of the working tree",
		Long: `Snapshots contain the whole working tree: tracked, untracked and ignored files. One is
taken at the end of each turn and at each commit; ` + "`create`" + ` takes one now. Without a
command it lists them.

` + "`entire rewind`" + ` keeps your own changes; ` + "`restore`" + ` makes the tree equal to a
snapshot. Both save the current state first.` + ExitStatus,
		Example: `  entire snapshot
  entire snapshot create "before the refactoring"
  entire snapshot restore v12`,
		Args:        cobra.NoArgs,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE:        f.Run(func(ctx context.Context, _ []string) error { return runLog(ctx, f, opts) }),
	}
	cmd.Flags().IntVarP(&opts.limit, "limit", "n", defaultLimit, "list at most this many; 0 lists all")
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.Store, "store", "", "use this store of agentfs: a name, or a path with a /")
	setup.Flag(cmd, "store", completeStores(f, true))
	setup.JSONFlag(flags, &f.JSON)
	setup.JSONLinesFlag(a, cmd.Flags(), &f.JSON)
	flags.BoolVarP(&f.Force, "force", "f", false, "don't ask")
	for _, c := range []struct {
		build                     func(*Command) *cobra.Command
		use, short, long, example string
	}{
		{newFSCreateCmd, "create [<message>]", "Take a snapshot", `Takes a snapshot of the whole working tree, even if nothing has changed.`, `create "before the refactoring"`},
		{newSnapshotList, "", "", "", ""},
		{newSnapshotShow, "", "", "", ""},
		{newFSRestoreCmd, "", "Make the working tree equal to a snapshot", `Restores all files, or those of the paths after --, and deletes files that are not in the
snapshot. The current tree is saved as a snapshot first. The git directory and .claude are
not changed; --nested also restores nested repositories.

It asks first, unless --force is given. ` + "`entire rewind`" + ` keeps what you changed yourself.`, "restore v12 --dry-run\nrestore v12 -- src docs"},
		{newFSExportCmd, "", "Write the files of a snapshot into a new folder", `Writes the files of a snapshot into a new or empty folder. Files that git ignores are left
out unless --ignored is given: they often contain keys and passwords.`, "export v12 ../before"},
		{newFSCheckpointDeleteCmd, "", "Delete snapshots", `Deletes snapshots. Others don't depend on them, and their numbers are not reused.

It asks first, unless --force is given.`, "delete v2 v3"},
		{newFSUsageCmd, "", "Show the disk usage of snapshots", `Lists for each snapshot, newest first, the space that deleting it frees and the size of its
files, and then the total.`, "du"},
		{newFSPruneCmd, "", "Delete old automatic snapshots", `Deletes automatic snapshots. It keeps all of today, one per hour for a week, then one per
day, and those of commits. Named snapshots are kept.`, "prune --dry-run"},
		{newFSVerifyCmd, "", "Check that snapshots can be restored", `Reads all content of a snapshot, or of all snapshots, compares it with its checksums, and
lists damaged files. The next snapshot repairs damage where files are unchanged.`, "verify\nverify v12"},
	} {
		sub := c.build(f)
		if c.use != "" {
			sub.Use = c.use
		}
		if c.short != "" {
			sub.Short, sub.Long = c.short, c.long+ExitStatus
			sub.Example = "  entire snapshot " + strings.ReplaceAll(c.example, "\n", "\n  entire snapshot ")
		}
		cmd.AddCommand(sub)
	}
	return cmd
}

func newSnapshotList(f *Command) *cobra.Command {
	var opts logOptions
	changes := false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List snapshots, newest first",
		Long: `Lists the snapshots of this worktree, newest first: time, agent, and why it was taken. With
--changes it lists what changed between them, without snapshots that have no changes.` + ExitStatus,
		Example: `  entire snapshot list
  entire snapshot list --changes --since 1h
  entire snapshot list --path src/auth.go`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if changes {
				for _, name := range []string{"action", "session", "path", "meta", "all"} {
					if cmd.Flags().Changed(name) {
						return app.Usagef("--changes and --%s can't be combined", name)
					}
				}
			}
			return f.Run(func(ctx context.Context, _ []string) error {
				if changes {
					return runTimeline(ctx, f, timelineOptions{agent: opts.agent, since: opts.since, limit: opts.limit})
				}
				return runLog(ctx, f, opts)
			})(cmd, args)
		},
	}
	addLogFlags(f, cmd, &opts)
	cmd.Flags().BoolVar(&changes, "changes", false, "list the changed files of each")
	cmd.Flags().BoolVar(&opts.all, "all", false, "list those of all worktrees")
	return cmd
}

func newSnapshotShow(f *Command) *cobra.Command {
	return &cobra.Command{
		Use:   "show <version> | <version>:<file>",
		Short: "Show a snapshot, or print a file of it",
		Long: `Shows when and why a snapshot was taken, its commit, and what is not in it. For
v12:src/auth.go it prints the file, byte for byte; the path is relative to the root of the
tree, or to the current folder if it starts with ./ or ../.` + ExitStatus,
		Example: `  entire snapshot show v12
  entire snapshot show v12:.env > .env`,
		Args:              cobra.RangeArgs(1, 2), //nolint:mnd // version and path may be two arguments
		ValidArgsFunction: completeVersions(f, 1, ":"),
		RunE:              f.Run(func(ctx context.Context, args []string) error { return f.show(ctx, strings.Join(args, ":")) }),
	}
}

func (c *Command) show(ctx context.Context, what string) error {
	if strings.Contains(what, ":") {
		return c.printFile(ctx, what)
	}
	return c.describe(ctx, what)
}

// Show shows a snapshot, such as v12, or prints a file of it, such as v12:src/auth.go, or of the one
// before the last turn, last:src/auth.go.
func Show(ctx context.Context, a *app.App, what string, json bool) error {
	c := newSnapshots(a)
	c.JSON = json
	c.NoteBadDefaults()
	if path, isLast := strings.CutPrefix(what, "last:"); isLast {
		v, err := c.momentOf(ctx, "last")
		if err != nil {
			return c.Explain(err)
		}
		what = v.String() + ":" + path
	}
	return c.Explain(c.show(ctx, what))
}

// NewDiff returns the command `entire diff`.
func NewDiff(a *app.App) *cobra.Command {
	f := newSnapshots(a)
	cmd := newFSDiffCmd(f)
	cmd.Use = "diff [<from> [<to>]] [-- <path>...]"
	cmd.Short = "Show what changed since a moment, or between two"
	cmd.Long = `Lists the files that changed since a moment, including ignored files, with the lines added
and removed. A moment is anything that ` + "`entire rewind`" + ` accepts: a snapshot (v12), last
for the start of the last turn, a commit, "10 minutes ago". The default is the last
snapshot; with two moments it compares them.

With paths after --, or with --patch, it prints the changed lines.` + ExitStatus
	cmd.Example = `  entire diff
  entire diff last
  entire diff v12 v14 -- src/auth.go`
	cmd.Annotations = map[string]string{app.WorksDisabled: "yes"}
	cmd.Flags().StringVar(&f.Store, "store", "", "use this store of agentfs: a name, or a path with a /")
	setup.Flag(cmd, "store", completeStores(f, true))
	setup.JSONFlag(cmd.Flags(), &f.JSON)
	return cmd
}

// versions returns the versions that texts name. Of snapshots these are moments as `entire rewind`
// takes them.
func (c *Command) versions(ctx context.Context, texts []string) ([]bands.Version, error) {
	list := make([]bands.Version, len(texts))
	for i, text := range texts {
		v, err := bands.ParseVersion(text)
		if err != nil && c.Snapshots && c.Store == "" {
			v, err = c.momentOf(ctx, text)
		} else if err != nil {
			err = app.Usagef("%v", err)
		}
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return list, nil
}
