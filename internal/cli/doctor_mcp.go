package cli

import (
	"context"
	"fmt"

	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/doctor"
)

// The codes of what is wrong with the question before a clear.
const (
	codeServerMissing    = "mcp-server-missing"
	codeServerOther      = "mcp-server-other"
	codeQuestionsMissing = "mcp-hooks-missing"
)

// checkQuestioning finds hooks that ask a server which isn't registered, and a
// server that no hook asks.
func (a *app) checkQuestioning(repo *git.Repo) ([]doctor.Finding, error) {
	if _, err := checkQuestions(repo); err != nil {
		return nil, nil //nolint:nilerr // checkAgentHooks can't read them either, and says so
	}
	at, err := a.checkAsking(repo)
	switch {
	case err != nil:
		return nil, err
	case at.Installed > 0 && !at.Found:
		return []doctor.Finding{a.serverMissing(repo, at)}, nil
	case at.Installed > 0 && !at.Server.Ours():
		return []doctor.Finding{{
			Code: codeServerOther, Severity: doctor.Warning, Subject: at.File,
			What: fmt.Sprintf("another MCP server is called %q: %s", claude.ServerName, ui.Line(at.Server.Command, lineWidth)),
			Why:  "nobody is asked before /clear",
			Hint: "rename it or take it out, and run `entire enable --mcp`",
		}}, nil
	case at.Found && at.Server.Ours() && !at.All:
		return []doctor.Finding{questionsMissing(repo, at)}, nil
	}
	return nil, nil
}

// serverMissing is mended by registering the server where the hooks are: for the
// person, or for the project. Without the agent's program the person's hooks go.
func (a *app) serverMissing(repo *git.Repo, at asking) doctor.Finding {
	f := doctor.Finding{
		Code: codeServerMissing, Severity: doctor.Warning, Subject: at.File,
		What: fmt.Sprintf("hooks ask the MCP server %q, which isn't registered", claude.ServerName),
		Why:  claudeLabel + " shows an error at each /clear, and asks nothing",
	}
	switch {
	case at.File == claudeFiles(repo.Root)[0]:
		list := claude.ServersFile(repo.Root)
		f.Fix = "add it to " + list
		f.Repair = &doctor.Repair{Files: []string{list}, Do: func(context.Context) error {
			_, err := projectServers(repo, repo.Root).Install()
			return err
		}}
	case onPath(a.Getenv, claudeProgram):
		f.Fix = "register it with " + claudeLabel
		f.Repair = &doctor.Repair{Do: func(ctx context.Context) error { return a.registerServer(ctx, repo) }}
	default:
		f.Fix = "take these hooks out of " + at.File
		f.Repair = &doctor.Repair{Files: []string{at.File}, Do: func(context.Context) error {
			_, err := claudeSettings(repo, at.File).RemoveAsking()
			return err
		}}
	}
	return f
}

// questionsMissing is mended by adding the hooks where the server is registered.
func questionsMissing(repo *git.Repo, at asking) doctor.Finding {
	file := claudeFiles(repo.Root)[1]
	if at.Scope == claude.ProjectScope {
		file = claudeFiles(repo.Root)[0]
	}
	f := doctor.Finding{
		Code: codeQuestionsMissing, Severity: doctor.Note, Subject: file,
		What: "the MCP server is registered, and no hook asks it at a /clear",
		Why:  "what the context holds is kept then, and announced afterwards",
		Fix:  "add the hooks to " + file,
		Repair: &doctor.Repair{Files: []string{file}, Do: func(context.Context) error {
			_, err := claudeSettings(repo, file).InstallAsking()
			return err
		}},
	}
	if at.Installed > 0 {
		f.What = "the MCP server is registered, and one of the hooks that ask it is missing"
	}
	return f
}

// serverNotes says in a status what keeps the question from being asked. The
// person's list of servers may be long: it is read only where hooks ask.
func (a *app) serverNotes(repo *git.Repo, r *agentHooksJSON) []note {
	at, err := checkQuestions(repo)
	if err != nil || at.Installed == 0 {
		return nil
	}
	r.Questions = at.File
	var found bool
	if _, r.Server, found, err = a.findServer(repo); err != nil || found {
		return nil
	}
	return []note{{
		Code:    codeServerMissing,
		Message: "Hooks ask an MCP server before /clear that isn't registered with " + claudeLabel + ".",
		Hint:    "run `entire enable --mcp`, or `entire enable --no-mcp`",
	}}
}

// statusLineFile is the settings file with our status line, empty if none has it.
func statusLineFile(repo *git.Repo) string {
	for _, path := range claudeFiles(repo.Root) {
		if _, _, ours, err := claudeSettings(repo, path).StatusLine(); err == nil && ours {
			return path
		}
	}
	return ""
}
