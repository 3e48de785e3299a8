package agenthook

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// gemini turns git's hooks off in its shell: the commits made there are found after the tool.
// Its hooks call the verbs of the existing tool, so that either finds what the other installed.
func gemini() dialect {
	f := grouped()
	f.unit, f.named = time.Millisecond, true
	return dialect{
		agent:      agent.Gemini(),
		files:      [][]string{{".gemini", "settings.json"}},
		user:       userFile{path: []string{"settings.json"}},
		trustsUser: true,
		servers:    serverList{file: []string{".gemini", "settings.json"}, key: "mcpServers", entry: ourServer},
		form:       f,
		entries: []entry{
			{event: "SessionStart", verb: "session-start"},
			{event: "SessionEnd", verb: "session-end", timeout: endTimeout},
			{event: "BeforeAgent", verb: "before-agent"},
			{event: "AfterAgent", verb: "after-agent"},
			{event: "AfterTool", verb: "after-tool", matcher: "run_shell_command"},
			{event: "PreCompress", verb: "pre-compress", matcher: "manual"},
		},
		verbs: map[string]string{
			"before-agent": "user-prompt-submit", "after-agent": "stop", "after-tool": "post-tool", "pre-compress": "pre-compact",
			"before-tool": "", "before-model": "", "after-model": "", "before-tool-selection": "", "notification": "",
		},
		read:      readGemini,
		trust:     geminiTrust,
		trustNote: "Gemini CLI runs the hooks of a project only in a folder that you trust: it asks at its next start, and the hooks run from the one after.",
	}
}

// geminiPayload has the members that only Gemini CLI has.
type geminiPayload struct {
	Response string `json:"prompt_response"`
	Trigger  string `json:"trigger"`
}

func readGemini(p *Payload, verb string, data []byte) bool {
	var g geminiPayload
	_ = json.Unmarshal(data, &g) // what can't be read is empty
	p.Prompt = transcript.WithoutHookContext(p.Prompt)
	p.Summary = g.Response
	switch verb {
	case "session-start":
		if p.Source == "resume" { // it names a file that the session doesn't use
			p.Transcript = ""
		}
		p.StartContextLost = p.Source == "clear" // it shows the message only
	case "user-prompt-submit":
		if strings.HasPrefix(p.Prompt, "[System: ") { // the client's own, after an interruption
			return false
		}
	case "pre-compact":
		return g.Trigger == "manual" // others come before every request
	}
	return p.ofSession(verb)
}

// geminiTrust reads which folders the user trusts.
func geminiTrust(t trusting) Trust {
	var folders map[string]string
	data, err := os.ReadFile(filepath.Join(t.home, "trustedFolders.json"))
	if err != nil || json.Unmarshal(data, &folders) != nil {
		return Untrusted
	}
	trust := Untrusted
	for dir, level := range folders {
		if level == "TRUST_PARENT" {
			dir = filepath.Dir(dir)
		}
		switch {
		case !isWithin(dir, t.root):
		case level == "DO_NOT_TRUST":
			return Untrusted
		case level == "TRUST_FOLDER", level == "TRUST_PARENT":
			trust = Trusted
		}
	}
	return trust
}
