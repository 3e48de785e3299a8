package forms

import (
	"encoding/json"
	"hash/fnv"
	"strconv"
	"strings"
)

// cursorLine converts a line of Cursor, which has no times, tokens or tool results. A damaged line
// is returned unchanged.
func cursorLine(line []byte) []byte {
	var c struct {
		Role    string `json:"role"`
		Message struct {
			Content []cursorPart `json:"content"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &c) != nil {
		return line
	}
	switch c.Role {
	case "user":
		var texts []string
		for _, p := range c.Message.Content {
			if p.Type == "text" {
				texts = append(texts, p.Text)
			}
		}
		// The client adds text to the person's input.
		text := strings.Join(texts, "\n")
		_, rest, begun := strings.Cut(text, "<user_query>")
		query, _, ended := strings.Cut(rest, "</user_query>")
		if begun && ended {
			text = strings.TrimSpace(query)
		}
		return encode(person(text))
	case "assistant":
		e := done()
		e.Message.Content = []block{}
		for i, p := range c.Message.Content {
			switch {
			case p.Type == "text" && p.Text != "":
				e.Message.Content = append(e.Message.Content, textBlock(p.Text))
			case p.Type == "tool_use":
				// Calls have no ids.
				h := fnv.New64a()
				_, _ = h.Write(line) // can't fail
				id := "cursor-" + strconv.FormatUint(h.Sum64(), 36) + "-" + strconv.Itoa(i)
				var in struct {
					Path     string `json:"path"`
					Contents string `json:"contents"`
					Old      string `json:"old_string"`
					New      string `json:"new_string"`
					Command  string `json:"command"`
				}
				_ = json.Unmarshal(p.Input, &in) // unreadable fields stay empty
				use := useBlock(id, p.Name, object(p.Input))
				// Convert the inputs of commands and of tools that name a file.
				switch p.Name {
				case "Write":
					use = useBlock(id, "Write", written{Path: in.Path, Content: in.Contents})
				case "StrReplace":
					use = useBlock(id, "MultiEdit", patched{Path: in.Path, Edits: []edit{{Old: in.Old, New: in.New}}})
				case "Delete":
					use = useBlock(id, "Delete", patched{Path: in.Path})
				case "Read":
					use = useBlock(id, "Read", patched{Path: in.Path})
				case "Shell":
					use = useBlock(id, "Bash", command{Command: in.Command})
				}
				e.Message.Content = append(e.Message.Content, use, resultBlock(id, "", false))
			}
		}
		return encode(e)
	}
	return nil
}

// cursorPart is a part of a message.
type cursorPart struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}
