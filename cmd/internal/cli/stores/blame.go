package stores

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// NewBlameCmd returns the command blame.
func NewBlameCmd(f *Command) *cobra.Command {
	lines := ""
	cmd := &cobra.Command{
		Use:   "blame <file>",
		Short: "Show which checkpoint added each line of a file",
		Long: `Shows the checkpoint that first had each run of lines of a file, with its age, agent,
and message or prompt. With v3:path it shows the file as of that checkpoint; the path
is relative to the tree's root.

Renames are followed if the content is the same, or the name and half of the lines.
Lines that a restore brought back are attributed to their original checkpoint.

With --json it prints an object; see docs/formats/agentfs.md.` + ExitStatus,
		Example: "  " + f.Program + " blame src/auth.ts\n  " + f.Program + " blame -L 10,20 src/auth.ts\n  " + f.Program + " blame v3:src/auth.ts",
		Args:    cobra.ExactArgs(1),
		RunE: f.Run(func(ctx context.Context, args []string) error {
			first, last, err := lineRange(lines)
			if err != nil {
				return err
			}
			s, err := f.Selected(ctx)
			if err != nil {
				return err
			}
			defer s.Close()
			what, err := whatToBlame(s, args[0])
			if err != nil {
				return err
			}
			result, err := blame(ctx, s, what, first, last)
			if err != nil {
				return err
			}
			if f.JSON {
				return f.PrintJSONOf(blameOut(s, what, result), "ranges")
			}
			var table ui.Table
			for _, r := range result.Ranges {
				span := fmt.Sprintf("L%d-%d", r.First, r.Last)
				if r.First == r.Last {
					span = fmt.Sprintf("L%d", r.First)
				}
				if r.Snapshot == nil {
					table.AddRow("-", "now", span, "", "not in a checkpoint yet")
					continue
				}
				age := strings.TrimPrefix(strings.TrimSuffix(ui.Ago(f.Now(), r.Snapshot.Created), " ago"), "just ")
				text := about(*r.Snapshot)
				if r.Path != what.path {
					text += " (as " + format.Path(r.Path) + ")"
				}
				table.AddRow(r.Snapshot.Version.String(), age, span, actor(*r.Snapshot), text)
			}
			f.Page(f.Streams.Table(&table))
			for _, v := range result.Unread {
				f.Streams.Notef("Can't read %s; its lines are attributed to the next checkpoint.", v)
			}
			return nil
		}),
	}
	setup.JSONLinesFlag(f.App, cmd.Flags(), &f.JSON)
	cmd.Flags().StringVarP(&lines, "lines", "L", "", "only these lines: `A,B`, A,+COUNT, A, or ,B")
	return cmd
}

// blamed is the file of the argument: in the tree, or in a checkpoint.
type blamed struct {
	path    string
	version bands.Version // 0: the tree
}

// blameJSON is the output of `blame --json`.
type blameJSON struct {
	Path    string      `json:"path"`
	Bytes   []byte      `json:"path_bytes,omitempty"`
	Version string      `json:"version,omitempty"`
	Lines   int         `json:"lines"`
	Ranges  []rangeJSON `json:"ranges"`
	Unread  []string    `json:"unread"`
}

type rangeJSON struct {
	First int `json:"first"`
	Last  int `json:"last"`
	// Path is the file's path in the checkpoint, if it was another one.
	Path  string `json:"path,omitempty"`
	Bytes []byte `json:"path_bytes,omitempty"`
	// Checkpoint is absent for lines that no checkpoint has.
	Checkpoint *format.CheckpointJSON `json:"checkpoint,omitempty"`
}

// whatToBlame parses the argument.
func whatToBlame(s *Selection, file string) (blamed, error) {
	if version, path, ok := strings.Cut(file, ":"); ok && path != "" {
		if v, err := bands.ParseVersion(version); err == nil {
			return blamed{path: strings.Trim(path, "/"), version: v}, nil
		}
	}
	paths, err := s.TreePaths(file)
	if err != nil {
		return blamed{}, err
	}
	if len(paths) != 1 {
		return blamed{}, app.Usagef("%s is the tree itself, not a file", format.Path(file))
	}
	return blamed{path: paths[0]}, nil
}

