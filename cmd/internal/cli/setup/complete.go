package setup

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// most is the maximum number of values of a kind.
const most = 50

// Values lists the values of one kind, each with a description.
type Values func(ctx context.Context, a *app.App, repo *git.Repo) ([]cobra.Completion, error)

// Argument completes only the argument at position at, counted from 0.
func Argument(a *app.App, at int, kinds ...Values) cobra.CompletionFunc {
	return argument(a, at, kinds, cobra.ShellCompDirectiveNoFileComp)
}

// ArgumentOrFile is like Argument, and also completes names of files.
func ArgumentOrFile(a *app.App, at int, kinds ...Values) cobra.CompletionFunc {
	return argument(a, at, kinds, cobra.ShellCompDirectiveDefault)
}

func argument(a *app.App, at int, kinds []Values, files cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) != at {
			return nil, files
		}
		return list(cmd, a, begun, kinds), files
	}
}

// Arguments completes every argument, and omits values that are already given.
func Arguments(a *app.App, kinds ...Values) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found := slices.DeleteFunc(list(cmd, a, begun, kinds), func(v cobra.Completion) bool {
			text, _, _ := strings.Cut(v, "\t")
			return slices.Contains(args, text)
		})
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// FlagValue completes the value of a flag, whatever the arguments are.
func FlagValue(a *app.App, kinds ...Values) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return list(cmd, a, begun, kinds), cobra.ShellCompDirectiveNoFileComp
	}
}

// Flag registers the completion of a flag of a command.
func Flag(cmd *cobra.Command, name string, values cobra.CompletionFunc) {
	_ = cmd.RegisterFlagCompletionFunc(name, values) // fails for unknown flags; a test finds them
}

func list(cmd *cobra.Command, a *app.App, begun string, kinds []Values) (found []cobra.Completion) {
	repo, err := a.Repository()
	if err != nil {
		return nil
	}
	defer func() { _ = repo.Close() }()
	if repo.ReadLazily() != nil {
		return nil
	}
	for _, values := range kinds {
		all, err := values(cmd.Context(), a, repo)
		if err != nil {
			continue
		}
		for _, v := range all {
			if strings.HasPrefix(v, begun) && plain.Visible(v) == v { // a shell prints values as they are
				found = append(found, v)
			}
		}
	}
	return found
}

// value returns a value with its description on one line.
func value(text, about string) cobra.Completion {
	return cobra.CompletionWithDesc(text, ui.Line(about, format.ListedWidth))
}

// Sessions lists the most recently active sessions. It doesn't update the index, and without one it
// lists those with a state.
func Sessions(ctx context.Context, a *app.App, repo *git.Repo) ([]cobra.Completion, error) {
	reader := a.Sessions(repo)
	reader.Index = func(ctx context.Context) (*index.Reader, error) {
		return index.Open(ctx, index.At(workspace.RecordsDir(repo)))
	}
	all, err := reader.List(ctx, query.SessionFilter{Limit: most})
	if err != nil {
		return nil, err
	}
	var found []cobra.Completion
	for _, s := range all.Sessions {
		if ui.Line(s.ID, format.MaxNameWidth) == s.ID {
			found = append(found, value(s.ID, ui.Ago(a.Now(), s.LastActive)+" "+s.Prompt))
		}
	}
	return found, nil
}

// Agents returns the names of the agents that can be recorded.
func Agents(context.Context, *app.App, *git.Repo) ([]cobra.Completion, error) {
	all := agent.All()
	names := make([]cobra.Completion, len(all))
	for i, a := range all {
		names[i] = value(a.Name, a.Label)
	}
	return names, nil
}

// Checkpoints lists the checkpoints of the branch.
func Checkpoints(ctx context.Context, _ *app.App, repo *git.Repo) ([]cobra.Completion, error) {
	l, err := query.CheckpointReader{Repo: repo}.List(ctx, query.CheckpointFilter{})
	if err != nil {
		return nil, err
	}
	var found []cobra.Completion
	for _, p := range l.Points[:min(len(l.Points), most)] {
		found = append(found, value(p.ID, p.Prompt))
	}
	return found, nil
}

// Contexts lists the saved contexts of the worktree.
func Contexts(ctx context.Context, a *app.App, repo *git.Repo) ([]cobra.Completion, error) {
	w := a.Workspace(repo)
	all, err := savedcontext.Contexts(w).List(ctx, contextstore.Filter{Worktree: repo.Root, Limit: most})
	if err != nil {
		return nil, err
	}
	var found []cobra.Completion
	for _, e := range all {
		found = append(found, value(e.ID, ui.Ago(a.Now(), e.CreatedAt)+" "+e.Summary))
	}
	return found, nil
}

// Branches lists the local branches, and the remote branches without the name of their remote.
func Branches(ctx context.Context, _ *app.App, repo *git.Repo) ([]cobra.Completion, error) {
	refs, err := git.ListRefs(ctx, repo, "refs/heads", "refs/remotes")
	if err != nil {
		return nil, err
	}
	var found []cobra.Completion
	known := map[string]bool{}
	for _, ref := range refs {
		name, isLocal := strings.CutPrefix(ref.Name, "refs/heads/")
		about := "branch"
		if !isLocal {
			about, name, _ = strings.Cut(strings.TrimPrefix(ref.Name, "refs/remotes/"), "/")
			about = "branch of " + about
		}
		if name == "" || name == "HEAD" || known[name] || strings.HasPrefix(name, "entire/") {
			continue
		}
		known[name] = true
		found = append(found, value(name, about))
	}
	return found, nil
}

// Versions lists the newest snapshots of the repository's store.
func Versions(_ context.Context, a *app.App, repo *git.Repo) ([]cobra.Completion, error) {
	store, err := bands.Open(registry.RepositoryDir(repo.CommonDir))
	if err != nil {
		return nil, err
	}
	return VersionsOf(a, store)
}

// VersionsOf lists the newest snapshots of a store, the newest first.
func VersionsOf(a *app.App, store *bands.Store) ([]cobra.Completion, error) {
	versions, err := store.Versions()
	if err != nil {
		return nil, err
	}
	var found []cobra.Completion
	for i := len(versions) - 1; i >= 0 && len(found) < most; i-- {
		s, err := store.Snapshot(versions[i])
		if errors.Is(err, bands.ErrDamaged) {
			continue
		}
		if err != nil {
			return found, err
		}
		found = append(found, value(s.Version.String(), ui.Ago(a.Now(), s.Created)+" "+cmp.Or(format.TurnText(s), s.Message)))
	}
	return found, nil
}

// Indexed completes names from the index, without updating it.
func Indexed(kind index.NameKind) Values {
	return func(ctx context.Context, _ *app.App, repo *git.Repo) (list []cobra.Completion, err error) {
		r, err := index.Open(ctx, index.At(workspace.RecordsDir(repo)))
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		return r.Names(ctx, kind)
	}
}
