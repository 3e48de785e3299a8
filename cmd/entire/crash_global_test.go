//go:build faults

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCrashGlobal stops the commands of machine-wide recording at every write. No file is half written,
// repositories are recorded only once the agent has the hooks, and the same command, run again,
// completes the work; then the agent's settings are as the user wrote them.
func TestCrashGlobal(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	enable := []string{"enable", "--global", "--agent", "claude-code,codex", "--exclude", "~/x"}
	for name, c := range map[string]globalCase{
		"enable":  {args: enable, least: 3},
		"disable": {before: enable, args: []string{"disable", "--global"}, least: 3},
		"trust":   {before: enable, args: []string{"trust", "https://example.com/a/b"}, least: 1},
		"veto":    {before: enable, args: []string{"disable"}, least: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.run(t, bin)
		})
	}
}

// globalCase is one command that is stopped, after the command before.
type globalCase struct {
	before, args []string
	least        int // steps
}

func (c globalCase) run(t *testing.T, bin string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	p := newPlay(t, root, bin, "plain")
	p.Entire("disable", "--uninstall", "--force")
	home := filepath.Join(root, "home")
	const mine = "{\n\t\"model\": \"opus\" // mine\n}\n"
	agents := filepath.Join(home, ".claude", "settings.json")
	for _, err := range []error{os.MkdirAll(filepath.Dir(agents), 0o700), os.WriteFile(agents, []byte(mine), 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(c.before) > 0 {
		p.Entire(c.before...)
	}
	copyAll(t, root, root+".kept")
	points := 0
	for step := 1; (tidyCase{args: c.args}).stopAt(p, step); step++ {
		points++
		user := readAt(filepath.Join(home, ".config", "entire", "settings.json"))
		for name, data := range map[string][]byte{
			"the user's": user, "the clone's": readAt(filepath.Join(p.Dir, ".git", "entire", "settings.json")),
			"codex's": readAt(filepath.Join(home, ".codex", "hooks.json")),
		} {
			if len(data) > 0 && !json.Valid(data) {
				t.Errorf("step %d: %s settings are half written: %s", step, name, data)
			}
		}
		isOn := strings.Contains(string(user), `"enabled": true`)
		hasHooks := strings.Contains(string(readAt(agents)), "entire hooks claude-code stop --user")
		if isOn && !hasHooks {
			t.Errorf("step %d: every repository is to be recorded, without hooks", step)
		}
		p.Entire(c.args...)
		p.Entire("disable", "--global")
		if diff := cmp.Diff(mine, string(readAt(agents))); diff != "" {
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
