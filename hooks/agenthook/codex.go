package agenthook

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/jsonedit"
	"github.com/seed-3aff656d/entire/session/agent"
)

// codexEndTimeout is Codex's maximum time limit for the hooks of a session's end, in seconds.
const codexEndTimeout = 3

// codex is the dialect of Codex, which ignores outputs with unknown members.
func codex() dialect {
	entries := []entry{
		{event: "SessionStart", verb: "session-start"},
		{event: "SessionEnd", verb: "session-end", timeout: codexEndTimeout},
		{event: "Stop", verb: "stop"},
		{event: "Interrupt", verb: "stop-failure", timeout: codexEndTimeout},
		{event: "UserPromptSubmit", verb: "user-prompt-submit"},
		{event: "PreCompact", verb: "pre-compact"},
		{event: "PostCompact", verb: "post-compact"},
	}
	return dialect{
		agent:   agent.Codex(),
		files:   [][]string{{".codex", "hooks.json"}},
		user:    userFile{path: []string{"hooks.json"}},
		servers: serverList{file: []string{".codex", "config.toml"}, key: "mcp_servers", toml: true},
		form:    grouped(),
		reply:   reply{silent: true},
		entries: entries,
		// A hook for tool calls would be a change of the file, after which Codex asks the user to trust
		// its hooks again.
		atPrompt: true,
		read:     func(p *Payload, verb string, _ []byte) bool { return p.ofSession(verb) },
		trust: func(t trusting) Trust {
			return codexTrust(filepath.Join(t.home, "config.toml"), t.file, len(entries))
		},
		trustNote: "Codex runs a hook only after you have trusted it: accept the hooks at its next start, or with /hooks.",
	}
}

// codexTrust reports whether the given number of a file's hooks are trusted: Codex has a table
// [hooks.state."FILE:event:group:hook"] for each.
func codexTrust(config, file string, hooks int) Trust {
	data, err := os.ReadFile(config)
	if err != nil {
		return Untrusted
	}
	name := jsonedit.Quote(file)
	n := 0
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(strings.TrimSpace(line), `[hooks.state.`+name[:len(name)-1]+":") {
			n++
		}
	}
	if n < hooks {
		return Untrusted
	}
	return Trusted
}
