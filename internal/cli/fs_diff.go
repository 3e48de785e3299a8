package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
)

func newFSDiffCmd(f *fsApp) *cobra.Command {
	return &cobra.Command{
		Use:   "diff [v1] [v2] [-- path...]",
		Short: "Show what has changed since a checkpoint, or between two",
		Long: `Lists the files that have changed since a checkpoint, by default the last one,
or from one checkpoint to another, with the lines added and removed. With paths
behind -- it prints their changes line by line.

With --json it prints a list; docs/formats/agentfs.md describes it.` + fsExitStatus,
		Example: "  " + f.program + " diff v3\n  " + f.program + " diff v2 v4\n  " + f.program + " diff v3 -- src/auth.ts",
		Args: func(cmd *cobra.Command, args []string) error {
			if n := len(versionsOf(cmd, args)); n > 2 {
				return fmt.Errorf("at most two versions, not %d; paths stand behind --", n)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			versions := versionsOf(cmd, args)
			return f.explain(runFSDiff(cmd.Context(), f, versions, args[len(versions):]))
		},
	}
}

// versionsOf are the arguments before "--".
func versionsOf(cmd *cobra.Command, args []string) []string {
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		return args[:at]
	}
	return args
}

func runFSDiff(ctx context.Context, f *fsApp, versions, paths []string) (err error) {
	wanted := make([]bands.Version, len(versions))
	for i, text := range versions {
		if wanted[i], err = parseVersion(text); err != nil {
			return err
		}
	}
	s, err := f.selected(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	opts := bands.DiffOptions{}
	if opts.Paths, err = s.treePaths(paths...); err != nil {
		return err
	}
	c := &comparison{selection: s, wanted: wanted, opts: opts, unified: len(paths) > 0 && !f.json}
	for range diffAttempts {
		if err := c.run(ctx); err != nil {
			return err
		}
		if len(c.unread) == 0 {
			break
		}
	}
	return c.report()
}

// diffAttempts is how often the tree is read if files change meanwhile.
const diffAttempts = 3

// comparison is one diff command.
type comparison struct {
	*selection

	wanted  []bands.Version
	opts    bands.DiffOptions
	unified bool // print changes line by line
	again   bool // the tree was read before
	files   []bands.FileDiff
	// unheld are paths that a side doesn't hold, unread those that changed before
	// they could be compared.
	unheld, unread []string
}

// run compares once.
func (c *comparison) run(ctx context.Context) (err error) {
	trees, err := c.trees(ctx, c.wanted)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, trees.close()) }()
	missing := bands.Unmatched(c.opts.Paths, trees.old, trees.now)
	if len(missing) > 0 && !c.again {
		return unmatched(missing, trees.oldName, trees.nowName)
	}
	unheld, err := bands.Uncompared(ctx, c.opts, trees.old, trees.now)
	if err != nil {
		return err
	}
	c.unheld = append(c.unheld, unheld...)
	if c.unified {
		// What is printed stays; only what is unread is compared again.
		err = c.fs.Streams.Show(func(w io.Writer) (err error) {
			c.unread, err = bands.UnifiedDiff(ctx, w, trees.old, trees.now, c.opts)
			return err
		})
		c.opts.Paths, c.again = c.unread, true
		return err
	}
	err = c.fs.Streams.Progress("Comparing", func() (err error) {
		c.files, err = bands.DiffStat(ctx, trees.old, trees.now, c.opts)
		return err
	})
	c.unheld, c.unread, c.again = unheld, nil, true
	c.files = slices.DeleteFunc(c.files, func(d bands.FileDiff) bool {
		if d.Unread {
			c.unread = append(c.unread, d.Path)
		}
		return d.Unread
	})
	return err
}

// report prints what was found, and what could not be compared.
func (c *comparison) report() error {
	f := c.fs
	slices.Sort(c.unheld)
	c.unheld = slices.Compact(c.unheld)
	if f.json {
		list := newDiffJSON(c.files)
		for _, path := range slices.Concat(c.unheld, c.unread) {
			list = append(list, diffJSON{Path: path, Bytes: pathBytes(path), Kind: "unknown"})
		}
		return f.compact(list)
	}
	if !c.unified {
		printDiff(f, c.files)
	}
	for _, path := range c.unheld {
		f.Streams.Notef("can't be compared, as it isn't held: %s", showPath(path))
	}
	for _, path := range c.unread {
		f.Streams.Notef("can't be compared, as it kept changing: %s", showPath(path))
	}
	return nil
}

