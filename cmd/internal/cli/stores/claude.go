package stores

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/tailscale/hujson"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// autoCommand is the command of an agent's hook. %s stands for flags before the redirection.
const autoCommand = "agentfs checkpoint --auto%s 2>/dev/null || true"

// claudeHook is an entry of the agent's settings.
type claudeHook struct {
	event   string
	Matcher string          `json:"matcher,omitempty"`
	Hooks   []claudeCommand `json:"hooks"`
}

type claudeCommand struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Async   bool   `json:"async,omitempty"`
	Timeout int    `json:"timeout"`
}

// claudeHooks returns the hooks that take a checkpoint at the end of a turn and before each use of
// the tools.
func claudeHooks(tools []string) []claudeHook {
	const timeout = 30
	entry := func(event, matcher, flags string) claudeHook {
		command := claudeCommand{Type: "command", Command: fmt.Sprintf(autoCommand, flags), Timeout: timeout}
		command.Async = event == "Stop" // the others must end before the tool runs
		return claudeHook{event: event, Matcher: matcher, Hooks: []claudeCommand{command}}
	}
	hooks := make([]claudeHook, 0, len(tools)+1)
	hooks = append(hooks, entry("Stop", "", ""))
	for _, tool := range tools {
		hooks = append(hooks, entry("PreToolUse", tool, " --agent claude-code --action "+ShellWord(tool)))
	}
	return hooks
}

// installClaudeHooks adds the hooks to the user's settings of the agent. It preserves the rest of
// the file, comments included.
func installClaudeHooks(f *Command, tools []string) (path string, changed bool, err error) {
	dir := f.Getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		if f.Home == "" {
			return "", false, errors.New("install hooks: no home directory")
		}
		dir = filepath.Join(f.Home, ".claude")
	}
	path = filepath.Join(dir, "settings.json")
	if named, err := filepath.EvalSymlinks(path); err == nil {
		path = named // write the target of a link, not the link
	}
	perm := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		perm = info.Mode().Perm()
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return path, false, fmt.Errorf("install hooks: %w", err)
	}
	edited, added, err := addClaudeHooks(text, claudeHooks(tools))
	if err != nil {
		return path, false, app.WithHint(fmt.Errorf("install hooks in %s: %w", path, err), "correct the file; nothing was changed")
	}
	if len(added) == 0 {
		return path, false, nil
	}
	if err := noteClaudeHooks(f, path, len(text) == 0, added); err != nil {
		return path, false, fmt.Errorf("install hooks: %w", err)
	}
	if err := disk.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return path, false, fmt.Errorf("install hooks: %w", err)
	}
	return path, true, disk.WriteDurable(path, edited, perm)
}

// addClaudeHooks adds the hooks that a settings file lacks, and returns them.
func addClaudeHooks(text []byte, want []claudeHook) (edited []byte, added []claudeHook, err error) {
	isNew := len(bytes.TrimSpace(text)) == 0
	if isNew {
		text = []byte("{}")
	}
	document, err := hujson.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	for _, hook := range want {
		is, err := readClaudeSettings(&document)
		if err != nil {
			return nil, nil, err
		}
		list, listed := is.Hooks[hook.event]
		if slices.ContainsFunc(list, func(old installedHook) bool {
			return old.Matcher == hook.Matcher && slices.Contains(old.Hooks, installedCommand{hook.Hooks[0].Command})
		}) {
			continue
		}
		var patch []map[string]any
		add := func(path string, value any) {
			patch = append(patch, map[string]any{"op": "add", "path": path, "value": value})
		}
		if is.Hooks == nil {
			add("/hooks", struct{}{})
		}
		if !listed {
			add("/hooks/"+hook.event, []any{})
		}
		add("/hooks/"+hook.event+"/-", hook)
		var operations bytes.Buffer
		e := json.NewEncoder(&operations)
		e.SetEscapeHTML(false) // a command contains >
		if err := e.Encode(patch); err != nil {
			return nil, nil, err
		}
		if err := document.Patch(operations.Bytes()); err != nil {
			return nil, nil, err
		}
		added = append(added, hook)
	}
	if !isNew {
		return document.Pack(), added, nil
	}
	var out bytes.Buffer
	if err := json.Indent(&out, document.Pack(), "", "  "); err != nil {
		return nil, nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), added, nil
}

// installedHook has the fields of an existing entry that are read.
type installedHook struct {
	Matcher string             `json:"matcher"`
	Hooks   []installedCommand `json:"hooks"`
}

type installedCommand struct {
	Command string `json:"command"`
}

// claudeSettingsFile has the fields of the agent's settings that are read.
type claudeSettingsFile struct {
	Hooks map[string][]installedHook `json:"hooks"`
}

func readClaudeSettings(document *hujson.Value) (is claudeSettingsFile, err error) {
	plain := document.Clone()
	plain.Standardize()
	err = json.Unmarshal(plain.Pack(), &is)
	return is, err
}
