package forms

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// codexChange is the change of one file by a patch of Codex.
type codexChange struct {
	Type    string `json:"type"` // add, update, delete
	Content string `json:"content,omitempty"`
	Diff    string `json:"unified_diff,omitempty"`
	Move    string `json:"move_path,omitempty"`
}

// patch returns a tool use with its result for each changed file; a moved file has two. The first
// use has the patch's id.
func patch(id string, changes map[string]codexChange, failed bool, output string) *entry {
	var blocks []block
	add := func(tool string, input any) {
		use := id
		if n := len(blocks) / 2; n > 0 && id != "" { //nolint:mnd // a use and its result
			use += "-" + strconv.Itoa(n+1)
		}
		blocks = append(blocks, useBlock(use, tool, input), resultBlock(use, output, failed))
	}
	for _, path := range slices.Sorted(maps.Keys(changes)) {
		switch c := changes[path]; {
		case c.Type == "add":
			add("Write", written{Path: path, Content: c.Content})
		case c.Type == "delete":
			add("Delete", patched{Path: path})
		case c.Move != "" && c.Move != path:
			add("Delete", patched{Path: path})
			add("MultiEdit", patched{Path: c.Move, Edits: hunks(c.Diff)})
		default:
			add("MultiEdit", patched{Path: path, Edits: hunks(c.Diff)})
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	return done(blocks...)
}

// uses returns the tool uses of a patch whose result, for the first of them, follows later.
func uses(id string, changes map[string]codexChange) []block {
	e := patch(id, changes, false, "")
	if e == nil {
		return []block{useBlock(id, "apply_patch", map[string]string{})}
	}
	kept := e.Message.Content[:0]
	for i, b := range e.Message.Content {
		if b.Type == "tool_use" || i > 1 { // the first use's result follows later
			kept = append(kept, b)
		}
	}
	return kept
}

// patchChanges parses a patch in the form of the tool apply_patch.
func patchChanges(text string) map[string]codexChange {
	changes := map[string]codexChange{}
	path, c := "", codexChange{}
	end := func() {
		if path != "" {
			changes[path] = c
		}
		path, c = "", codexChange{}
	}
	for line := range strings.Lines(text) {
		begun := false
		for prefix, kind := range map[string]string{"*** Add File: ": "add", "*** Update File: ": "update", "*** Delete File: ": "delete"} {
			if name, ok := strings.CutPrefix(line, prefix); ok {
				end()
				path, c.Type, begun = strings.TrimSpace(name), kind, true
			}
		}
		moved, isMove := strings.CutPrefix(line, "*** Move to: ")
		switch {
		case begun:
		case isMove:
			c.Move = strings.TrimSpace(moved)
		case strings.HasPrefix(line, "*** "):
		case c.Type == "add":
			c.Content += strings.TrimPrefix(line, "+")
		case c.Type == "update":
			c.Diff += line
		}
	}
	end()
	return changes
}

// hunks returns the old and the new text of each hunk of a unified diff of one file.
func hunks(diff string) []edit {
	var edits []edit
	var old, now strings.Builder
	end := func() {
		if old.Len()+now.Len() > 0 {
			edits = append(edits, edit{Old: old.String(), New: now.String()})
		}
		old.Reset()
		now.Reset()
	}
	within := false
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "@@") {
			end()
			within = true
			continue
		}
		if !within {
			continue
		}
		switch line[0] {
		case '-':
			old.WriteString(line[1:])
		case '+':
			now.WriteString(line[1:])
		case ' ':
			old.WriteString(line[1:])
			now.WriteString(line[1:])
		}
	}
	end()
	return edits
}
