package rewindcmd

import (
	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
)

// NewUndo returns the command that undoes the last rewind.
func NewUndo(a *app.App) *cobra.Command {
	cmd := newStep(a, rewindOptions{undo: true})
	cmd.Use, cmd.Short = "undo", "Undo the last rewind"
	cmd.Long = `Restores what the last rewind changed. Files that changed since are kept and listed. Run
it again to undo the rewind before; ` + "`entire redo`" + ` reverts an undo.

To undo what an agent did, use ` + "`entire rewind last`." + undoExitStatus
	cmd.Example = `  entire undo --preview
  entire undo
  entire undo --paths src/auth.go`
	return cmd
}

// NewRedo returns the command that redoes the last rewind that was undone.
func NewRedo(a *app.App) *cobra.Command {
	cmd := newStep(a, rewindOptions{redo: true})
	cmd.Use, cmd.Short = "redo", "Revert the last undo"
	cmd.Long = `Restores what the last undo changed. Files that changed since are kept and listed.` + undoExitStatus
	cmd.Example = `  entire redo --preview
  entire redo`
	return cmd
}

const undoExitStatus = `

It asks if the rewind is older than ten minutes or than the last commit.

EXIT STATUS
  0    done
  1    failure, nothing to do, or some paths could not be restored
  2    wrong usage, or no terminal to ask on
  130  interrupted`

func newStep(a *app.App, opts rewindOptions) *cobra.Command {
	cmd := &cobra.Command{
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runRewind(cmd.Context(), a, opts) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&opts.paths, "paths", nil, "only this file or folder; may be repeated")
	addPreview(f, &opts.preview)
	f.BoolVarP(&opts.force, "force", "f", false, "don't ask")
	f.BoolVar(&opts.nested, "nested", false, "also restore nested repositories")
	setup.JSONFlag(f, &opts.json)
	return cmd
}
