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

// gemini is the dialect of Gemini CLI, which disables git's hooks in its shell: commits are found
// after tool uses. Its hooks call the existing tool's verbs, so each recognizes the other's hooks.
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
			{event: "AfterTool", verb: PostUse, matcher: "write_file|replace|run_shell_command", timeout: useTimeout},
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

// geminiPayload holds the members that only Gemini CLI has.
type geminiPayload struct {
	Response string `json:"prompt_response"`
	Trigger  string `json:"trigger"`
}

func readGemini(p *Payload, verb string, data []byte) bool {
	var g geminiPayload
	_ = json.Unmarshal(data, &g) // unreadable fields stay empty
	p.Prompt = transcript.WithoutHookContext(p.Prompt)
	p.Summary = g.Response
	switch verb {
	case "session-start":
		if p.Source == "resume" { // the payload names a file that the session doesn't use
			p.Transcript = ""
		}
		p.StartContextLost = p.Source == "clear" // the client only shows the message
	case "user-prompt-submit":
		if strings.HasPrefix(p.Prompt, "[System: ") { // written by the client after an interruption
			return false
		}
	case "pre-compact":
		return g.Trigger == "manual" // automatic ones precede every request
	}
	return p.ofSession(verb)
}

// geminiTrust reports whether a worktree is in a folder that the user trusts.
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
