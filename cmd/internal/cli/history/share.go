package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/sharing"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// NewPush returns the command that sends checkpoints to a remote.
func NewPush(a *app.App) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "push [<remote>]",
		Short: "Send checkpoints to a remote now",
		Long: `Sends the checkpoints of this clone and the links of commits to a remote, after merging
the remote's. It doesn't send commits or your branches.

The default is the remote that each git push sends them to:
` + "`entire config push_remote origin`" + ` sets it.

EXIT STATUS
  0    sent, or already there
  1    failure, or no remote
  2    wrong usage
  130  interrupted`,
		Example: `  entire push
  entire push origin`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withRemotes(a, "push", func(w *workspace.Workspace) error {
				remote, err := pushRemote(cmd.Context(), w, strings.Join(args, ""))
				if err != nil {
					return err
				}
				say := a.Streams.Printf
				if asJSON {
					say = func(format string, args ...any) { a.Streams.Notef(strings.TrimSuffix(format, "\n"), args...) }
				}
				w.Env.Say = func(line string) { say("%s\n", strings.TrimPrefix(line, "entire: ")) }
				if err := sharing.Push(cmd.Context(), w, remote); err != nil || !asJSON {
					return err
				}
				return a.Streams.JSON(sharedJSON{Remote: git.HideURL(remote)})
			})
		},
	}
	setup.JSONFlag(cmd.Flags(), &asJSON)
	return cmd
}

// sharedJSON is the output of `push --json` and `fetch --json`; docs/formats/sharing.md describes it.
type sharedJSON struct {
	Remote string `json:"remote"`
	// Fetched is the number of checkpoints that are new here.
	Fetched *int `json:"fetched,omitempty"`
	// Objects is the number of missing objects that were fetched into a partial clone.
	Objects int `json:"objects,omitempty"`
}

// pushRemote returns the remote to send to: the one that is named, else the one of the settings if the
// user allows it.
func pushRemote(ctx context.Context, w *workspace.Workspace, named string) (string, error) {
	if named != "" {
		return named, checkRemote(ctx, w.Repo, named)
	}
	to, err := sharing.FindDestination(ctx, w)
	switch {
	case err != nil:
		return "", err
	case to.Remote == "":
		return "", app.WithHint(errors.New("no remote for checkpoints is set"), "`entire push origin` sends them once, `entire config push_remote origin` with each git push")
	case !to.Allowed:
		return "", app.WithHint(fmt.Errorf("sending checkpoints to %s is not allowed yet", git.HideURL(to.Remote)), "`entire config trust` allows it")
	}
	return to.Remote, nil
}

// checkRemote reports an error unless a name is that of a remote, or an address.
func checkRemote(ctx context.Context, repo *git.Repo, name string) error {
	place, err := git.FindPushDestination(ctx, repo, name)
	if err == nil && !place.Configured && !strings.ContainsAny(name, ":/") {
		return app.WithHint(fmt.Errorf("no such remote: %s", ui.Line(name, listedBranch)), "`git remote -v` lists them")
	}
	return err
}

// NewFetch returns the command that fetches checkpoints from a remote.
func NewFetch(a *app.App) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:        "fetch [<remote>]",
		SuggestFor: []string{"pull", "sync"},
		Short:      "Fetch the checkpoints of others",
		Long: `Fetches the checkpoints and the links of commits from a remote, and merges them with those
of this clone. Content that others have forgotten is removed here, too. In a partial clone
it also fetches missing contents.

EXIT STATUS
  0    fetched, or nothing new
  1    failure, or the remote has no checkpoints
  2    wrong usage
  130  interrupted`,
		Example: `  entire fetch
  entire fetch upstream`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withRemotes(a, "fetch", func(w *workspace.Workspace) error {
				return runFetch(cmd.Context(), a, w, strings.Join(args, ""), asJSON)
			})
		},
	}
	setup.JSONFlag(cmd.Flags(), &asJSON)
	return cmd
}

// withRemotes calls do with the repository of the working directory.
func withRemotes(a *app.App, command string, do func(*workspace.Workspace) error) (err error) {
	repo, err := a.Repository()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	w, log := a.LoggingWorkspace(repo, command)
	defer func() { _ = log.Close() }()
	return do(w)
}

func runFetch(ctx context.Context, a *app.App, w *workspace.Workspace, remote string, asJSON bool) error {
	if remote == "" {
		remotes, err := sharing.ReadRemotes(ctx, w)
		switch {
		case err != nil:
			return err
		case len(remotes) == 0:
			return app.WithHint(errors.New("no remote to fetch from"), "give a remote or a URL")
		}
		remote = remotes[0]
	} else if err := checkRemote(ctx, w.Repo, remote); err != nil {
		return err
	}
	shown := git.HideURL(remote)
	var more int
	err := a.WithTransferProgress(w.Repo, "Fetching from "+shown, func() (err error) {
		more, err = sharing.Fetch(ctx, w, remote)
		return err
	})
	if errors.Is(err, git.ErrNoRemoteRef) {
		return app.WithHint(fmt.Errorf("%s has no checkpoints", shown), "`entire push "+shown+"` sends those of the clone where it runs")
	}
	if err != nil {
		return err
	}
	objects, err := fetchMissing(ctx, a, w)
	switch {
	case err != nil:
		return err
	case asJSON:
		return a.Streams.JSON(sharedJSON{Remote: shown, Fetched: &more, Objects: objects})
	case more > 0:
		a.Streams.Printf("Fetched %s from %s\n", ui.Plural(more, "checkpoint"), shown)
	case objects == 0:
		a.Streams.Printf("%s has no new checkpoints\n", shown)
	}
	if objects > 0 {
		a.Streams.Printf("Fetched missing contents of checkpoints: %s\n", ui.Plural(objects, "object"))
	}
	return nil
}

// fetchMissing fetches the contents of checkpoints that a partial clone lacks, and returns the number
// of objects.
func fetchMissing(ctx context.Context, a *app.App, w *workspace.Workspace) (n int, err error) {
	reader := query.CheckpointReader{Repo: w.Repo, Order: w.Options.Order}
	fetched := map[git.OID]bool{}
	for {
		missing, err := reader.Missing(ctx)
		missing = slices.DeleteFunc(missing, func(oid git.OID) bool { return fetched[oid] })
		if err != nil || len(missing) == 0 {
			return len(fetched), err
		}
		if err := a.FetchObjects(ctx, w.Repo, missing); err != nil {
			return len(fetched), err
		}
		for _, oid := range missing {
			fetched[oid] = true
		}
	}
}
