package main

import (
	"encoding/json"
	"strings"
	"time"
)

// record is a line of a transcript with the members used here. It is parsed independently of the
// measured program.
type record struct {
	Type             string          `json:"type"`
	Subtype          string          `json:"subtype"`
	SessionID        string          `json:"sessionId"`
	Cwd              string          `json:"cwd"`
	GitBranch        string          `json:"gitBranch"`
	Timestamp        time.Time       `json:"timestamp"`
	IsMeta           bool            `json:"isMeta"`
	IsSidechain      bool            `json:"isSidechain"`
	IsCompactSummary bool            `json:"isCompactSummary"`
	IsAPIError       bool            `json:"isApiErrorMessage"`
	Operation        string          `json:"operation"`
	Content          json.RawMessage `json:"content"` // of a queued prompt
	Message          message         `json:"message"`
	Data             json.RawMessage `json:"data"`
	Result           json.RawMessage `json:"toolUseResult"`
}

type message struct {
	Content json.RawMessage `json:"content"`
}

// block is one part of a message's content.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	ToolID  string          `json:"tool_use_id"`
	IsError bool            `json:"is_error"`
	Content json.RawMessage `json:"content"`
	Input   json.RawMessage `json:"input"`
}

// toolInput has the members used here of the inputs of all tools.
type toolInput struct {
	Path     string `json:"file_path"`
	Notebook string `json:"notebook_path"`
	Folder   string `json:"path"`
	Command  string `json:"command"`
	Plan     string `json:"plan"`
	Subject  string `json:"subject"`
	TaskID   string `json:"taskId"`
	Status   string `json:"status"`
	Todos    []todo `json:"todos"`
}

type todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// fileResult is the result of an edit or a read.
type fileResult struct {
	Path     string  `json:"filePath"`
	Content  *string `json:"content"`
	Original *string `json:"originalFile"`
	Patch    []patch `json:"structuredPatch"`
	Old      *string `json:"oldString"`
	New      string  `json:"newString"`
	All      bool    `json:"replaceAll"`
	Read     struct {
		Path    string `json:"filePath"`
		Content string `json:"content"`
		Start   int    `json:"startLine"`
		Lines   int    `json:"numLines"`
		Total   int    `json:"totalLines"`
	} `json:"file"`
}

type patch struct {
	Start int      `json:"oldStart"`
	Lines []string `json:"lines"`
}

func parse(line []byte) (record, bool) {
	var r record
	err := json.Unmarshal(line, &r)
	return r, err == nil
}

// blocks returns the parts of the message; a string message is one part.
func (r record) blocks() []block {
	var list []block
	if json.Unmarshal(r.Message.Content, &list) == nil {
		return list
	}
	return []block{{Type: "text", Text: flat(r.Message.Content)}}
}

// flat returns the text of a content: a string or a list of parts.
func flat(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var list []block
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	var parts []string
	for _, b := range list {
		if b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// apply returns the content of the file after the edit.
func (f fileResult) apply() (string, bool) {
	switch {
	case f.Old == nil && f.Content != nil:
		return *f.Content, true
	case f.Original == nil:
		return "", false
	}
	if f.Old != nil && strings.Contains(*f.Original, *f.Old) { // patches may have spaces for tabs
		times := 1
		if f.All {
			times = -1
		}
		return strings.Replace(*f.Original, *f.Old, f.New, times), true
	}
	lines := strings.SplitAfter(*f.Original, "\n")
	var out []string
	at := 0
	for _, p := range f.Patch {
		from := max(p.Start-1, 0)
		if from < at || from > len(lines) {
			return "", false
		}
		out, at = append(out, lines[at:from]...), from
		for _, line := range p.Lines {
			if line == "" || line[0] == '\\' {
				continue
			}
			if line[0] == '+' {
				out = append(out, line[1:]+"\n")
				continue
			}
			if at >= len(lines) || strings.TrimSuffix(lines[at], "\n") != line[1:] {
				return "", false
			}
			if line[0] == ' ' {
				out = append(out, lines[at])
			}
			at++
		}
	}
	return strings.Join(append(out, lines[min(at, len(lines)):]...), ""), true
}
