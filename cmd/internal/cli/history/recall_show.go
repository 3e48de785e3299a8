package history

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

type recallShowOptions struct {
	file     string
	sections []string
}

// sectionTokens is the maximum number of tokens of all sections that are shown.
const sectionTokens = 20_000

func newRecallShowCmd(a *app.App, opts *outputFlags) *cobra.Command {
	var show recallShowOptions
	cmd := &cobra.Command{
		Use:   "show [id]",
		Short: "Show the content of a context checkpoint",
		Long: `Shows a context checkpoint, by default the newest of this worktree, without the contents
of its files: --file prints one of them, and --json has all. Secrets are masked.
--section prints only parts of the brief: ` + strings.Join(brief.SectionNames(), ", ") + `.` + recallExitStatus,
		Example: `  entire recall show
  entire recall show 3f9a1c --file internal/cli/recall.go
  entire recall show 3f9a1c --section requests --section state
  entire recall show --json | jq -r .state.analysis.current_task`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("file") && show.file == "" { // a script's empty variable
				return app.Usagef("--file is empty")
			}
			if err := savedcontext.CheckSections(show.sections); err != nil {
				return app.Usagef("%v", err)
			}
			if show.file != "" && len(show.sections) > 0 {
				return app.Usagef("--file and --section can't be combined")
			}
			if show.file != "" && opts.json {
				return app.Usagef("--file and --json can't be combined")
			}
			return recallRun(a, opts, func(ctx context.Context, r *recalling, args []string) error {
				return r.showOne(ctx, firstOf(args), show)
			})(cmd, args)
		},
	}
	cmd.Flags().StringVar(&show.file, "file", "", "print only the stored content of this file")
	cmd.Flags().StringArrayVar(&show.sections, "section", nil, "print only this section of the brief; may be repeated")
	cmd.ValidArgsFunction = setup.Argument(a, 0, setup.Contexts)
	setup.Flag(cmd, "section", cobra.FixedCompletions(brief.SectionNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// firstOf returns the first argument, "" if there is none.
func firstOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func (r *recalling) showOne(ctx context.Context, prefix string, opts recallShowOptions) error {
	id, err := r.find(ctx, prefix)
	if err != nil {
		return err
	}
	c, err := r.store.Get(ctx, id)
	if err != nil {
		return recallError(err, id)
	}
	switch {
	case len(opts.sections) > 0:
		list, err := r.sections(ctx, c.ID, opts.sections, sectionTokens)
		if err != nil {
			return recallError(err, c.ID)
		}
		if r.opts.json {
			return r.Streams.JSON(sectionsJSON{ID: c.ID, Sections: list})
		}
		var texts []string
		for _, s := range list {
			if s.Text == "" {
				r.Streams.Notef("Nothing was recorded for: %s", s.Name)
				continue
			}
			texts = append(texts, s.Text+"\n")
		}
		r.opts.show(r.App, strings.Join(texts, "\n"))
		return nil
	case opts.file == "" && r.opts.json:
		if err := r.store.ReadContents(ctx, &c); err != nil {
			return recallError(err, c.ID)
		}
		return r.Streams.JSON(c.Filled())
	case opts.file == "":
		r.opts.show(r.App, r.checkpointText(c))
		return nil
	}
	// The file is named relative to the root of the worktree or to the working directory, or by its
	// absolute path; its content is printed byte for byte.
	names := []string{filepath.ToSlash(filepath.Clean(opts.file)), opts.file}
	if rel, ok := disk.NewResolver(r.root, r.Dir).Rel(opts.file); ok {
		names = append([]string{rel}, names...)
	}
	i := slices.IndexFunc(names, func(name string) bool { _, found := c.State.Files[name]; return found })
	if i < 0 {
		return app.WithHint(fmt.Errorf("%s is not in checkpoint %s", format.Path(opts.file), c.ID), "`entire recall show "+c.ID+"` lists its files")
	}
	path := names[i]
	if why := c.State.Files[path].Omitted; why != "" {
		return omittedError(c.State.Files[path], why)
	}
	if err := r.store.ReadContents(ctx, &c, path); err != nil {
		return recallError(err, c.ID)
	}
	if why := c.State.Files[path].Omitted; why != "" {
		return omittedError(c.State.Files[path], why)
	}
	return r.Streams.Show(func(w io.Writer) error {
		_, err := io.WriteString(w, c.State.Files[path].Content)
		return err
	})
}

// sectionsJSON is the output of `recall show --section --json`.
type sectionsJSON struct {
	ID       string                 `json:"id"`
	Sections []savedcontext.Section `json:"sections"`
}

func omittedError(f recall.File, why recall.Omitted) error {
	err := fmt.Errorf("no content of %s is kept: %s", format.Path(f.Path), why)
	if f.Hash == "" {
		return err
	}
	return app.WithHint(err, fmt.Sprintf("it had %s and SHA-256 %s", format.Size(f.Size), f.Hash))
}
