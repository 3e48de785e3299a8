package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/internal/ui"
)

func newFSCheckpointDeleteCmd(f *fsApp) *cobra.Command {
	return &cobra.Command{
		Use:   "delete <version>",
		Short: "Delete a checkpoint",
		Long: `Deletes a checkpoint. The others don't need it, and its number isn't used again.
It asks first, unless --force is given.` + fsExitStatus,
		Example: "  " + f.program + " checkpoint delete v2",
		Args:    cobra.ExactArgs(1),
		RunE:    f.run(func(ctx context.Context, args []string) error { return runFSCheckpointDelete(ctx, f, args[0]) }),
	}
}

func runFSCheckpointDelete(ctx context.Context, f *fsApp, version string) error {
	v, err := parseVersion(version)
	if err != nil {
		return err
	}
	s, err := f.selected(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if err := errors.Join(s.inTree(), s.has(v)); err != nil {
		return err
	}
	question := fmt.Sprintf("Delete checkpoint %s of %s?", v, f.shortPath(s.options.Root))
	if yes, err := f.sure(ctx, question); err != nil || !yes {
		return err
	}
	if err := s.delete(ctx, v); err != nil {
		return err
	}
	if f.json {
		return f.compact(map[string]any{"deleted": []string{v.String()}})
	}
	f.say("Deleted %s", v)
	return nil
}

// sure asks a question of which the answer is yes with --force. Without it and
// without a terminal it is an error.
func (f *fsApp) sure(ctx context.Context, question string) (bool, error) {
	if f.force {
		return true, nil
	}
	answers, err := f.ask.Ask(ctx, ui.Question{Title: question, Flag: "--force"})
	if err != nil {
		return false, err
	}
	if answers[0] != ui.Yes {
		f.Streams.Notef("Nothing was changed.")
		return false, nil
	}
	return true, nil
}
