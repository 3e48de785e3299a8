package agenthook

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/seed-3aff656d/entire/session/agent"
)

// cursor is the dialect of Cursor, from its documentation: no test has run it on the real client.
func cursor() dialect {
	return dialect{
		agent:      agent.Cursor(),
		files:      [][]string{{".cursor", "hooks.json"}},
		user:       userFile{path: []string{"hooks.json"}},
		trustsUser: true,
		servers:    serverList{file: []string{".cursor", "mcp.json"}, key: "mcpServers", entry: ourServer},
		form:       form{version: "1", flat: true, command: "command", timeout: "timeout", unit: time.Second},
		reply:      reply{silent: true, snake: true},
		entries: []entry{
			{event: "sessionStart", verb: "session-start"},
			{event: "sessionEnd", verb: "session-end", timeout: endTimeout},
			{event: "stop", verb: "stop"},
			{event: "beforeSubmitPrompt", verb: "user-prompt-submit"},
			{event: "preCompact", verb: "pre-compact"},
		},
		read:       readCursor,
		runsShared: true, hookMark: "CURSOR_VERSION",
		trustNote: "Cursor runs the hooks of a project only in a workspace that you have trusted.",
	}
}

func readCursor(p *Payload, verb string, data []byte) bool {
	var c struct {
		Conversation string   `json:"conversation_id"`
		Generation   string   `json:"generation_id"`
		Roots        []string `json:"workspace_roots"`
	}
	_ = json.Unmarshal(data, &c) // unreadable fields stay empty
	p.SessionID = cmp.Or(c.Conversation, p.SessionID)
	p.PromptID = cmp.Or(p.PromptID, c.Generation)
	if len(c.Roots) > 0 && p.Dir == "" {
		p.Dir = c.Roots[0]
	}
	if verb == "session-start" {
		p.Source = "startup"
	}
	return p.ofSession(verb)
}
