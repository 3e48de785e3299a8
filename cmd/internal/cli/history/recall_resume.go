package history

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

func newRecallResumeCmd(a *app.App, opts *outputFlags) *cobra.Command {
	kind := ""
	cmd := &cobra.Command{
		Use:   "resume [id]",
		Short: "Print the brief of a context checkpoint",
		Long: `Prints the brief of a context checkpoint, by default the newest of this worktree, for a
person or an agent. Its files are marked as current, changed since, or deleted.

To continue the conversation itself, use ` + "`entire resume`" + `.` + recallExitStatus,
		Example: `  entire recall resume 3f9a1c
  entire recall resume --kind short`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			which, known := map[string]brief.Kind{"full": brief.Full, "short": brief.Short}[kind]
			if !known {
				return app.Usagef("unknown kind %q (known: full, short)", kind)
			}
			return recallRun(a, opts, func(ctx context.Context, r *recalling, args []string) error {
				id, err := r.find(ctx, firstOf(args))
				if err != nil {
					return err
				}
				return r.brief(ctx, id, which)
			})(cmd, args)
		},
	}
	cmd.Flags().StringVar(&kind, "kind", "full", "full or short")
	cmd.ValidArgsFunction = setup.Argument(a, 0, setup.Contexts)
	return cmd
}

// briefJSON is the output of `recall --json` and `recall resume --json`.
type briefJSON struct {
	Checkpoint string `json:"checkpoint"` // empty if there is none
	brief.Brief
}

// brief prints the brief of a checkpoint; without an id the brief that a session which starts here
// now would get.
func (r *recalling) brief(ctx context.Context, id string, kind brief.Kind) error {
	got, err := r.makeBrief(ctx, id, kind)
	if errors.Is(err, recall.ErrNotFound) && id == "" {
		if r.opts.json {
			return r.Streams.JSON(newBriefJSON(savedcontext.Recalled{}))
		}
		r.Streams.Notef("Nothing would be injected: no context checkpoint here yet.")
		r.Streams.Hint("`entire recall save` saves one; `entire recall list --all` lists those of other worktrees")
		return nil
	}
	if err != nil {
		return recallError(err, id)
	}
	if r.opts.json {
		return r.Streams.JSON(newBriefJSON(got))
	}
	parts := got.Brief.Parts
	if len(parts) == 0 {
		off := ""
		switch {
		case id != "":
		case r.is.Recall.OnStart == settings.Never:
			off = "auto_resume_on_start is false"
		case r.is.Recall.Inject == settings.InjectOff:
			off = "inject is off"
		}
		if off == "" {
			r.Streams.Notef("Checkpoint %s is empty.", got.Checkpoint.ID)
			return nil
		}
		r.Streams.Notef("Nothing would be injected: %s.", off)
		r.Streams.Hint("`entire recall resume " + got.Checkpoint.ID + "` prints the brief of the newest context checkpoint")
		return nil
	}
	note := "checkpoint " + got.Checkpoint.ID + ", " + ui.Plural(len(parts), "part") + ", " + ui.Thousands(int64(got.Brief.Tokens)) + " tokens"
	if r.Streams.Terminal.Err {
		note = r.Streams.Paint(ui.Dim, note)
	}
	r.Streams.Notef("%s", note)
	r.opts.show(r.App, strings.TrimRight(strings.Join(parts, "\n\n"), "\n")+"\n")
	return nil
}

func newBriefJSON(got savedcontext.Recalled) briefJSON {
	j := briefJSON{Checkpoint: got.Checkpoint.ID, Brief: got.Brief}
	j.Parts = format.NotNil(j.Parts)
	return j
}
