package agenthook_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/session/agent"
)

func TestUserFile(t *testing.T) {
	t.Parallel()
	moved := map[string]string{"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x", "COPILOT_HOME": "/p", "XDG_CONFIG_HOME": "/g"}
	want := map[string][2]string{ // without and with these variables
		"claude-code": {"/h/.claude/settings.json", "/c/settings.json"},
		"codex":       {"/h/.codex/hooks.json", "/x/hooks.json"},
		"copilot":     {"/h/.copilot/hooks/entire.json", "/p/hooks/entire.json"},
		"cursor":      {"/h/.cursor/hooks.json", "/h/.cursor/hooks.json"},
		"gemini":      {"/h/.gemini/settings.json", "/h/.gemini/settings.json"},
		"opencode":    {"/h/.config/opencode/plugins/entire.js", "/g/opencode/plugins/entire.js"},
		"pi":          {"/h/.pi/agent/extensions/entire.js", "/h/.pi/agent/extensions/entire.js"},
		"qwen":        {"/h/.qwen/settings.json", "/h/.qwen/settings.json"},
	}
	got := map[string][2]string{}
	for _, a := range agent.All() {
		plain := agenthook.UserFile(a, func(string) string { return "" }, "/h")
		got[a.Name] = [2]string{plain, agenthook.UserFile(a, func(name string) string { return moved[name] }, "/h")}
		if path := agenthook.UserFile(a, func(string) string { return "" }, ""); path != "" {
			t.Errorf("%s: %s without a home", a.Name, path)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestHooksOfTheUser: the hooks in the user's own settings differ from a project's by one
// argument. Both are found and removed, and an MCP server that the user added stays.
func TestHooksOfTheUser(t *testing.T) {
	t.Parallel()
	for _, a := range agent.All() {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			texts := make([]string, 2)
			for i, user := range []bool{false, true} {
				dir := t.TempDir()
				s := agenthook.Settings{Agent: a, Path: filepath.Join(dir, "agent", "hooks"), Backup: filepath.Join(dir, "backup"), User: user}
				n, changed := install(t, s)
				installed, missing, err := s.Check()
				if err != nil || !changed || installed != n || len(missing) > 0 {
					t.Errorf("%d installed, %d there, missing %v, %v", n, installed, missing, err)
				}
				texts[i] = read(t, s.Path)
				if _, changed := install(t, s); changed {
					t.Error("installed twice")
				}
				uninstall(t, s)
				if n, _, err := s.Check(); n != 0 || err != nil {
					t.Errorf("%d are left, %v", n, err)
				}
			}
			if strings.Contains(texts[0], agenthook.UserArgument) {
				t.Error("a project's hooks have the argument")
			}
			without := strings.ReplaceAll(strings.ReplaceAll(texts[1], `, "`+agenthook.UserArgument+`"`, ""), " "+agenthook.UserArgument, "")
			if d := cmp.Diff(texts[0], without); d != "" || texts[0] == texts[1] {
				t.Error(d)
			}
		})
	}
	const own = `{"mcpServers":{"entire":{"command":"entire","args":["mcp"]}}}`
	s := place(t, own)
	s.Agent, s.User = agent.Gemini(), true
	install(t, s)
	forget(t, s)
	uninstall(t, s)
	if got := spaceless(read(t, s.Path)); got != spaceless(own) {
		t.Errorf("left is %s", got)
	}
}
