package agenthook_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

const pluginDir = "../../docs/plugin"

func decode(t *testing.T, path string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(read(t, path)), &v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return v
}

// TestPluginHasInstalledHooks: the plugin has the hooks that Install writes. ENTIRE_UPDATE=1
// writes them.
func TestPluginHasInstalledHooks(t *testing.T) {
	t.Parallel()
	s := place(t, "")
	install(t, s)
	var installed struct {
		Hooks json.RawMessage `json:"hooks"`
	}
	if err := json.Unmarshal([]byte(read(t, s.Path)), &installed); err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"description\": \"The hooks that `entire enable` installs\",\n  \"hooks\": " + string(installed.Hooks) + "\n}\n"
	path := filepath.Join(pluginDir, "hooks", "hooks.json")
	testkit.Golden(t, path, want)
	decode(t, path)
}

func TestPluginFiles(t *testing.T) {
	t.Parallel()
	name := decode(t, filepath.Join(pluginDir, ".claude-plugin", "plugin.json"))["name"]
	market := decode(t, "../../.claude-plugin/marketplace.json")
	plugins := []any{map[string]any{"name": name, "source": "./docs/plugin", "description": "Hooks, MCP server and skills of entire"}}
	if d := cmp.Diff(plugins, market["plugins"]); d != "" || market["name"] != name {
		t.Error(d, market["name"])
	}
	server := map[string]any{"mcpServers": map[string]any{"entire": map[string]any{"command": "entire", "args": []any{"mcp"}}}}
	if d := cmp.Diff(server, decode(t, filepath.Join(pluginDir, ".mcp.json"))); d != "" {
		t.Error(d)
	}
	skills, err := os.ReadDir(filepath.Join(pluginDir, "skills"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, skill := range skills {
		found = append(found, skill.Name())
		text := read(t, filepath.Join(pluginDir, "skills", skill.Name(), "SKILL.md"))
		if !strings.HasPrefix(text, "---\nname: "+skill.Name()+"\ndescription: ") {
			t.Errorf("%s begins %.80q", skill.Name(), text)
		}
	}
	if d := cmp.Diff([]string{"checkpoint", "history", "recall"}, found); d != "" {
		t.Error(d)
	}
}
