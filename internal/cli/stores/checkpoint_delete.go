package stores

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/internal/cli/stores/access"
	"github.com/seed-3aff656d/entire/internal/ui"
)

func newFSCheckpointDeleteCmd(f *access.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "delete <version>",
		Short: "Delete a checkpoint",
		Long: `Deletes a checkpoint. The others don't need it, and its number isn't used again.
It asks first, unless --force is given.` + access.ExitStatus,
		Example:           "  " + f.Program + " checkpoint delete v2",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeVersions(f, 1, ""),
		RunE:              f.Run(func(ctx context.Context, args []string) error { return runFSCheckpointDelete(ctx, f, args[0]) }),
	}
}

func runFSCheckpointDelete(ctx context.Context, f *access.Command, version string) error {
	v, err := parseVersion(version)
	if err != nil {
		return err
	}
	s, err := f.Selected(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := errors.Join(s.InTree(), s.Has(v)); err != nil {
		return err
	}
	question := fmt.Sprintf("Delete checkpoint %s of %s?", v, f.ShortPath(s.Options.Root))
	if yes, err := sure(ctx, f, question); err != nil || !yes {
		return err
	}
	if err := s.Delete(ctx, v); err != nil {
		return err
	}
	if f.JSON {
		return f.PrintJSON(map[string]any{"deleted": []string{v.String()}})
	}
	f.Say("Deleted %s", v)
	return nil
}

// sure asks a question of which the answer is yes with --force. Without it and
// without a terminal it is an error.
func sure(ctx context.Context, f *access.Command, question string) (bool, error) {
	if f.Force {
		return true, nil
	}
	answers, err := f.Prompter.Ask(ctx, ui.Question{Title: question, Flag: "--force"})
	if err != nil {
		return false, err
	}
	if answers[0] != ui.Yes {
		f.Streams.Notef("Nothing was changed.")
		return false, nil
	}
	return true, nil
}
