package cli

import (
	"context"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/hookrun"
	"github.com/seed-3aff656d/entire/cmd/internal/mcpserver"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/blame"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// newMCP returns the command that serves saved contexts to an agent.
func newMCP(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Serve context checkpoints to an agent",
		Long: `Serves the Model Context Protocol on standard input and output: tools that save, list,
search and resume context checkpoints, and the questions before and after /clear.

Agents start it themselves. "entire enable --mcp" registers it with Claude Code.

EXIT STATUS
  0  the client closed the connection
  1  failure`,
		Example:     `  claude mcp add entire --scope local -- entire mcp`,
		Args:        cobra.NoArgs,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.Streams.Terminal.In {
				a.Streams.Notef("Waiting for a Model Context Protocol client on standard input; press Ctrl-D to stop.")
			}
			dir := a.Getenv("CLAUDE_PROJECT_DIR")
			if !filepath.IsAbs(dir) {
				dir = a.Dir
			}
			tokens, err := strconv.Atoi(a.Getenv("MAX_MCP_OUTPUT_TOKENS"))
			if err != nil {
				tokens = 0
			}
			server := &mcpserver.Server{
				Open: func(ctx context.Context, at mcpserver.Place) (*mcpserver.Project, error) {
					return openProject(ctx, a, at)
				},
				// Configure changes the user's settings if there are changes, and returns the
				// settings in force in dir, which need not be in a repository.
				Configure: func(dir string, changes []settings.Change) (settings.Settings, error) {
					repo, err := git.Discover(git.Locate{Dir: dir, Getenv: a.Getenv, Environ: a.Environ})
					if err != nil {
						repo = nil
					}
					from := a.SettingsSources(repo)
					if repo != nil {
						defer func() { _ = repo.Close() }()
					}
					if len(changes) == 0 {
						return settings.Load(from), nil
					}
					return settings.Configure(from, changes...)
				},
				Dir: dir, Session: agent.CallingSession(a.Getenv), Parent: os.Getppid,
				Above: func() []session.Process { // the ancestors of this process
					above := proc.Ancestors()
					list := make([]session.Process, 0, len(above))
					for _, info := range above {
						list = append(list, session.Process{PID: info.PID, Start: info.Start})
					}
					return list
				},
				Tokens: tokens, Version: a.Version, Now: a.Now,
			}
			return server.Run(cmd.Context(), a.Streams.In, a.Streams.Out)
		},
	}
}

// openProject opens the repository of a call, with its current settings and log.
func openProject(ctx context.Context, a *app.App, at mcpserver.Place) (*mcpserver.Project, error) {
	p, err := hookrun.OpenProject(a, at.SessionID, at.Dir)
	if err != nil {
		return nil, err
	}
	w := p.Workspace
	lines := mcpLines{reader: blame.Reader{Repo: p.Repo, Workspace: w}, now: a.Now}
	return &mcpserver.Project{
		Root: p.Repo.Root, Work: contextWork{w}, Store: savedcontext.Contexts(w), Sessions: w.Sessions, Settings: p.Settings.Recall, Log: p.Log,
		History: func(ctx context.Context) (*index.Reader, error) {
			return query.OpenIndex(ctx, w, func(string, int64, int64) {})
		},
		Blame: lines.blame, Why: lines.why,
		Missing: func(ctx context.Context) string { return format.HintWithGaps(ctx, p.Repo, "") },
		Close:   func() error { return p.Close(ctx) },
	}, nil
}

// contextWork implements [mcpserver.Work] for a worktree.
type contextWork struct{ w *workspace.Workspace }

func (c contextWork) SaveContext(ctx context.Context, want savedcontext.Saving) (recall.Checkpoint, error) {
	return savedcontext.SaveContext(ctx, c.w, want)
}

func (c contextWork) Recall(ctx context.Context, id string, kind brief.Kind) (savedcontext.Recalled, error) {
	return savedcontext.Recall(ctx, c.w, id, kind)
}

func (c contextWork) Sections(ctx context.Context, id string, names []string, limit int) ([]savedcontext.Section, error) {
	return savedcontext.Sections(ctx, c.w, id, names, limit)
}

func (c contextWork) BeforeClear(ctx context.Context, of savedcontext.Clearing) (savedcontext.Unsaved, error) {
	return savedcontext.BeforeClear(ctx, c.w, of)
}

func (c contextWork) AnswerClear(ctx context.Context, of savedcontext.Clearing, answer savedcontext.ClearAnswer) error {
	return savedcontext.AnswerClear(ctx, c.w, of, answer)
}

func (c contextWork) AboutFile(ctx context.Context, p string) ([]savedcontext.FactNow, error) {
	return savedcontext.AboutFile(ctx, c.w, p)
}

func (c contextWork) SearchFacts(ctx context.Context, query string, limit int) ([]savedcontext.FactNow, error) {
	return savedcontext.SearchFacts(ctx, c.w, query, limit)
}

func (c contextWork) AfterClear(ctx context.Context, of savedcontext.Clearing) (savedcontext.Recalled, bool, error) {
	return savedcontext.AfterClear(ctx, c.w, of)
}
