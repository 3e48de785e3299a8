package health

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
)

// NewAgents returns the command that lists the agents that can be recorded.
func NewAgents(a *app.App) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:        "agents",
		SuggestFor: []string{"agent"},
		Short:      "List supported agents and their hooks",
		Long: `Lists the agents that can be recorded: whether each is installed or used in this
project, whether its hooks are installed and trusted, when its newest session had
its last event, and what doesn't work with it.

  FOUND  program: it is on your PATH; project: its folder is in the worktree
  HOOKS  the number of hooks; user: they are in your own settings of the agent
  TRUST  yes; no: the agent ignores the hooks until you accept them; -: the agent
         doesn't ask, or doesn't record the answer

EXIT STATUS
  0  listed
  1  failure
  2  wrong usage`,
		Example: `  entire agents
  entire enable --agent claude-code,codex`,
		Args:        cobra.NoArgs,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(*cobra.Command, []string) error {
			repo, err := a.Worktree()
			if err != nil {
				return err
			}
			defer func() { _ = repo.Close() }()
			list, err := agentList(a, repo)
			if err != nil {
				return err
			}
			if asJSON {
				return a.Streams.JSONOf(list, "agents")
			}
			printAgents(a.Streams, a.Now(), list)
			return nil
		},
	}
	setup.JSONFlags(a, cmd.Flags(), &asJSON)
	return cmd
}

// agentsJSON is the output of `agents --json`; docs/formats/status.md describes it.
type agentsJSON struct {
	Agents []agentJSON `json:"agents"`
}

type agentJSON struct {
	Agent     string          `json:"agent"`
	Label     string          `json:"label"`
	Program   string          `json:"program,omitempty"` // its path
	InProject bool            `json:"in_project"`
	File      string          `json:"file"`
	Level     string          `json:"level"` // of the file: project or user
	Installed int             `json:"installed"`
	Missing   []string        `json:"missing"`
	Trust     agenthook.Trust `json:"trust"`
	Server    bool            `json:"mcp_server"` // whether the project's list has our server
	Sessions  int             `json:"sessions"`
	LastEvent *time.Time      `json:"last_event,omitempty"`
	Limits    []string        `json:"limits"`
}

func agentList(a *app.App, repo *git.Repo) (*agentsJSON, error) {
	hooks, err := setup.CheckAgents(a, repo)
	if err != nil {
		return nil, err
	}
	states, _ := session.Open(repo.CommonDir).All() // doctor reports unreadable states
	list := &agentsJSON{Agents: make([]agentJSON, 0, len(hooks))}
	for _, h := range hooks {
		item := agentJSON{
			Agent: h.Agent.Name, Label: h.Agent.Label, File: h.Settings.Path, Level: setup.LevelOf(h.Settings), InProject: h.InProject, Installed: h.Installed, Missing: format.NotNil(h.Missing),
			Trust:  h.Settings.Trust(repo.Root, h.Agent.Home(a.Getenv, a.Home)),
			Limits: format.NotNil(h.Agent.Limits),
		}
		if list, ok := setup.AgentServers(repo, h.Agent); ok {
			server, found, err := list.Server()
			item.Server = err == nil && found && server.IsOurs()
		}
		item.Program, _ = app.FindOnPath(a.Getenv, h.Agent.Program)
		for _, s := range states {
			if agent.Of(s.AgentType).Name != h.Agent.Name {
				continue
			}
			item.Sessions++
			at := s.StartedAt
			if s.LastInteraction != nil {
				at = *s.LastInteraction
			}
			if item.LastEvent == nil || at.After(*item.LastEvent) {
				utc := format.UTC(at)
				item.LastEvent = &utc
			}
		}
		list.Agents = append(list.Agents, item)
	}
	return list, nil
}

func printAgents(w ui.Streams, now time.Time, list *agentsJSON) {
	table := ui.Table{Spare: []string{"LIMITS", "LAST EVENT"}}
	table.AddRow("AGENT", "FOUND", "HOOKS", "TRUST", "LAST EVENT", "LIMITS")
	for _, item := range list.Agents {
		var found []string
		if item.Program != "" {
			found = append(found, "program")
		}
		if item.InProject {
			found = append(found, "project")
		}
		hooks, trust, last := "-", "-", "-"
		if item.Installed > 0 {
			hooks = strconv.Itoa(item.Installed)
			if item.Level == setup.LevelUser {
				hooks += ", " + setup.LevelUser
			}
			if len(item.Missing) > 0 {
				hooks += ", incomplete"
			}
			if item.Trust != agenthook.TrustUnknown {
				trust = string(item.Trust)
			}
		}
		if item.LastEvent != nil {
			last = ui.Ago(now, *item.LastEvent)
		}
		table.AddRow(item.Agent, cmp.Or(strings.Join(found, ", "), "-"), hooks, trust, last, cmp.Or(strings.Join(item.Limits, "; "), "-"))
	}
	w.Printf("%s", w.Table(&table))
}
