package history

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/cmd/internal/ui/explore"
	"github.com/seed-3aff656d/entire/cmd/internal/ui/tui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Commands holds the commands of other packages that the browser runs.
type Commands struct{ Why, Blame, Rewind func(*app.App) *cobra.Command }

type browser struct {
	turnQuery

	commands Commands
}

// NewBrowse returns the command that shows turns on the whole screen.
func NewBrowse(a *app.App, commands Commands) *cobra.Command {
	b := &browser{turnQuery{app: a}, commands}
	cmd := &cobra.Command{
		Use:        "browse",
		SuggestFor: []string{"tui", "ui", "view", "explore"},
		Short:      "Browse what agents did, full-screen",
		Long: `Shows the turns of all sessions and worktrees, newest first, with what each changed and
what the agent said. New turns appear while agents work.

  enter  open the whole turn        r  rewind to before or after it; asks first
  /      search all that was said   u  undo the last rewind
  f      turns that changed a file  o  open the page of the session (entire report)
  w      why a line is there        y  copy the id of the turn's checkpoint
  b      who wrote a file's lines   ?  all keys

"entire log" lists the same as text.

EXIT STATUS
  0  done
  1  failure
  2  wrong usage, or no terminal`,
		Example: `  entire browse
  entire browse --file src/auth.go
  entire browse --agent codex --since 2d`,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		Args:        cobra.NoArgs,
		RunE:        func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context()) },
	}
	b.addSelection(cmd)
	return cmd
}

func (b *browser) run(ctx context.Context) error {
	if !b.app.Prompter.Interactive() || b.app.Streams.Terminal.Accessible {
		return app.WithHint(app.Usagef("browse needs a terminal"), "`entire log` lists the turns")
	}
	found := 0
	err := b.ask(ctx, func(_ *git.Repo, r *index.Reader) error {
		w, err := r.Window(ctx, b.filter, index.Newest(), 1)
		found = w.Total
		return err
	})
	if err != nil {
		return err
	}
	if found == 0 {
		return b.nothing(ctx, "No turns yet. `entire enable` records your agent's.")
	}
	repo, err := b.app.Repository()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	source := &turnSource{
		app: b.app, commands: b.commands, repo: repo, files: index.At(workspace.RecordsDir(repo)), filter: b.filter,
		w: b.app.Workspace(repo),
	}
	source.version = source.files.Version()
	err = explore.Run(ctx, b.app.Streams, "Turns", explore.Source{
		Window: source.window, Refresh: source.refresh, Glance: source.glance, Whole: source.whole, Why: source.why, Blame: source.blame,
		Rewind: source.rewind, Undo: source.undo, Show: source.show,
	}, explore.Query{File: b.filter.File})
	if errors.Is(err, ui.ErrAborted) {
		return err
	}
	if err != nil {
		return fmt.Errorf("show the turns: %w", err)
	}
	return nil
}

// runApart runs a command on the streams of a, and prints its error there.
func runApart(ctx context.Context, a *app.App, build func(*app.App) *cobra.Command, args ...string) {
	cmd := build(a)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	cmd.SetOut(a.Streams.Out)
	cmd.SetErr(a.Streams.Err)
	err := cmd.ExecuteContext(ctx)
	switch {
	case err == nil, errors.Is(err, app.ErrDone), errors.Is(err, app.ErrFailed):
	case errors.Is(err, ui.ErrAborted):
		a.Streams.Notef("Cancelled.")
	default:
		a.Streams.Notef("%s", err)
		if hint := app.HintOf(err); hint != "" {
			a.Streams.Hint(hint)
		}
	}
}

// withTerminal returns a copy of a for a command that has the terminal to itself. It asks in lines:
// a form leaves a reader behind that consumes the browser's next key.
func withTerminal(a *app.App, in io.Reader, out io.Writer) *app.App {
	own := *a
	own.Streams = a.Streams.Into(out)
	own.Streams.In, own.Streams.Err = in, out
	own.Streams.Terminal.Out, own.Streams.Terminal.Accessible = true, true
	own.Prompter = tui.NewPrompter(own.Streams)
	return &own
}
