package forms

import (
	"cmp"
	"encoding/json"
	"time"
)

// documentMessage is a message of a document. OpenCode writes Info and Parts, early versions of
// Gemini CLI write Type, other agents Role with the contents of Claude's API.
type documentMessage struct {
	Info    json.RawMessage `json:"info"`
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	ID      string          `json:"id"`
	Millis  int64           `json:"ts"`
	Content json.RawMessage `json:"content"`
}

// Document converts a transcript that is one JSON object with a list of messages. It returns the
// messages as lines in Claude Code's form, one for each message and empty for one that is not part
// of the conversation, and the agent that writes such documents, "" if the form is not known. It
// returns false for a transcript of another form.
func Document(text []byte) (lines [][]byte, agent string, ok bool) {
	var doc struct {
		Info     json.RawMessage   `json:"info"`
		Session  string            `json:"sessionId"`
		Project  string            `json:"projectHash"`
		Messages []json.RawMessage `json:"messages"`
	}
	if json.Unmarshal(text, &doc) != nil || doc.Messages == nil {
		return nil, "", false
	}
	switch {
	case doc.Info != nil:
		agent = OpenCode
	case doc.Project != "":
		agent = GeminiCLI
	}
	var info struct {
		ID  string `json:"id"`
		Dir string `json:"directory"`
	}
	_ = json.Unmarshal(doc.Info, &info) // unreadable fields stay empty
	for _, raw := range doc.Messages {
		var m documentMessage
		_ = json.Unmarshal(raw, &m) // unreadable fields stay empty
		var e *entry
		switch {
		case m.Info != nil:
			agent = cmp.Or(agent, OpenCode)
			e = openCodeDocumentMessage(raw)
		case m.Type != "":
			agent = cmp.Or(agent, GeminiCLI)
			e = geminiDocumentMessage(raw)
		case m.Role == "user" || m.Role == "assistant":
			lines = append(lines, encode(&entry{Type: m.Role, UUID: m.ID, SessionID: doc.Session, Time: utc(m.Millis), Message: &message{Role: m.Role, Content: blocksOf(m.Content)}}))
			continue
		}
		if e != nil {
			e.SessionID, e.Dir = cmp.Or(e.SessionID, info.ID, doc.Session), cmp.Or(e.Dir, info.Dir)
		}
		lines = append(lines, encode(e))
	}
	return lines, agent, true
}

// utc formats a time in milliseconds of Unix time, "" for 0.
func utc(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// blocksOf decodes a content in the form of Claude's API: a text or a list of blocks.
func blocksOf(content json.RawMessage) []block {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []block{textBlock(text)}
	}
	var list []struct {
		block

		Input   json.RawMessage `json:"input"`
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(content, &list) // unreadable blocks are left out
	blocks := make([]block, 0, len(list))
	for _, b := range list {
		if len(b.Input) > 0 {
			b.block.Input = b.Input
		}
		for _, part := range blocksOf(b.Content) {
			b.block.Content += part.Text
		}
		blocks = append(blocks, b.block)
	}
	return blocks
}

// openCodeDocumentMessage converts a message that `opencode export` writes.
func openCodeDocumentMessage(raw json.RawMessage) *entry {
	var m openCodeMessage
	var times struct {
		Info struct {
			Session string `json:"sessionID"`
			Path    struct {
				Dir string `json:"cwd"`
			} `json:"path"`
			Time struct {
				Created   int64 `json:"created"`
				Completed int64 `json:"completed"`
			} `json:"time"`
		} `json:"info"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	_ = json.Unmarshal(raw, &times) // unreadable fields stay empty
	e := m.entry()
	if e != nil {
		i := &times.Info
		e.UUID, e.SessionID, e.Dir, e.Time = m.Info.ID, i.Session, i.Path.Dir, utc(cmp.Or(i.Time.Completed, i.Time.Created))
	}
	return e
}

// geminiDocumentMessage converts a message of an early version of Gemini CLI, which writes each
// once, with its text and its tool calls.
func geminiDocumentMessage(raw json.RawMessage) *entry {
	var g geminiEnvelope
	if json.Unmarshal(raw, &g) != nil {
		return nil
	}
	if g.Type == "assistant" {
		g.Type = "gemini"
	}
	e := g.entry()
	if e != nil && e.Type == "assistant" && len(g.Calls) > 0 {
		var said []block
		for _, text := range geminiTexts(g.Content) {
			said = append(said, textBlock(text))
		}
		e.Message.Content = append(said, e.Message.Content...)
	}
	return e
}
