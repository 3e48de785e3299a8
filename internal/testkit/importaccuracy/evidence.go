package importaccuracy

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// evidence is what the tool calls of a session show, read without the program's own reader. It
// describes mistakes; it doesn't decide whose a line is.
type evidence struct {
	// written has the trimmed texts that edit tools wrote, below the base names of the files.
	written map[string]map[string]bool
	// commands are the shell commands, results the results of all calls.
	commands, results string
}

// block is a block of a message of Claude Code.
type block struct {
	Type    string          `json:"type"`
	Name    string          `json:"name"`
	Content json.RawMessage `json:"content"`
	Input   struct {
		FilePath  string `json:"file_path"`
		Content   string `json:"content"`
		NewString string `json:"new_string"`
		Command   string `json:"command"`
		Edits     []struct {
			NewString string `json:"new_string"`
		} `json:"edits"`
	} `json:"input"`
}

func evidenceOf(lines []string) evidence {
	e := evidence{written: map[string]map[string]bool{}}
	var commands, results strings.Builder
	for _, text := range lines {
		for _, b := range blocksOf(text) {
			switch b.Type {
			case "tool_use":
				e.take(b)
				commands.WriteString(b.Input.Command + "\n")
			case "tool_result":
				results.WriteString(string(b.Content) + "\n")
			}
		}
	}
	e.commands, e.results = commands.String(), results.String()
	return e
}

// blocksOf returns the blocks of the message in a line: of the session, or of a subagent that reports its
// progress.
func blocksOf(text string) (blocks []block) {
	type message struct {
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	var event struct {
		message

		Data struct {
			Message message `json:"message"`
		} `json:"data"`
	}
	if json.Unmarshal([]byte(text), &event) != nil {
		return nil
	}
	content := event.Message.Content
	if content == nil {
		content = event.Data.Message.Message.Content
	}
	_ = json.Unmarshal(content, &blocks) // a text has none
	return blocks
}

func (e *evidence) take(b block) {
	if b.Input.FilePath == "" || b.Name == "Read" {
		return
	}
	name := path.Base(b.Input.FilePath)
	if e.written[name] == nil {
		e.written[name] = map[string]bool{}
	}
	texts := []string{b.Input.Content, b.Input.NewString}
	for _, edit := range b.Input.Edits {
		texts = append(texts, edit.NewString)
	}
	for _, text := range texts {
		for line := range strings.Lines(text) {
			e.written[name][strings.TrimSpace(line)] = true
		}
	}
}

// wrote reports whether a call writes the line: an edit of the file or of any other one, or a
// command with the text.
func (e *evidence) wrote(l line) bool {
	text := strings.TrimSpace(l.text)
	if e == nil {
		return false
	}
	if text == "" { // a blank line, which any edit may add
		return true
	}
	for _, lines := range e.written {
		if lines[text] {
			return true
		}
	}
	return strings.Contains(e.commands, text)
}

// shows reports whether the session shows a commit: its id, its subject in a command, or calls that write
// half of the long lines that it adds.
func (e *evidence) shows(oid, subject string, added []string) bool {
	const abbreviated, long = 7, 24 // a line that long is rarely written twice
	if e == nil {
		return false
	}
	quoted := strings.Trim(testkit.Object{"", subject}.JSON(), `{}:"`)
	if strings.Contains(e.results, oid[:abbreviated]) || strings.Contains(e.results, "] "+quoted) || strings.Contains(e.commands, subject) {
		return true
	}
	all, written := 0, 0
	for _, text := range added {
		if len(strings.TrimSpace(text)) < long {
			continue
		}
		all++
		if e.wrote(line{text: text}) {
			written++
		}
	}
	return written > 0 && 2*written >= all
}
