package stores

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

func newFSDiffCmd(f *Command) *cobra.Command {
	patch := false
	cmd := &cobra.Command{
		Use:   "diff [v1] [v2] [-- path...]",
		Short: "Show changes since a checkpoint, or between two",
		Long: `Lists the files that have changed since a checkpoint, by default the last one,
or from one checkpoint to another, with the lines added and removed. With paths
after -- it prints their changes line by line.

With --json it prints a list; docs/formats/agentfs.md describes it.` + ExitStatus,
		Example:           "  " + f.Program + " diff v3\n  " + f.Program + " diff v2 v4\n  " + f.Program + " diff v3 -- src/auth.ts",
		ValidArgsFunction: completeVersions(f, 2, ""),
		Args: func(cmd *cobra.Command, args []string) error {
			if versions, _ := f.sides(cmd, args); len(versions) > 2 {
				return fmt.Errorf("at most two versions, not %d; paths go after --", len(versions))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			versions, paths := f.sides(cmd, args)
			return f.Run(func(ctx context.Context, _ []string) error { return runFSDiff(ctx, f, versions, paths, patch) })(cmd, args)
		},
	}
	setup.JSONLinesFlag(f.App, cmd.Flags(), &f.JSON)
	cmd.Flags().BoolVarP(&patch, "patch", "p", false, "print the changed lines")
	cmd.Flags().Bool("stat", true, "accepted for compatibility: it is the default")
	cmd.Flags().Lookup("stat").Hidden = true // users of git pass it
	return cmd
}

// sides returns the versions and the paths among the arguments: paths follow "--". Of snapshots they
// may also begin with the first argument that is a file and no version.
func (c *Command) sides(cmd *cobra.Command, args []string) (versions, paths []string) {
	versions = args
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		versions, paths = args[:at], args[at:]
	} else if c.Snapshots {
		isFile := func(arg string) bool {
			_, err := bands.ParseVersion(arg)
			return err != nil && exists(c.Absolute(arg))
		}
		if at := slices.IndexFunc(args, isFile); at >= 0 {
			versions, paths = args[:at], args[at:]
		}
	}
	return eachVersion(versions), paths
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// eachVersion splits ranges v1..v2, as in git.
func eachVersion(texts []string) []string {
	var versions []string
	for _, text := range texts {
		from, to, isRange := strings.Cut(text, "..")
		versions = append(versions, from)
		if isRange {
			versions = append(versions, to)
		}
	}
	return versions
}

func runFSDiff(ctx context.Context, f *Command, versions, paths []string, patch bool) error {
	wanted, err := f.versions(ctx, versions)
	if err != nil {
		return err
	}
	s, err := f.Selected(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	opts := diff.Options{}
	if opts.Paths, err = s.TreePaths(paths...); err != nil {
		return err
	}
	c := &comparison{Selection: s, wanted: wanted, opts: opts, unified: (patch || len(paths) > 0) && !f.JSON}
	for range diffAttempts {
		if err := c.run(ctx); err != nil {
			return err
		}
		if len(c.unread) == 0 {
			break
		}
	}
	slices.Sort(c.unheld)
	c.unheld = slices.Compact(c.unheld)
	if f.JSON {
		list := format.NewDiffJSON(c.files)
		for _, path := range slices.Concat(c.unheld, c.unread) {
			list = append(list, format.DiffJSON{Path: path, Bytes: format.PathBytes(path), Kind: "unknown"})
		}
		return f.PrintBareList(ui.JSONList{Key: "changes", Entries: ui.JSONEntries(list)})
	}
	if !c.unified {
		f.PageText(func(s ui.Streams) { format.Diff(s, c.files) })
	}
	for _, path := range c.unheld {
		f.Streams.Notef("can't be compared, not in the checkpoint: %s", format.Path(path))
	}
	for _, path := range c.unread {
		f.Streams.Notef("can't be compared, it kept changing: %s", format.Path(path))
	}
	return nil
}

// diffAttempts is the maximum number of reads of the tree if files change meanwhile.
const diffAttempts = 3

// comparison is one diff command.
type comparison struct {
	*Selection

	wanted  []bands.Version
	opts    diff.Options
	changed []string // of a volume: the paths to compare
	unified bool     // print changes line by line
	again   bool     // the tree was already read
	files   []diff.File
	// unheld holds paths that a side doesn't hold, unread those that changed before they could be
	// compared.
	unheld, unread []string
}

// run compares the sides once.
func (c *comparison) run(ctx context.Context) (err error) {
	if c.IsVolume() {
		c.changed = c.opts.Paths // compared in any case
	}
	if c.IsVolume() && len(c.opts.Paths) == 0 {
		versions, err := Versions(c.Selection, c.wanted)
		if err == nil && len(versions) < 2 {
			err = c.CheckThere()
		}
		if err != nil {
			return err
		}
		c.changed, err = ChangedInVolume(ctx, c.Selection, versions)
		c.unread = nil
		if err != nil || len(c.changed) == 0 {
			return err
		}
	}
	trees, err := OpenSides(ctx, c.Selection, c.wanted, c.changed)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, trees.Close()) }()
	missing := diff.Unmatched(c.opts.Paths, trees.Old, trees.Now)
	if len(missing) > 0 && !c.again {
		return app.Unmatched(missing, trees.OldName, trees.NowName)
	}
	unheld, err := diff.Uncompared(ctx, c.opts, trees.Old, trees.Now)
	if err != nil {
		return err
	}
	c.unheld = append(c.unheld, unheld...)
	if c.unified {
		// Printed changes are final; only the unread paths are compared again.
		err = c.Command.PageOutput(func(s ui.Streams) error {
			return s.ShowPatch(func(w io.Writer) (err error) {
				c.unread, err = diff.Unified(ctx, w, trees.Old, trees.Now, c.opts)
				return err
			})
		})
		c.opts.Paths, c.again = c.unread, true
		return err
	}
	err = c.Command.Streams.Sized("Comparing", func(reach func(string, ui.Amount)) (err error) {
		c.opts.Progress = format.ProgressOnly(reach)
		c.files, err = diff.Stat(ctx, trees.Old, trees.Now, c.opts)
		return err
	})
	c.unheld, c.unread, c.again = unheld, nil, true
	c.files = slices.DeleteFunc(c.files, func(d diff.File) bool {
		if d.Unread {
			c.unread = append(c.unread, d.Path)
		}
		return d.Unread
	})
	return err
}
