package health

import (
	"context"
	"fmt"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/doctor"
)

// Codes of findings about the question before a clear.
const (
	codeServerMissing    = "mcp-server-missing"
	codeServerOther      = "mcp-server-other"
	codeQuestionsMissing = "mcp-hooks-missing"
)

// checkQuestioning finds hooks that ask a server which isn't registered, and a registered server
// that no hook asks, or not all hooks.
func checkQuestioning(a *app.App, repo *git.Repo) ([]doctor.Finding, error) {
	if _, err := setup.CheckQuestions(repo); err != nil {
		return nil, nil //nolint:nilerr // checkAgentHooks reports the error
	}
	at, err := setup.CheckAsking(a, repo)
	switch {
	case err != nil:
		return nil, err
	case at.Installed > 0 && !at.Found:
		return []doctor.Finding{serverMissing(a, repo, at)}, nil
	case at.Installed > 0 && !at.Server.IsOurs():
		return []doctor.Finding{{
			Code: codeServerOther, Severity: doctor.Warning, Subject: at.File,
			What: fmt.Sprintf("another MCP server is called %q: %s", claude.ServerName, ui.Line(at.Server.Command, format.LineWidth)),
			Why:  "no question is asked before /clear",
			Hint: "rename or remove it, and run `entire enable --mcp`",
		}}, nil
	case !at.Found || !at.Server.IsOurs() || at.All:
		return nil, nil
	}
	// The hooks are added in the scope in which the server is registered.
	file := app.ClaudeFiles(repo.Root)[1]
	if at.Scope == claude.ProjectScope {
		file = app.ClaudeFiles(repo.Root)[0]
	}
	what := "the MCP server is registered, but no hook calls it at /clear"
	if at.Installed > 0 {
		what = "the MCP server is registered, but one of its hooks is missing"
	}
	return []doctor.Finding{{
		Code: codeQuestionsMissing, Severity: doctor.Note, Subject: file,
		What: what,
		Why:  "the context is saved without asking, and reported afterwards",
		Fix:  "add the hooks to " + file,
		Repair: &doctor.Repair{Files: []string{file}, Do: func(context.Context) error {
			_, err := app.ClaudeSettings(repo, file).InstallAsking()
			return err
		}},
	}}, nil
}

// serverMissing returns a finding whose repair registers the server in the scope of the hooks, user
// or project. Without the agent's program it removes the hooks of the user.
func serverMissing(a *app.App, repo *git.Repo, at setup.Asking) doctor.Finding {
	f := doctor.Finding{
		Code: codeServerMissing, Severity: doctor.Warning, Subject: at.File,
		What: fmt.Sprintf("hooks call the MCP server %q, which isn't registered", claude.ServerName),
		Why:  setup.ClaudeLabel + " shows an error at each /clear, and doesn't ask",
	}
	switch {
	case at.File == app.ClaudeFiles(repo.Root)[0]:
		list := setup.ProjectServers(repo, repo.Root)
		f.Fix = "add it to " + list.Path
		f.Repair = &doctor.Repair{Files: []string{list.Path}, Do: func(context.Context) error {
			_, err := list.Install()
			return err
		}}
	case app.OnPath(a.Getenv, setup.ClaudeProgram):
		f.Fix = "register it with " + setup.ClaudeLabel
		f.Repair = &doctor.Repair{Do: func(ctx context.Context) error { return setup.RegisterServer(ctx, a, repo) }}
	default:
		f.Fix = "remove these hooks from " + at.File
		f.Repair = &doctor.Repair{Files: []string{at.File}, Do: func(context.Context) error {
			_, err := app.ClaudeSettings(repo, at.File).RemoveAsking()
			return err
		}}
	}
	return f
}
