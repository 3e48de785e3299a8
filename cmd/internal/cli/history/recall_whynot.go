package history

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

func newRecallWhyNotCmd(a *app.App, opts *outputFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "why-not <file> | -- <command>",
		Short: "Show what was decided or tried about a file",
		Long: `Shows what earlier sessions decided about a file, tried and gave up, or were told, latest
first, with who said it and when, and whether the file has changed since the last session
that changed it. After -- it shows what was said about a command, and whether it failed.

An agent gets a line of it before it edits the file or runs the command, if it is
unchanged: see recall.at_use in ` + "`entire recall configure`" + `.` + recallExitStatus,
		Example: `  entire recall why-not internal/auth/token.go
  entire recall why-not -- go test ./...`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			command := ""
			if cmd.ArgsLenAtDash() == 0 {
				command = strings.Join(args, " ")
			} else if len(args) > 1 {
				return app.Usagef("one file is needed; a command follows --")
			}
			return recallRun(a, opts, func(ctx context.Context, r *recalling, args []string) error {
				if command != "" {
					return r.whyNot(ctx, whyNotJSON{Command: command}, r.aboutCommand, command)
				}
				paths, err := app.TreePaths(r.root, r.Dir, args)
				if err != nil {
					return err
				}
				if len(paths) == 0 {
					return app.Usagef("%s is the worktree; name a file", format.Path(args[0]))
				}
				return r.whyNot(ctx, whyNotJSON{File: paths[0]}, r.aboutFile, paths[0])
			})(cmd, args)
		},
	}
	cmd.ValidArgsFunction = setup.ArgumentOrFile(a, 0)
	return cmd
}

// whyNotJSON is the output of `recall why-not --json`.
type whyNotJSON struct {
	File    string     `json:"file,omitempty"`
	Command string     `json:"command,omitempty"`
	Facts   []factJSON `json:"facts"`
}

// factJSON is a fact. Its texts are quotes of transcripts.
type factJSON struct {
	Kind string `json:"kind"`
	By   string `json:"by"`
	// Person is the name of another person whose session it was; absent for one's own.
	Person  string     `json:"person,omitempty"`
	Text    string     `json:"text"`
	Why     string     `json:"why,omitempty"`
	Files   []string   `json:"files,omitempty"`
	Command string     `json:"command,omitempty"`
	At      *time.Time `json:"at,omitempty"`
	Session string     `json:"session"`
	// State is whether the file is as it was; absent if the fact is about none.
	State string `json:"state,omitempty"`
}

// factFinder returns the facts about a file or a command.
type factFinder func(ctx context.Context, about string) ([]savedcontext.FactNow, error)

// whyNot prints the facts that find returns about a file or a command.
func (r *recalling) whyNot(ctx context.Context, out whyNotJSON, find factFinder, about string) error {
	list, err := find(ctx, about)
	if err != nil {
		return err
	}
	if r.opts.json {
		out.Facts = make([]factJSON, len(list))
		for i, f := range list {
			out.Facts[i] = factJSON{
				Kind: string(f.Kind), By: string(f.By), Person: f.Person, Text: f.Text, Why: f.Why, Files: f.Files, Command: f.Command,
				Session: f.Session, State: string(f.State),
			}
			if !f.At.IsZero() {
				out.Facts[i].At = &f.At
			}
		}
		return r.Streams.JSON(out)
	}
	if len(list) == 0 {
		r.Streams.Notef("Nothing was recorded that was decided, tried or corrected about %s.", ui.Line(about, format.NameWidth))
		return nil
	}
	blocks := make([]string, len(list))
	for i, f := range list {
		blocks[i] = r.factText(f, out.Command != "")
	}
	r.opts.show(r.App, strings.Join(blocks, "\n"))
	return nil
}

// factText returns a fact in lines: who said it, the quotes, and what is no longer as it was.
func (r *recalling) factText(f savedcontext.FactNow, ofCommand bool) string {
	said := savedcontext.Described(f.Fact)
	lines := []string{r.Streams.Paint(ui.Bold, strings.ToUpper(said[:1])+said[1:]), "  > " + ui.Line(f.Text, itemWidth)}
	if f.Why != "" {
		lines = append(lines, "  > "+ui.Line(f.Why, itemWidth))
	}
	changed := map[savedcontext.State]string{
		savedcontext.Unchanged: "the file has not changed since its last session",
		savedcontext.Outdated:  "stale: the file has changed since its last session",
		savedcontext.NotKnown:  "no session recorded the content of the file",
	}
	if ofCommand {
		changed = map[savedcontext.State]string{
			savedcontext.Unchanged: "neither HEAD nor the files of sessions have changed since",
			savedcontext.Outdated:  "stale: HEAD or files of sessions have changed since",
			savedcontext.NotKnown:  "what has changed since is not known",
		}
	}
	if text := changed[f.State]; text != "" {
		lines = append(lines, "  "+text)
	}
	return strings.Join(lines, "\n") + "\n"
}
