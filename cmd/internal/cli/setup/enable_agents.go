package setup

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/session/agent"
)

// knownAgents returns the names of the agents that can be recorded.
func knownAgents() []string {
	all := agent.All()
	names := make([]string, len(all))
	for i, a := range all {
		names[i] = a.Name
	}
	return names
}

// FindAgents returns the agents that --agent names, separated by commas.
func FindAgents(names string) ([]agent.Agent, error) {
	if names == "" {
		return nil, nil
	}
	var found []agent.Agent
	for name := range strings.SplitSeq(names, ",") {
		name = strings.TrimSpace(name)
		a, known := agent.ByName(name)
		switch {
		case !known && agent.Unsupported(name) != "":
			return nil, app.Usagef("%s can't be recorded: %s", name, agent.Unsupported(name))
		case !known:
			err := app.Usagef("unknown agent %q (known: %s)", name, strings.Join(knownAgents(), ", "))
			if meant := Nearest(knownAgents(), name); meant != "" {
				err = app.WithHint(err, "did you mean --agent "+meant+"?")
			}
			return nil, err
		case !slices.ContainsFunc(found, func(other agent.Agent) bool { return other.Name == a.Name }):
			found = append(found, a)
		}
	}
	return found, nil
}

// agents holds all agents that can be recorded, with their hooks here, and the chosen ones.
type agents struct {
	all, chosen []AgentHooks
}

// choose selects the named agents, else those with hooks here, else the default.
func (s *agents) choose(named []agent.Agent) {
	s.chosen = nil
	for _, h := range s.all {
		isNamed := slices.ContainsFunc(named, func(a agent.Agent) bool { return a.Name == h.Agent.Name })
		if isNamed || len(named) == 0 && h.Installed > 0 {
			s.chosen = append(s.chosen, h)
		}
	}
	if len(s.chosen) == 0 {
		s.chosen = s.all[:1]
	}
}

// hasClaude reports whether Claude Code is one of the chosen agents.
func (s *agents) hasClaude() bool {
	return slices.ContainsFunc(s.chosen, func(h AgentHooks) bool { return h.Agent.Name == ClaudeName })
}

// checkAgents refuses options that the chosen agents don't support, before anything is written.
func (e *enabling) checkAgents() error {
	for _, h := range e.agents.chosen {
		if e.opts.local && !agenthook.HasPersonalFile(h.Agent) && !h.Settings.User {
			return app.WithHint(app.Usagef("--local: %s has no personal settings in a project", h.Agent.Label),
				"run `entire agents install "+h.Agent.Name+" --user` first, which uses your own settings")
		}
	}
	switch hasServers := e.agents.hasClaude() || len(e.agents.servers(e.repo)) > 0; {
	case e.opts.mcp && !hasServers:
		return app.Usagef("--mcp: %s doesn't support MCP servers", labels(e.agents.chosen))
	case e.opts.line && !e.agents.hasClaude():
		return app.Usagef("--statusline is only for %s", ClaudeLabel)
	}
	return nil
}

// labels returns the labels of agents as a phrase.
func labels(agents []AgentHooks) string {
	list := make([]string, len(agents))
	for i, h := range agents {
		list[i] = h.Agent.Label
	}
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
	return list[0]
}

func (e *enabling) installAgent(h AgentHooks) (failed error) {
	hooks, complete := h.Settings, h.Complete()
	switch files := agenthook.Files(h.Agent, e.repo.Root); {
	case e.opts.project && hooks.User:
		hooks, complete = app.AgentSettings(e.repo, h.Agent, files[0]), false
	case e.opts.local && h.Installed == 0:
		hooks.Path = files[1]
	}
	if e.opts.force {
		again, err := RemoveSettings(hooks)
		if err != nil {
			return err
		}
		defer again(&failed)
	}
	n, changed := 0, false
	if e.opts.force || !complete {
		var err error
		if n, changed, err = hooks.Install(); err != nil {
			return err
		}
	}
	reportInstalled(e.App, installed{hooks, n, changed})
	return nil
}

// installed is the result of installing hooks.
type installed struct {
	hooks   agenthook.Settings
	n       int
	changed bool
}

func reportInstalled(a *app.App, i installed) {
	where := ""
	if i.hooks.User {
		where = " in all your projects (" + a.ShortPath(i.hooks.Path) + ")"
	}
	if !i.changed {
		a.Streams.Printf("Hooks for %s already installed%s\n", i.hooks.Agent.Label, where)
		return
	}
	a.Streams.Printf("Installed %s for %s%s\n", ui.Plural(i.n, "hook"), i.hooks.Agent.Label, where)
	if trust := i.hooks.TrustNote(); trust != "" {
		a.Streams.Notef("%s", trust)
	}
}
