package forms

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Rollout converts a transcript of Codex that has no events of messages, only the items that Codex
// exchanges with the model: some versions and other programs store no others. It returns a line for
// each line of the text, empty for one that is not part of the conversation, and false for any other
// transcript, whose messages [Line] reads from their events.
func Rollout(text []byte) (lines [][]byte, ok bool) {
	first, _, _ := bytes.Cut(text, []byte{'\n'})
	if agent, _ := formOf(first); agent != Codex {
		return nil, false
	}
	// Such members within a string have escaped quotes.
	for _, event := range []string{"user_message", "agent_message", "item_completed"} {
		if hasType(text, event) {
			return nil, false
		}
	}
	if !hasType(text, "response_item") || !hasType(text, "message") {
		return nil, false
	}
	for line := range bytes.Lines(text) {
		lines = append(lines, rolloutLine(bytes.TrimRight(line, "\r\n")))
	}
	return lines, true
}

// hasType reports whether a text has an object with the member "type".
func hasType(text []byte, kind string) bool {
	return bytes.Contains(text, []byte(`"type":"`+kind+`"`)) || bytes.Contains(text, []byte(`"type": "`+kind+`"`))
}

func rolloutLine(line []byte) []byte {
	var c codexEnvelope
	if json.Unmarshal(line, &c) != nil || c.Type != "response_item" {
		return Line(line)
	}
	var p item
	c.decode(&p)
	var e *entry
	switch {
	case p.Type == "message":
		switch text := p.text(); {
		case text == "":
		case p.Role == "assistant":
			e = said(text)
		case p.Role == "user":
			e = codexRequest(text)
		}
	case p.Name == "apply_patch":
		var in struct {
			Input string `json:"input"`
		}
		_ = json.Unmarshal([]byte(p.Args), &in) // unreadable fields stay empty
		e = done(uses(p.Call, patchChanges(p.Input+in.Input))...)
	case p.Type == "custom_tool_call":
		e = done(useBlock(p.Call, p.Name, map[string]string{"input": p.Input}))
	case p.Type == "custom_tool_call_output":
		e = codexOutput(p.Call, p.Output)
	default:
		e = c.call()
	}
	if e != nil {
		e.Time = c.Time
	}
	return encode(e)
}

// isCodexContext reports whether Codex wrote a text in a person's name: the instructions and the
// environment of a session.
func isCodexContext(text string) bool {
	for _, begin := range []string{"<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions", "<permissions instructions>", "<collaboration_mode>", "<skill>", "<skills_instructions>", "<subagent_notification>"} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}

// codexRequest returns the entry for a message of a person among the items: a prompt, or the record
// of an interruption or of a command that the person ran.
func codexRequest(text string) *entry {
	switch begin := strings.TrimSpace(text); {
	case strings.HasPrefix(begin, "<turn_aborted>"):
		return person("[Request interrupted by user]")
	case strings.HasPrefix(begin, "<user_shell_command>"):
		_, command, _ := strings.Cut(begin, "<command>")
		command, _, _ = strings.Cut(command, "</command>")
		return personShell(command)
	}
	return person(text)
}
