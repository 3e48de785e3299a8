package agenthook

import (
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

// openCode is OpenCode's dialect: no hooks in settings, but a plugin that hands messages over.
func openCode() dialect {
	return dialect{
		agent:   agent.OpenCode(),
		files:   [][]string{{".opencode", "plugins", "entire.js"}},
		user:    userFile{path: []string{"opencode", "plugins", "entire.js"}, inConfig: true},
		servers: serverList{file: []string{".opencode", "opencode.json"}, key: "mcp", entry: `{"type":"local","command":["entire","mcp"]}`},
		plugin:  true,
		reply:   reply{silent: true, direct: true},
		entries: []entry{
			{verb: "session-start"},
			{verb: "session-end"},
			{verb: "stop"},
			{verb: "user-prompt-submit"},
			{verb: PreTool},
			{verb: "pre-task"},
			{verb: "post-task"},
			{verb: "pre-compact"},
			{verb: "post-compact"},
		},
		read: func(p *Payload, verb string, _ []byte) bool {
			p.Prompt = forms.OpenCodePrompt(p.Prompt)
			return p.ofSession(verb)
		},
	}
}
