package rewindcmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/strategy/rewind"
)

func newList(a *app.App, asJSON *bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the forks of this repository",
		Example: "  entire fork list\n  entire fork list --json",
		Args:    cobra.NoArgs,
		RunE: run(a, asJSON, func(_ context.Context, w *forking, _ []string) error {
			list, err := rewind.ListForks(w.w)
			if err != nil {
				return err
			}
			if w.json {
				out := listJSON{Forks: []forkJSON{}}
				for _, f := range list {
					out.Forks = append(out.Forks, newForkJSON(f, f.Unfinished(proc.Alive)))
				}
				return w.Streams.JSONOf(out, "forks")
			}
			if len(list) == 0 {
				w.Streams.Notef("No forks. `entire fork` creates one of the current tree.")
				return nil
			}
			t := &ui.Table{Spare: []string{"MADE", "OF"}}
			t.AddRow("NAME", "BRANCH", "MADE", "OF", "MOMENT")
			unfinished := ""
			for _, f := range list {
				of, moment := f.Commit.Short(), f.Moment
				if f.Snapshot != 0 {
					of = f.Snapshot.String()
				}
				_, err := os.Lstat(f.Dir)
				switch {
				case f.Unfinished(proc.Alive):
					unfinished, moment = f.Name(), "unfinished"
				case f.Maker.PID != 0:
					moment = "being created"
				case errors.Is(err, fs.ErrNotExist):
					unfinished, moment = f.Name(), "its folder is missing"
				}
				t.AddRow(format.Path(f.Name()), f.Branch, ui.Ago(w.Now(), f.Created), of, moment)
			}
			w.Page(w.Streams.Table(t))
			if unfinished != "" {
				w.Streams.Hint("`entire fork remove " + unfinished + "` removes the rest")
			}
			return nil
		}),
	}
	setup.JSONLinesFlag(a, cmd.Flags(), asJSON)
	return cmd
}

// listJSON is the output of `fork list --json`.
type listJSON struct {
	Forks []forkJSON `json:"forks"`
}

type forkJSON struct {
	Name       string    `json:"name"`
	Dir        string    `json:"dir"`
	Branch     string    `json:"branch"`
	Commit     string    `json:"commit"`
	From       string    `json:"from"`
	Snapshot   string    `json:"snapshot,omitempty"`
	Moment     string    `json:"moment,omitempty"`
	Session    string    `json:"session,omitempty"`
	Turn       string    `json:"turn,omitempty"`
	Date       time.Time `json:"date"`
	Created    time.Time `json:"created_at"`
	Unfinished bool      `json:"unfinished,omitempty"`
}

func newForkJSON(f rewind.Fork, unfinished bool) forkJSON {
	j := forkJSON{
		Name: f.Name(), Dir: f.Dir, Branch: f.Branch, Commit: string(f.Commit), From: f.From, Moment: f.Moment,
		Session: f.Session, Turn: f.Turn, Date: format.UTC(f.Date), Created: format.UTC(f.Created), Unfinished: unfinished,
	}
	if f.Snapshot != 0 {
		j.Snapshot = f.Snapshot.String()
	}
	return j
}
