package forms

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// codexChange is what a patch of Codex does to one file.
type codexChange struct {
	Type    string `json:"type"` // add, update, delete
	Content string `json:"content"`
	Diff    string `json:"unified_diff"`
	Move    string `json:"move_path"`
}

// patch is a use of a tool for each file of a patch, and their results. The first has the
// patch's id.
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

// hunks returns the texts before and after each hunk of a unified diff of one file.
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
