//go:build faults

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// clientScript replaces the agent's program. It stores the user's MCP servers.
const clientScript = `#!/bin/sh
case "$1 $2" in
"mcp add") echo '{"projects": {"'"$PWD"'": {"mcpServers": {"entire": {"command": "entire", "args": ["mcp"]}}}}}' > "$HOME/.claude.json" ;;
"mcp remove") echo '{}' > "$HOME/.claude.json" ;;
esac
`

// TestCrashInstall stops the installation of the MCP server and the status line, and their
// removal, at every write. No file is ever half written, no hook exists without its server, the
// next attempt completes the work, and uninstalling restores the original files.
func TestCrashInstall(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	put := []string{"enable", "--mcp", "--statusline"}
	shared := []string{"enable", "--mcp", "--project"}
	for name, c := range map[string]installCase{
		"install":   {args: put, then: put, least: 6},
		"project":   {args: shared, then: shared, least: 6},
		"remove":    {before: put, args: []string{"enable", "--no-mcp", "--no-statusline"}, then: put, least: 3},
		"uninstall": {before: put, args: []string{"disable", "--uninstall", "--force"}, least: 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.run(t, bin)
		})
	}
}

// installCase is one command that is stopped, after the command before. then runs next, if set;
// uninstalling comes last.
type installCase struct {
	before, args, then []string
	least              int // steps
}

func (c installCase) run(t *testing.T, bin string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	p := newPlay(t, root, bin, "plain")
	client := filepath.Join(root, "client")
	p.Env = p.Env.With("PATH=" + client + string(os.PathListSeparator) + p.Env.Get("PATH"))
	if err := testkit.WriteProgram(filepath.Join(client, "claude"), clientScript); err != nil {
		t.Fatal(err)
	}
	mine := map[string]string{
		".claude/settings.local.json": "{\n\t\"statusLine\": {\"type\": \"command\", \"command\": \"mine\"} // why\n}\n",
		".mcp.json":                   "{\"mcpServers\": {\"other\": {}}}",
	}
	for path, text := range mine {
		p.Write(path, text)
	}
	if len(c.before) > 0 {
		p.Entire(c.before...)
	}
	copyAll(t, root, root+".kept")
	points := 0
	for step := 1; (tidyCase{args: c.args}).stopAt(p, step); step++ {
		points++
		c.check(t, p, step)
		if len(c.then) > 0 {
			p.Entire(c.then...)
			if n := questionsOf(p); n != 2 {
				t.Errorf("step %d: %d questions in the end", step, n)
			}
		}
		p.Entire("disable", "--uninstall", "--force")
		for path, text := range mine {
			if diff := cmp.Diff(text, string(readFile(p, path))); diff != "" {
				t.Errorf("step %d: %s: %s", step, path, diff)
			}
		}
		if diff := cmp.Diff("{}\n", string(readAt(filepath.Join(root, "home", ".claude.json")))); diff != "" && c.args[len(c.args)-1] != "--project" {
			t.Errorf("step %d: %s", step, diff)
		}
		copyAll(t, root+".kept", root)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d points", points)
	if points < c.least {
		t.Errorf("only %d points", points)
	}
}

// check examines the state after a stop.
func (c installCase) check(t *testing.T, p *play, step int) {
	t.Helper()
	registered := len(readAt(filepath.Join(p.root, "home", ".claude.json"))) > len("{}\n")
	for _, path := range []string{".mcp.json", ".claude/settings.json"} {
		data := readFile(p, path)
		if len(data) > 0 && !json.Valid(data) {
			t.Errorf("step %d: %s is half written: %s", step, path, data)
		}
	}
	var list struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	if err := json.Unmarshal(readFile(p, ".mcp.json"), &list); err != nil {
		t.Errorf("step %d: %v", step, err)
	}
	if questionsOf(p) > 0 && !registered && list.Servers["entire"] == nil {
		t.Errorf("step %d: hooks ask a server that isn't there", step)
	}
}

// questionsOf counts the hooks that call the MCP server.
func questionsOf(p *play) int {
	p.TB.Helper()
	n := 0
	for _, path := range []string{".claude/settings.json", ".claude/settings.local.json"} {
		n += bytes.Count(readFile(p, path), []byte(`"mcp_tool"`))
	}
	return n
}

func readFile(p *play, path string) []byte { return readAt(p.Path(path)) }

// readAt returns a file's content, nil if there is none.
func readAt(path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return data
}
