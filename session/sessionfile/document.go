package sessionfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/session/transcript/plugintranscript"
)

var errDocument = errors.New("it is a damaged JSON document")

// documentLines yields the lines for the messages of a document.
func documentLines(r io.Reader, yield func(line []byte) error) error {
	text, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	switch {
	case err != nil:
		return err
	case len(text) > maxDocument:
		return errLongDocument
	}
	var doc struct {
		Info *struct {
			ID  string `json:"id"`
			Dir string `json:"directory"`
		} `json:"info"`
		Session  string            `json:"sessionId"`
		Project  string            `json:"projectHash"`
		Start    string            `json:"startTime"`
		Updated  string            `json:"lastUpdated"`
		Kind     string            `json:"kind"`
		Messages []json.RawMessage `json:"messages"`
	}
	if json.Unmarshal(text, &doc) != nil {
		return errDocument
	}
	each := func(lines [][]byte) error {
		for _, line := range lines {
			if len(line) == 0 {
				continue
			}
			if err := yield(line); err != nil {
				return err
			}
		}
		return nil
	}
	switch {
	case doc.Info != nil:
		m := plugintranscript.Messages{Session: doc.Info.ID, Dir: doc.Info.Dir}
		for _, raw := range doc.Messages {
			lines, err := m.Lines(raw)
			if err != nil {
				continue // a damaged message
			}
			if err := each(lines); err != nil {
				return err
			}
		}
		return nil
	case doc.Project != "":
		header, err := encode(struct {
			Session string `json:"sessionId"`
			Project string `json:"projectHash"`
			Start   string `json:"startTime"`
			Updated string `json:"lastUpdated"`
			Kind    string `json:"kind"`
		}{doc.Session, doc.Project, doc.Start, doc.Updated, cmp.Or(doc.Kind, "main")})
		if err != nil {
			return err
		}
		if err := yield(header); err != nil {
			return err
		}
		for i, raw := range doc.Messages {
			if err := each(geminiLines(raw, "message-"+strconv.Itoa(i+1))); err != nil {
				return err
			}
		}
		return nil
	}
	lines, _ := transcript.Messages(text)
	return each(lines)
}

// geminiLines returns the lines that Gemini CLI writes for a message of a document: a message with a text
// and tool calls is written without the calls at first. id is for messages without an id.
func geminiLines(raw json.RawMessage, id string) [][]byte {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return nil // a damaged message
	}
	if len(m["id"]) == 0 {
		m["id"] = json.RawMessage(strconv.Quote(id))
	}
	if len(m["timestamp"]) == 0 {
		m["timestamp"] = json.RawMessage(`""`)
	}
	if string(m["type"]) == `"assistant"` {
		m["type"] = json.RawMessage(`"gemini"`)
	}
	whole := object(m)
	if len(m["toolCalls"]) == 0 || transcript.Value(m["content"]).Said() == "" {
		return [][]byte{whole}
	}
	delete(m, "toolCalls")
	return [][]byte{object(m), whole}
}

// geminiText returns yield for the lines of Gemini CLI. Where it has copied a document of an early version
// to lines, the text of a message with tool calls is only in the line with the calls: it gets a line before
// it.
func geminiText(yield func(line []byte) error) func(line []byte) error {
	last := ""
	return func(line []byte) error {
		id := transcript.Value(line).Member("id").Text()
		if id == "" {
			return yield(line)
		}
		if id != last && bytes.Contains(line, []byte(`"toolCalls":`)) {
			if lines := geminiLines(line, id); len(lines) > 1 {
				if err := yield(lines[0]); err != nil {
					return err
				}
			}
		}
		last = id
		return yield(line)
	}
}

// object encodes members in the order in which Gemini CLI writes them.
func object(members map[string]json.RawMessage) []byte {
	first := []string{"id", "timestamp", "type", "content"}
	rank := func(key string) int {
		if i := slices.Index(first, key); i >= 0 {
			return i
		}
		return len(first)
	}
	keys := slices.SortedFunc(maps.Keys(members), func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	var b bytes.Buffer
	for i, key := range keys {
		b.WriteByte("{,"[min(i, 1)])
		name, err := encode(key)
		if err != nil {
			continue // a text can always be encoded
		}
		b.Write(name)
		b.WriteByte(':')
		if json.Compact(&b, members[key]) != nil {
			b.WriteString("null")
		}
	}
	b.WriteByte('}')
	return b.Bytes()
}

// encode returns v as JSON in one line.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
