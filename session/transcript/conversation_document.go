package transcript

import (
	"bytes"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

// The agents whose transcripts can be read.
const (
	ClaudeCode = "Claude Code"   // lines
	GeminiCLI  = forms.GeminiCLI // lines, early versions a document
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

// Agent returns the agent of a session, given its recorded name and its transcript. The form of the
// transcript decides if no name was recorded or if the recorded agent uses another form.
func Agent(recorded string, transcript []byte) string {
	isKnown := slices.Contains([]string{ClaudeCode, GeminiCLI, Codex, CopilotCLI, forms.Cursor, OpenCode, PiAgent, QwenCode}, recorded)
	if form := agentOf(transcript); form != "" && (isKnown || !IsAgentName(recorded)) {
		return form
	}
	return recorded
}

// agentOf returns the agent whose form the first lines of a transcript have, "" if they have the
// form of no known agent.
func agentOf(transcript []byte) string {
	const most = 50
	if IsDocument(transcript) {
		return GeminiCLI
	}
	read := 0
	for line := range bytes.Lines(transcript) {
		line = bytes.TrimRight(line, "\n")
		if agent := forms.Agent(line); agent != "" {
			return agent
		}
		e, ok := parseEntry(line)
		if ok && isChain(e.kind) && len(e.uuid) > 0 {
			return ClaudeCode
		}
		if read++; read == most {
			break
		}
	}
	return ""
}

// IsDocument reports whether a transcript is a single JSON document with a list of messages, as
// written by early versions of Gemini CLI, instead of lines.
func IsDocument(transcript []byte) bool {
	s := scanner{b: transcript}
	if !s.enter('{') {
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

// Document adds a document, whose first message is message n of the transcript, and returns its
// number of messages.
func (c *Conversation) Document(doc []byte, n int) int {
	s := scanner{b: doc}
	if !s.enter('{') {
		return 0
	}
	count := 0
	for key, ok := s.key(); ok; key, ok = s.key() {
		if string(key) != "messages" {
			s.skip()
			continue
		}
		if !s.enter('[') {
			continue
		}
		for s.item() {
			c.documentMessage(s.raw(), n+count)
			count++
		}
	}
	return count
}

// documentMessage adds one message of a document.
func (c *Conversation) documentMessage(raw []byte, n int) {
	var kind, stamp []byte
	var said message
	var calls []byte
	s := scanner{b: raw}
	if !s.enter('{') {
		return
	}
	for key, ok := s.key(); ok; key, ok = s.key() {
		switch string(key) {
		case "type":
			kind = s.str()
		case "timestamp":
			stamp = s.str()
		case "content":
			said.content(&s)
		case "toolCalls":
			calls = s.raw()
		default:
			s.skip()
		}
	}
	at := (&entry{timestamp: stamp}).time()
	by := Assistant
	switch string(kind) {
	case "user":
		by = User
	case "gemini", "assistant":
	default:
		return
	}
	for i := range said.blocks {
		c.say(Item{By: by, Text: Unescaped(said.blocks[i].text), Line: n, Time: at})
	}
	c.documentCalls(calls, Item{By: Tool, Line: n, Time: at})
}

// documentCalls adds the tool calls of a message as copies of item.
func (c *Conversation) documentCalls(raw []byte, item Item) {
	s := scanner{b: raw}
	if !s.enter('[') {
		return
	}
	for s.item() {
		var b block
		in := scanner{b: s.raw()}
		if !in.enter('{') {
			continue
		}
		for key, ok := in.key(); ok; key, ok = in.key() {
			switch string(key) {
			case "name":
				b.name = in.str()
			case "args":
				b.input = in.raw()
			case "result":
				b.result = in.raw()
			case "status":
				status := in.str()
				b.failed = len(status) > 0 && string(status) != "success"
			default:
				in.skip()
			}
		}
		item.Failed = b.failed
		c.use(&b, item)
		c.result(len(c.Items)-1, &b, func() string { // the texts of the function's responses
			var parts []string
			for item := range Value(b.result).Items() {
				response := item.Member("functionResponse").Member("response")
				for _, key := range []string{"output", "error"} {
					if said := response.Member(key).Text(); said != "" {
						parts = append(parts, said)
					}
				}
			}
			return strings.Join(parts, "\n")
		})
	}
}
