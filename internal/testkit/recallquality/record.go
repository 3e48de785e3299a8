package main

import (
	"encoding/json"
	"strings"
	"time"
)

// record is a line of a transcript, as far as is needed here. It is parsed
// apart from what is measured.
type record struct {
	Type             string          `json:"type"`
	Subtype          string          `json:"subtype"`
	Cwd              string          `json:"cwd"`
	GitBranch        string          `json:"gitBranch"`
	Timestamp        time.Time       `json:"timestamp"`
	IsMeta           bool            `json:"isMeta"`
	IsSidechain      bool            `json:"isSidechain"`
	IsCompactSummary bool            `json:"isCompactSummary"`
	Message          message         `json:"message"`
	Result           json.RawMessage `json:"toolUseResult"`
}

type message struct {
	Content json.RawMessage `json:"content"`
	Usage   struct {
		Input  int64 `json:"input_tokens"`
		Read   int64 `json:"cache_read_input_tokens"`
		Create int64 `json:"cache_creation_input_tokens"`
	} `json:"usage"`
}

// block is one of a message's contents.
type block struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	ToolID  string          `json:"tool_use_id"`
	IsError bool            `json:"is_error"`
	Content json.RawMessage `json:"content"`
	Input   struct {
		Path     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
		Command  string `json:"command"`
	} `json:"input"`
}

// fileResult is what an edit or a read answered.
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

func (r record) blocks() []block {
	var list []block
	if json.Unmarshal(r.Message.Content, &list) != nil {
		return nil
	}
	return list
}

// prompt reports that a person asked something.
func (r record) prompt() bool {
	var text string
	if r.Type != "user" || r.IsMeta || r.IsSidechain || r.IsCompactSummary || json.Unmarshal(r.Message.Content, &text) != nil {
		return false
	}
	return text != "" && !strings.HasPrefix(text, "<") && !strings.HasPrefix(text, "[Request") && !strings.HasPrefix(text, "This session")
}

// apply makes of a file what an edit made of it.
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
	return patched(strings.SplitAfter(*f.Original, "\n"), f.Patch)
}

// patched are lines with the changes of a patch.
func patched(old []string, patches []patch) (string, bool) {
	var out []string
	at := 0
	for _, p := range patches {
		from := max(p.Start-1, 0)
		if from < at || from > len(old) {
			return "", false
		}
		out, at = append(out, old[at:from]...), from
		for _, line := range p.Lines {
			if line == "" || line[0] == '\\' {
				continue
			}
			if line[0] == '+' {
				out = append(out, line[1:]+"\n")
				continue
			}
			if at >= len(old) || strings.TrimSuffix(old[at], "\n") != line[1:] {
				return "", false
			}
			if line[0] == ' ' {
				out = append(out, old[at])
			}
			at++
		}
	}
	return strings.Join(append(out, old[min(at, len(old)):]...), ""), true
}
