package stores

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

func newFSCheckpointDeleteCmd(f *Command) *cobra.Command {
	return &cobra.Command{
		Use:   "delete <version>...",
		Short: "Delete checkpoints",
		Long: `Deletes checkpoints. Others don't depend on them, and their numbers are not reused.
It asks first, unless --force is given.` + ExitStatus,
		Example:           "  " + f.Program + " checkpoint delete v2\n  " + f.Program + " checkpoint delete v2 v3",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeVersions(f, math.MaxInt, ""),
		RunE: f.Run(func(ctx context.Context, args []string) error {
			versions := make([]bands.Version, len(args))
			names := make([]string, len(args))
			for i, text := range args {
				v, err := parseVersion(text)
				if err != nil {
					return err
				}
				versions[i], names[i] = v, v.String()
			}
			s, err := f.Selected(ctx)
			if err != nil {
				return err
			}
			defer s.Close()
			failed := []error{s.RequireTree()}
			for _, v := range versions {
				failed = append(failed, s.RequireVersion(v))
			}
			if err := errors.Join(failed...); err != nil {
				return err
			}
			noun := f.noun()
			if len(versions) > 1 {
				noun += "s"
			}
			question := fmt.Sprintf("Delete %s %s of %s?", noun, strings.Join(names, ", "), f.ShortPath(s.Options.Root))
			if yes, err := sure(ctx, f, question); err != nil || !yes {
				return err
			}
			for _, v := range slices.Compact(slices.Sorted(slices.Values(versions))) {
				if err := s.Delete(ctx, v); err != nil {
					return err
				}
				if !f.JSON {
					f.Say("Deleted %s", v)
				}
			}
			if f.JSON {
				return f.PrintJSON(deletedJSON{names})
			}
			return nil
		}),
	}
}

// sure asks for confirmation, except with --force. Without --force and without a terminal it
// returns an error.
func sure(ctx context.Context, f *Command, question string) (bool, error) {
	if f.Force {
		return true, nil
	}
	answers, err := f.Prompter.Ask(ctx, ui.Question{Title: question, Flag: "--force"})
	if err != nil {
		return false, err
	}
	if answers[0] != ui.Yes {
		f.Streams.Notef("Nothing was deleted.")
		return false, nil
	}
	return true, nil
}

// deletedJSON is the output of `checkpoint delete --json`.
type deletedJSON struct {
	Deleted []string `json:"deleted"`
}
