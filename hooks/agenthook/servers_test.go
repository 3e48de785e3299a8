package agenthook_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/session/agent"
)

// TestServersOfAgents adds the server to each agent's list and removes it again; every other
// byte is unchanged.
func TestServersOfAgents(t *testing.T) {
	t.Parallel()
	const table = "[mcp_servers.entire]\ncommand = \"entire\"\nargs = [\"mcp\"]\n"
	for name, c := range map[string]struct {
		agent      agent.Agent
		text, want string
	}{
		"codex":             {agent.Codex(), "", table},
		"codex, others":     {agent.Codex(), "# mine\nmodel = \"m\"\n[mcp_servers.other]\ncommand = \"x\"\n", "# mine\nmodel = \"m\"\n[mcp_servers.other]\ncommand = \"x\"\n\n" + table},
		"codex, no newline": {agent.Codex(), "model = \"m\"", "model = \"m\"\n" + table},
		"copilot":           {agent.Copilot(), "{\"mcpServers\":{}}", `{"mcpServers":{"entire":{"type":"local","command":"entire","args":["mcp"],"tools":["*"]}}}`},
		"cursor":            {agent.Cursor(), "{\"mcpServers\":{}}", `{"mcpServers":{"entire":{"command":"entire","args":["mcp"]}}}`},
		"gemini":            {agent.Gemini(), "{\"theme\": 1}", `{"theme": 1,"mcpServers":{"entire":{"command":"entire","args":["mcp"]}}}`},
		"opencode":          {agent.OpenCode(), "{\"mcp\":{}}", `{"mcp":{"entire":{"type":"local","command":["entire","mcp"]}}}`},
		"qwen":              {agent.Qwen(), "{\"mcpServers\":{}}", `{"mcpServers":{"entire":{"command":"entire","args":["mcp"]}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serversOf(t, c.agent, c.text)
			done(t)(s.Install())
			if diff := cmp.Diff(c.want, read(t, s.Path)); diff != "" {
				t.Error(diff)
			}
			if server, found, err := s.Server(); !found || !server.IsOurs() || err != nil {
				t.Errorf("%+v, %v, %v", server, found, err)
			}
			if done(t)(s.Install()) {
				t.Error("changed again")
			}
			if !done(t)(s.Uninstall()) {
				t.Error("not taken out")
			}
			if c.text == "" {
				if _, err := os.Stat(filepath.Dir(s.Path)); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("left behind: %v", err)
				}
			} else if diff := cmp.Diff(c.text, read(t, s.Path)); diff != "" {
				t.Error(diff)
			}
			if done(t)(s.Uninstall()) {
				t.Error("taken out twice")
			}
		})
	}
	if path := agenthook.ServersFile(agent.Pi(), "x"); path != "" {
		t.Errorf("Pi has %s", path)
	}
}

// TestServerBesideHooks removes the server of a file alone, and then together with the hooks.
func TestServerBesideHooks(t *testing.T) {
	t.Parallel()
	const text = "{\n  // mine\n  \"theme\": \"x\"\n}\n"
	s := serversOf(t, agent.Gemini(), text)
	hooks := agenthook.Settings{Agent: s.Agent, Path: s.Path, Backup: s.Backup}
	installAll := func() {
		t.Helper()
		if _, _, err := hooks.Install(); err != nil {
			t.Fatal(err)
		}
		done(t)(s.Install())
	}
	installAll()
	done(t)(s.Uninstall())
	if n, missing, err := hooks.Check(); n == 0 || len(missing) > 0 || err != nil {
		t.Errorf("without the server there are %d hooks, %v missing, %v", n, missing, err)
	}
	done(t)(s.Install())
	if has, err := hooks.HasServer(); !has || err != nil {
		t.Errorf("HasServer is %v, %v", has, err)
	}
	done(t)(hooks.Uninstall())
	if diff := cmp.Diff(text, read(t, s.Path)); diff != "" {
		t.Error(diff)
	}
}

func TestForeignServerOfCodexStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"[mcp_servers.entire]\ncommand = \"theirs\"\n", "[ mcp_servers . \"entire\" ]\ncommand = \"theirs\"\n", "mcp_servers.entire = {command = \"x\"}\n", "mcp_servers.entire.command = \"x\"\n",
		"[mcp_servers]\nentire = {command = \"theirs\"}\n", "[mcp_servers]\nentire.command = \"theirs\"\n",
	} {
		s := serversOf(t, agent.Codex(), text)
		if _, err := s.Install(); err == nil {
			t.Errorf("%s: installed", text)
		}
		if server, found, _ := s.Server(); !found || server.IsOurs() {
			t.Errorf("%s: server %+v, %v", text, server, found)
		}
		_, _ = s.Uninstall()
		if got := read(t, s.Path); got != text {
			t.Errorf("got %s", got)
		}
	}
}

func TestServerIsNotAddedToBrokenTable(t *testing.T) {
	t.Parallel()
	for text, hint := range map[string]string{
		"model = \"m\n": "hint: mend the file", "mcp_servers = {other = {command = \"x\"}}\n": "hint: add the server",
	} {
		s := serversOf(t, agent.Codex(), text)
		if _, err := s.Install(); err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: installed: %v", text, err)
		}
		if got := read(t, s.Path); got != text {
			t.Errorf("got %s", got)
		}
	}
}
