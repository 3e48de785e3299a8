package history

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

type recallSaveOptions struct {
	message, description, mode, session string
	tags                                []string
}

func newRecallSaveCmd(a *app.App, opts *outputFlags) *cobra.Command {
	var save recallSaveOptions
	cmd := &cobra.Command{
		Use:   "save [<message>]",
		Short: "Save a context checkpoint now",
		Long: `Saves the context of the session working here: the task, next steps, decisions, recent
commands, and the files that it changed. Contexts saved this way are never removed
automatically.` + recallExitStatus,
		Example: `  entire recall save
  entire recall save "login works, refresh is missing" --tag auth`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if cmd.Flags().Changed("message") {
					return app.Usagef("two messages: --message and %q", args[0])
				}
				save.message = args[0]
			}
			for _, name := range []string{"message", "session"} {
				if flag := cmd.Flags().Lookup(name); flag.Changed && strings.TrimSpace(flag.Value.String()) == "" { // a script's empty variable
					return app.Usagef("--%s is empty", name)
				}
			}
			if save.mode != "" && save.mode != string(recall.SummaryMode) && save.mode != string(recall.StatefulMode) {
				return app.Usagef("unknown mode %q (known: summary, stateful)", save.mode)
			}
			return recallRun(a, opts, func(ctx context.Context, r *recalling, _ []string) error { return r.save(ctx, save) })(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&save.message, "message", "m", "", "a one-line summary (default: from the session)")
	f.StringVar(&save.description, "description", "", "a longer description")
	f.StringArrayVar(&save.tags, "tag", nil, "a word to find it by; may be repeated")
	f.StringVar(&save.mode, "mode", "", "summary (no file contents) or stateful (default: as configured)")
	f.StringVar(&save.session, "session", "", "the session (default: the last active one here)")
	return cmd
}

func (r *recalling) save(ctx context.Context, opts recallSaveOptions) error {
	if !r.is.Enabled {
		return app.WithHint(errors.New("recording is off here: no session to save"), "run `entire enable` first")
	}
	want := savedcontext.Saving{
		SessionID: opts.session, Cause: recall.Requested, Summary: opts.message, Description: opts.description,
		Tags: opts.tags, Mode: recall.Mode(opts.mode),
	}
	if want.SessionID == "" {
		want.SessionID = agent.CallingSession(r.Getenv) // an agent saves its own session
	}
	var saved recall.Checkpoint
	err := r.Streams.Sized("Saving", func(reach func(string, ui.Amount)) (err error) {
		want.Progress = format.Progress(reach)
		saved, err = r.saveContext(ctx, want)
		return err
	})
	if errors.Is(err, session.ErrNotFound) {
		return app.WithHint(err, "only sessions that ran with recording on can be saved; `entire status` lists them")
	}
	if err != nil {
		return err
	}
	if r.opts.json {
		return r.Streams.JSON(saved.Filled())
	}
	r.Streams.Printf("%s\n", strings.Join(saved.Receipt(), "\n"))
	return nil
}
