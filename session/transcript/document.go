package transcript

import (
	"bytes"

	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

// The agents whose transcripts can be read.
const (
	ClaudeCode = "Claude Code"   // lines
	GeminiCLI  = forms.GeminiCLI // lines, early versions one document
	Codex      = forms.Codex
	CopilotCLI = forms.CopilotCLI
	OpenCode   = forms.OpenCode
	PiAgent    = forms.PiAgent
	QwenCode   = forms.QwenCode
)

// WithoutHookContext is [forms.WithoutHookContext].
func WithoutHookContext(prompt string) string { return forms.WithoutHookContext(prompt) }

// IsAgentName reports whether a recorded name identifies an agent. Other programs recorded "Agent"
// if they didn't know the name.
func IsAgentName(name string) bool { return name != "" && name != "Agent" }

// Agent returns the agent of a session: the recorded one, or if none was recorded the one whose form
// the transcript has, "" if the form is not known.
func Agent(recorded string, transcript []byte) string {
	if IsAgentName(recorded) {
		return recorded
	}
	return Form(transcript)
}

// Form returns the agent whose form a transcript has, by its first lines; "" if they have the form of
// no known agent.
func Form(transcript []byte) string {
	const most = 50
	if IsDocument(transcript) {
		_, agent, _ := forms.Document(transcript)
		return agent
	}
	read := 0
	var e entry
	for line := range bytes.Lines(transcript) {
		line = bytes.TrimRight(line, "\n")
		if agent := forms.Agent(line); agent != "" {
			return agent
		}
		if e.parse(line) && (isChain(e.kind) && len(e.uuid) > 0 || isBookKeeping(e.kind)) {
			return ClaudeCode
		}
		if read++; read == most {
			break
		}
	}
	return ""
}

// Messages returns the messages of a transcript that can only be read as a whole, each as a line as
// the other functions of this package read it; an empty one is not part of the conversation. Such a
// transcript is one document, or lines of Codex without events. It returns false for other
// transcripts of lines.
func Messages(transcript []byte) (lines [][]byte, ok bool) {
	if !IsDocument(transcript) {
		return forms.Rollout(transcript)
	}
	lines, _, ok = forms.Document(transcript)
	return lines, ok
}

// IsDocument reports whether the first value of a transcript is an object with a list of messages.
func IsDocument(transcript []byte) bool {
	s := scanner{b: transcript}
	if s.peek() != '{' || !s.enter('{') {
		return false
	}
	for key, ok := s.key(); ok; key, ok = s.key() {
		if string(key) == "messages" {
			return s.peek() == '['
		}
		s.skip()
	}
	return false
}
