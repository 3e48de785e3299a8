package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// autoCommand is what an agent's hook runs, with what is to go before the
// redirection.
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

// claudeHooks are those that take a checkpoint at the end of a turn and before
// each use of the tools.
func claudeHooks(tools []string) []claudeHook {
	const timeout = 30
	entry := func(event, matcher, flags string) claudeHook {
		command := claudeCommand{Type: "command", Command: fmt.Sprintf(autoCommand, flags), Timeout: timeout}
		command.Async = event == "Stop" // the others have to be done before the tool is
		return claudeHook{event: event, Matcher: matcher, Hooks: []claudeCommand{command}}
	}
	hooks := make([]claudeHook, 0, len(tools)+1)
	hooks = append(hooks, entry("Stop", "", ""))
	for _, tool := range tools {
		hooks = append(hooks, entry("PreToolUse", tool, " --agent claude-code --action "+shellWord(tool)))
	}
	return hooks
}

// shellWord quotes text for a shell, if it needs quotes.
func shellWord(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./"
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// installClaudeHooks puts the hooks into the user's settings of the agent. What
// is there stays as it is, comments too.
func (f *fsApp) installClaudeHooks(tools []string) (path string, changed bool, err error) {
	dir := f.Getenv("CLAUDE_CONFIG_DIR")
	if dir == "" {
		if f.Home == "" {
			return "", false, errors.New("install hooks: there is no home directory")
		}
		dir = filepath.Join(f.Home, ".claude")
	}
	path = filepath.Join(dir, "settings.json")
	if named, err := filepath.EvalSymlinks(path); err == nil {
		path = named // what a link names is written, not the link
	}
	perm := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		perm = info.Mode().Perm()
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return path, false, fmt.Errorf("install hooks: %w", err)
	}
	edited, err := addClaudeHooks(text, claudeHooks(tools))
	if err != nil {
		return path, false, hinted(fmt.Errorf("install hooks in %s: %w", path, err), "mend the file; nothing in it was changed")
	}
	if bytes.Equal(text, edited) {
		return path, false, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return path, false, fmt.Errorf("install hooks: %w", err)
	}
	return path, true, disk.WriteDurable(path, edited, perm)
}

// addClaudeHooks adds the hooks that a settings file lacks.
func addClaudeHooks(text []byte, want []claudeHook) ([]byte, error) {
	isNew := len(bytes.TrimSpace(text)) == 0
	if isNew {
		text = []byte("{}")
	}
	document, err := hujson.Parse(text)
	if err != nil {
		return nil, err
	}
	for _, hook := range want {
		if err := addClaudeHook(&document, hook); err != nil {
			return nil, err
		}
	}
	if !isNew {
		return document.Pack(), nil
	}
	var out bytes.Buffer
	if err := json.Indent(&out, document.Pack(), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// installedHook is as much as matters of an entry that is there.
type installedHook struct {
	Matcher string `json:"matcher"`
	Hooks   []struct {
		Command string `json:"command"`
	} `json:"hooks"`
}

func addClaudeHook(document *hujson.Value, hook claudeHook) error {
	var is struct {
		Hooks map[string][]installedHook `json:"hooks"`
	}
	plain := document.Clone()
	plain.Standardize()
	if err := json.Unmarshal(plain.Pack(), &is); err != nil {
		return err
	}
	list, listed := is.Hooks[hook.event]
	for _, old := range list {
		for _, command := range old.Hooks {
			if old.Matcher == hook.Matcher && command.Command == hook.Hooks[0].Command {
				return nil
			}
		}
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
	e.SetEscapeHTML(false) // a command has > in it
	if err := e.Encode(patch); err != nil {
		return err
	}
	return document.Patch(operations.Bytes())
}