// twoTrees are what a diff compares.
type twoTrees struct {
	old, now         bands.Side
	oldName, nowName string         // as a message names them
	present          *bands.Present // nil if now is a checkpoint
}

func (t *twoTrees) close() error {
	err := errors.Join(t.old.Close(), t.now.Close())
	if t.present != nil {
		err = errors.Join(err, t.present.Close())
	}
	return err
}

// trees are one or two versions, or the last one, and the tree as it is now.
func (s *selection) trees(ctx context.Context, versions []bands.Version) (*twoTrees, error) {
	if len(versions) == 0 {
		last, ok, err := s.Latest(s.options.Lineage)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, s.fs.noCheckpoints()
		}
		versions = append(versions, last.Version)
	}
	old, err := s.side(versions[0])
	if err != nil {
		return nil, err
	}
	t := &twoTrees{old: old, oldName: versions[0].String(), nowName: "the tree"}
	if len(versions) == 2 {
		t.nowName = versions[1].String()
		t.now, err = s.side(versions[1])
	} else {
		err = s.present(ctx, t)
	}
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// present makes the tree as it is now one of the two.
func (s *selection) present(ctx context.Context, t *twoTrees) (err error) {
	if err := s.there(); err != nil {
		return err
	}
	if t.present, err = s.scan(ctx); err != nil {
		return err
	}
	t.now, err = s.PresentSide(t.present, s.options.Root)
	return err
}

func (s *selection) side(v bands.Version) (bands.Side, error) {
	snapshot, err := s.Snapshot(v)
	if err != nil {
		return bands.Side{}, err
	}
	return s.SnapshotSide(snapshot)
}

// diffJSON is an element of what `diff --json` prints.
type diffJSON struct {
	Path     string `json:"path"`
	Bytes    []byte `json:"path_bytes,omitempty"`
	OldPath  string `json:"old_path,omitempty"`
	OldBytes []byte `json:"old_path_bytes,omitempty"`
	Kind     string `json:"kind"`
	// Added and Removed are absent where lines aren't counted.
	Added   *int `json:"added,omitempty"`
	Removed *int `json:"removed,omitempty"`
	Binary  bool `json:"binary,omitempty"`
}

func newDiffJSON(files []bands.FileDiff) []diffJSON {
	list := make([]diffJSON, 0, len(files))
	for i := range files {
		d := &files[i]
		one := diffJSON{
			Path: d.Path, Bytes: pathBytes(d.Path), OldPath: d.OldPath, OldBytes: pathBytes(d.OldPath),
			Kind: string(d.Kind), Binary: d.Binary,
		}
		if d.Counted {
			one.Added, one.Removed = &d.Added, &d.Removed
		}
		list = append(list, one)
	}
	return list
}

// diffWord is the name of a kind of difference, and where it stands in the list.
func diffWord(kind bands.DiffKind) (word string, rank int) {
	switch kind {
	case bands.DiffModified, bands.DiffType, bands.DiffAttributes:
		return "Modified:", 0
	case bands.DiffRenamed:
		return "Renamed:", 1
	case bands.DiffAdded:
		return "Added:", 2
	default:
		return "Deleted:", 3
	}
}

// printDiff lists what was modified, renamed, added and deleted, in this order.
func printDiff(f *fsApp, files []bands.FileDiff) {
	slices.SortStableFunc(files, func(a, b bands.FileDiff) int {
		_, first := diffWord(a.Kind)
		_, second := diffWord(b.Kind)
		return cmp.Compare(first, second)
	})
	for _, d := range files {
		word, _ := diffWord(d.Kind)
		path := showPath(d.Path)
		if d.Kind == bands.DiffRenamed {
			path = showPath(d.OldPath) + " -> " + path
		}
		f.Streams.Printf("%-9s %s%s\n", word, path, diffCounts(d))
	}
	if len(files) == 0 {
		f.Streams.Notef("No changes.")
	}
}

// diffCounts says how much of a file has changed, where it was and is there.
func diffCounts(d bands.FileDiff) string {
	switch {
	case d.Kind == bands.DiffAdded || d.Kind == bands.DiffDeleted:
		return ""
	case d.Kind == bands.DiffAttributes:
		return " (mode)"
	case d.Kind == bands.DiffType:
		return " (type)"
	case d.Binary:
		return " (binary)"
	case !d.Counted, d.Kind == bands.DiffRenamed && d.Added+d.Removed == 0:
		return ""
	}
	return fmt.Sprintf(" (+%d -%d)", d.Added, d.Removed)
}