func blame(ctx context.Context, s *Selection, what blamed, first, last int) (result *diff.Blame, err error) {
	lineage := s.Options.Lineage
	var present []byte
	if what.version == 0 {
		if err := s.CheckThere(); err != nil {
			return nil, err
		}
		if present, err = diff.ReadPresent(s.Options.Root, what.path); err != nil {
			return nil, unblamed(s, what, err)
		}
		present = append(make([]byte, 0, len(present)), present...) // not nil
	} else {
		snap, err := s.Snapshot(what.version)
		if err != nil {
			return nil, err
		}
		lineage = snap.Lineage
	}
	var history []bands.Snapshot
	s.Options.Lineage = lineage
	err = each(ctx, s, func(snap bands.Snapshot) bool {
		if what.version == 0 || snap.Version <= what.version {
			history = append(history, snap)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	var newest bands.Snapshot
	if len(history) > 0 {
		newest = history[0]
	}
	r := diff.OpenFileHistory(s.Store, newest, s.Options)
	defer func() { err = errors.Join(err, r.Close()) }()
	err = s.Command.Streams.Count("Comparing", func(tick func(done, total int64)) error {
		r.Progress = tick
		result, err = r.BlameFile(ctx, history, what.path, present, first, last)
		return err
	})
	return result, unblamed(s, what, err)
}

// unblamed adds the file's name and a hint to an error.
func unblamed(s *Selection, what blamed, err error) error {
	name := format.Path(what.path)
	if what.version != 0 {
		name = what.version.String() + ":" + name
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrInvalid):
		return app.Usagef("-L: %s: %v", name, strings.TrimSuffix(err.Error(), ": "+fs.ErrInvalid.Error()))
	case errors.Is(err, diff.ErrNoFile) && what.version == 0:
		return app.WithHint(fmt.Errorf("%s: %w", name, err), fmt.Sprintf("`%s blame v3:path` shows a file as it was at a checkpoint", s.Command.Program))
	}
	return fmt.Errorf("%s: %w", name, err)
}

// lineRange parses -L; an omitted end is 0.
func lineRange(text string) (first, last int, err error) {
	if text == "" {
		return 0, 0, nil
	}
	bad := app.Usagef("-L %q: give lines as in 10,20", text)
	from, to, two := strings.Cut(text, ",")
	if from != "" {
		if first, err = strconv.Atoi(from); err != nil || first < 1 {
			return 0, 0, bad
		}
	}
	if !two {
		return first, first, nil
	}
	if to == "" {
		return first, 0, nil
	}
	count, counted := strings.CutPrefix(to, "+")
	if last, err = strconv.Atoi(count); err != nil || last < 1 {
		return 0, 0, bad
	}
	if counted {
		last += max(first, 1) - 1
	}
	if last < first {
		return 0, 0, bad
	}
	return first, last, nil
}

func blameOut(s *Selection, what blamed, result *diff.Blame) blameJSON {
	out := blameJSON{
		Path: what.path, Bytes: format.PathBytes(what.path), Lines: result.Lines, Ranges: make([]rangeJSON, 0, len(result.Ranges)), Unread: []string{},
	}
	if what.version != 0 {
		out.Version = what.version.String()
	}
	known := map[bands.Version]*format.CheckpointJSON{}
	for _, r := range result.Ranges {
		one := rangeJSON{First: r.First, Last: r.Last}
		if r.Snapshot != nil {
			v := r.Snapshot.Version
			if known[v] == nil {
				full := whole(s, *r.Snapshot)
				known[v] = &full
			}
			one.Checkpoint = known[v]
		}
		if r.Path != what.path {
			one.Path, one.Bytes = r.Path, format.PathBytes(r.Path)
		}
		out.Ranges = append(out.Ranges, one)
	}
	for _, v := range result.Unread {
		out.Unread = append(out.Unread, v.String())
	}
	return out
}
