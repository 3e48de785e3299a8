package agenthook

import "github.com/seed-3aff656d/entire/session/agent"

// pi is the dialect of Pi, which has no hooks in settings.
func pi() dialect {
	return dialect{
		agent:  agent.Pi(),
		files:  [][]string{{".pi", "extensions", "entire.js"}},
		user:   userFile{path: []string{"extensions", "entire.js"}},
		plugin: true,
		reply:  reply{silent: true, direct: true},
		entries: []entry{
			{verb: "session-start"},
			{verb: "session-end"},
			{verb: "stop"},
			{verb: "user-prompt-submit"},
			{verb: PreTool},
			{verb: "pre-compact"},
			{verb: "post-compact"},
		},
		read: func(p *Payload, verb string, _ []byte) bool { return p.ofSession(verb) },
	}
}
