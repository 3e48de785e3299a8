package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// session is what a transcript says that can be checked: files as they were and
// became, what was read and run, and how full the context was.
type session struct {
	root, branch string
	began, ended time.Time
	peak         int64
	// base and tree are the contents of files before the first and after the
	// last edit; a file that can't be rebuilt is in lost.
	base, tree map[string]*string
	lost       map[string]bool
	edited     []string // the last one last
	read       []string
	// seen is what the session was shown of a file before it edited it.
	seen     map[string]string
	commands []ran
	raw      string
}

// ran is a command with what came of it.
type ran struct {
	text   string
	failed bool
	known  bool
	output string
}

func look(lines [][]byte) *session {
	s := &session{base: map[string]*string{}, tree: map[string]*string{}, lost: map[string]bool{}, seen: map[string]string{}}
	var all strings.Builder
	calls := map[string]int{}
	for _, line := range lines {
		all.Write(line)
		all.WriteByte('\n')
		r, ok := parse(line)
		if !ok || r.IsSidechain {
			continue
		}
		s.line(r, calls)
	}
	s.raw = all.String()
	return s
}

func (s *session) line(r record, calls map[string]int) {
	if r.Cwd != "" && s.root == "" {
		s.root = r.Cwd
	}
	if r.GitBranch != "" {
		s.branch = r.GitBranch
	}
	if !r.Timestamp.IsZero() {
		if s.began.IsZero() {
			s.began = r.Timestamp
		}
		s.ended = r.Timestamp
	}
	u := r.Message.Usage
	s.peak = max(s.peak, u.Input+u.Read+u.Create)
	failed := false
	for _, b := range r.blocks() {
		switch b.Type {
		case "tool_use":
			s.call(b, calls)
		case "tool_result":
			failed = failed || b.IsError
			if i, ok := calls[b.ToolID]; ok {
				s.commands[i].failed, s.commands[i].known, s.commands[i].output = b.IsError, true, string(b.Content)
			}
		}
	}
	if !failed {
		s.result(r.Result)
	}
}

func (s *session) call(b block, calls map[string]int) {
	switch b.Name {
	case "Bash":
		calls[b.ID] = len(s.commands)
		s.commands = append(s.commands, ran{text: b.Input.Command})
	case "Read":
		s.read = append(s.read, b.Input.Path)
	}
}

// result follows a file through what edits and reads answered.
func (s *session) result(raw json.RawMessage) {
	var f fileResult
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &f) != nil {
		return
	}
	if path := f.Read.Path; path != "" {
		_, touched := s.tree[path]
		if _, known := s.seen[path]; !known && !touched && f.Read.Start <= 1 && f.Read.Lines >= f.Read.Total {
			s.seen[path] = f.Read.Content
		}
		return
	}
	if f.Path == "" || f.Patch == nil && f.Content == nil {
		return
	}
	first := !slices.Contains(s.edited, f.Path)
	s.edited = append(slices.DeleteFunc(s.edited, func(p string) bool { return p == f.Path }), f.Path)
	if first {
		s.base[f.Path] = f.Original
		if f.Original != nil {
			s.seen[f.Path] = *f.Original
		}
	}
	text, ok := f.apply()
	if !ok {
		s.lost[f.Path] = true
		return
	}
	s.tree[f.Path] = &text
	delete(s.lost, f.Path)
}

// inside is a path from the root, "" if it is elsewhere.
func (s *session) inside(path string) string {
	rel, err := filepath.Rel(s.root, path)
	if err != nil || rel == "." || strings.HasPrefix(rel, "..") {
		return ""
	}
	return rel
}
