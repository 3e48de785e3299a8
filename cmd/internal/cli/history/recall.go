package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// recallExitStatus is the end of the help of the commands below recall.
const recallExitStatus = `

EXIT STATUS
  0    done, or nothing to show
  1    failure, or no such context checkpoint
  2    wrong usage`

// contexts is the part of the store of saved contexts that the commands use.
type contexts interface {
	Find(ctx context.Context, prefix string) (string, error)
	Get(ctx context.Context, id string) (recall.Checkpoint, error)
	ReadContents(ctx context.Context, c *recall.Checkpoint, paths ...string) error
	List(ctx context.Context, f contextstore.Filter) ([]contextstore.Entry, error)
	Discard(ctx context.Context, ids ...string) error
}

// recalling is one run of a command below recall.
type recalling struct {
	*app.App

	opts  outputFlags // of all commands below recall
	root  string      // of the worktree
	is    settings.Settings
	store contexts
	// The functions of package savedcontext, for the worktree.
	saveContext func(ctx context.Context, want savedcontext.Saving) (recall.Checkpoint, error)
	makeBrief   func(ctx context.Context, id string, kind brief.Kind) (savedcontext.Recalled, error)
	sections    func(ctx context.Context, id string, names []string, limit int) ([]savedcontext.Section, error)
	// aboutFile and aboutCommand return what was recorded about one.
	aboutFile, aboutCommand factFinder
	// sessions lists the sessions of the repository.
	sessions interface {
		List(ctx context.Context, f query.SessionFilter) (query.FoundSessions, error)
	}
}

// NewRecall returns the commands of saved contexts.
func NewRecall(a *app.App) *cobra.Command {
	var opts outputFlags
	cmd := &cobra.Command{
		Use:        "recall [<context checkpoint | session>]",
		SuggestFor: []string{"context", "memory", "brief"},
		Short:      "Show or save the context of a session",
		Long: `Prints what a new session here would be given of the work before it: the brief of the
newest context checkpoint. A line on standard error has the checkpoint's id, the
number of parts and the tokens. With the id of a context checkpoint or of a session,
or 4 characters of one, it prints that one's.

Context checkpoints are saved before /clear, before a compaction, at the end of a
session, when the context is nearly full, and by ` + "`entire recall save`" + `. They have
the task, next steps, decisions, blockers, recent commands, and the files that the
session changed, and stay on this machine, below refs/entire/context/.
` + "`entire recall configure`" + ` shows what happens automatically.` + recallExitStatus,
		Example: `  entire recall
  entire recall list
  entire recall show 3f9a1c --file internal/cli/recall.go
  entire recall save -m "login works, refresh is missing"
  entire recall configure auto_checkpoint_on_clear=true`,
		Args: func(cmd *cobra.Command, args []string) error {
			// Refuse an argument that is no id, such as a misspelled command: ids are hexadecimal,
			// those of sessions with hyphens.
			if len(args) > 0 && (!mayBeSession(args[0]) || !isID(args[0])) {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.MaximumNArgs(1)(cmd, args)
		},
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: recallRun(a, &opts, func(ctx context.Context, r *recalling, args []string) error {
			id := ""
			if len(args) > 0 {
				var err error
				if id, err = r.find(ctx, args[0]); err != nil {
					return err
				}
			}
			return r.brief(ctx, id, brief.Full)
		}),
	}
	opts.addOutput(cmd.PersistentFlags())
	for _, build := range []func(*app.App, *outputFlags) *cobra.Command{
		newRecallListCmd, newRecallShowCmd, newRecallSearchCmd, newRecallResumeCmd, newRecallWhyNotCmd, newRecallSaveCmd, newRecallDiscardCmd, newRecallConfigureCmd,
	} {
		cmd.AddCommand(build(a, &opts))
	}
	return cmd
}

// recallRun returns the RunE of a command: it opens the repository and calls do. It refuses empty
// arguments, such as a script's empty variable.
func recallRun(a *app.App, opts *outputFlags, do func(context.Context, *recalling, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if slices.Contains(args, "") {
			return app.Usagef("an argument is empty")
		}
		repo, err := a.Worktree()
		if err != nil {
			return err
		}
		is := a.Settings(repo)
		log, file := app.OpenLog(workspace.Runtime(repo, is.Activation.Level), is.LogLevel)
		w := a.WorkspaceOf(repo, is, log.With("component", "recall"))
		err = do(cmd.Context(), &recalling{
			App: a, opts: *opts, root: repo.Root, is: is,
			store: savedcontext.Contexts(w), sessions: a.Sessions(repo),
			saveContext: func(ctx context.Context, want savedcontext.Saving) (recall.Checkpoint, error) {
				return savedcontext.SaveContext(ctx, w, want)
			},
			makeBrief: func(ctx context.Context, id string, kind brief.Kind) (savedcontext.Recalled, error) {
				return savedcontext.Recall(ctx, w, id, kind)
			},
			sections: func(ctx context.Context, id string, names []string, limit int) ([]savedcontext.Section, error) {
				return savedcontext.Sections(ctx, w, id, names, limit)
			},
			aboutFile: func(ctx context.Context, p string) ([]savedcontext.FactNow, error) {
				return savedcontext.AboutFile(ctx, w, p)
			},
			aboutCommand: func(ctx context.Context, command string) ([]savedcontext.FactNow, error) {
				return savedcontext.AboutCommand(ctx, w, command)
			},
		}, args)
		_ = file.Close()
		return errors.Join(err, repo.Close())
	}
}

// find returns the checkpoint whose id begins with prefix, or the newest of the session whose id
// begins with it; the newest of this worktree if prefix is empty.
func (r *recalling) find(ctx context.Context, prefix string) (string, error) {
	if prefix != "" {
		id, err := r.store.Find(ctx, prefix)
		if errors.Is(err, recall.ErrNotFound) && mayBeSession(prefix) {
			if last, err := r.lastOf(ctx, prefix); last != "" || err != nil {
				return last, err
			}
		}
		return id, recallError(err, prefix)
	}
	list, err := r.store.List(ctx, contextstore.Filter{Worktree: r.root, Limit: 1})
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", app.WithHint(errors.New("no context checkpoint of this worktree yet"), "`entire recall list --all` lists those of other worktrees, `entire recall save` saves one")
	}
	return list[0].ID, nil
}

// lastOf returns the newest checkpoint of the session whose id begins with prefix, "" if it has
// none or there is no such session.
func (r *recalling) lastOf(ctx context.Context, prefix string) (string, error) {
	list, err := r.store.List(ctx, contextstore.Filter{})
	if err != nil {
		return "", err
	}
	var found []query.Session
	last := ""
	for _, e := range list { // the newest first
		if !strings.HasPrefix(e.Session, prefix) {
			continue
		}
		if last == "" {
			last = e.ID
		}
		if !slices.ContainsFunc(found, func(s query.Session) bool { return s.ID == e.Session }) {
			found = append(found, query.Session{ID: e.Session})
		}
	}
	if len(found) > 1 {
		return "", ambiguousSession(prefix, found)
	}
	return last, nil
}

// shortestID is the minimum number of digits of an id's prefix.
const shortestID = 4

// recallError adds a hint to an error of the store.
func recallError(err error, name string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, recall.ErrNotFound) && len(strings.ReplaceAll(name, "-", "")) < shortestID:
		return app.WithHint(fmt.Errorf("no context checkpoint %s", ui.Line(name, format.NameWidth)), "ids may be shortened to 4 characters; `entire recall list --all` lists them")
	case errors.Is(err, recall.ErrNotFound):
		return app.WithHint(fmt.Errorf("no context checkpoint %s", ui.Line(name, format.NameWidth)), "`entire recall list --all` lists them; for a commit's checkpoint use `entire show`")
	case errors.Is(err, recall.ErrAmbiguous):
		return app.WithHint(err, "give more of the id; `entire recall list --all` lists them")
	case errors.Is(err, recall.ErrDamaged):
		return app.WithHint(err, "see `entire doctor`; `entire recall discard "+name+"` removes it")
	}
	return err
}

// causeText returns the reason why a checkpoint was saved, for a list.
func causeText(c recall.Cause) string {
	texts := map[recall.Cause]string{
		recall.Clear: "clear", recall.Plan: "plan", recall.Compact: "compact", recall.Exit: "exit",
		recall.Threshold: "threshold", recall.Lost: "lost session", recall.Requested: "asked for",
		recall.Recorded: "checkpoints",
	}
	if text, known := texts[c]; known {
		return text
	}
	return ui.Line(string(c), format.ListedWidth)
}
