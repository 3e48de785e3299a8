package agenthook

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

// The verbs of the hooks that give the agent a line about the file or command of a tool call: before
// the call, and after it for agents that take no context before.
const (
	PreTool = "pre-tool"
	PostUse = "post-use"
)

// IsAtUse reports whether a verb is one of these hooks.
func IsAtUse(verb string) bool { return verb == PreTool || verb == PostUse }

// GivesAtPrompt reports whether such a line is given to the agent with a prompt that names the file,
// as it has no such hook.
func GivesAtPrompt(a agent.Agent) bool { return dialectOf(a).atPrompt }

// ToolUse returns the tool call of a payload, as far as it edits files or runs a command. Members of
// an unexpected form are treated as absent.
func (p *Payload) ToolUse(verb string) savedcontext.ToolUse {
	use := savedcontext.ToolUse{SessionID: p.SessionID}
	var input struct {
		File     string `json:"file_path"`
		Camel    string `json:"filePath"`
		Path     string `json:"path"`
		Notebook string `json:"notebook_path"`
		Patch    string `json:"patchText"`
		Command  string `json:"command"`
	}
	var patch string
	if json.Unmarshal(p.ToolInput, &patch) == nil {
		use.Paths = patchedFiles(patch)
	} else {
		_ = json.Unmarshal(p.ToolInput, &input) // unreadable fields stay empty
		use.Paths = patchedFiles(input.Patch)
		if file := cmp.Or(input.File, input.Camel, input.Path, input.Notebook); file != "" {
			use.Paths = []string{file}
		}
		if len(use.Paths) == 0 {
			use.Command = input.Command
		}
	}
	for i, path := range use.Paths {
		if !filepath.IsAbs(path) {
			use.Paths[i] = filepath.Join(p.Dir, path)
		}
	}
	if verb != PostUse {
		return use
	}
	var response struct {
		Display json.RawMessage `json:"returnDisplay"`
	}
	var display struct {
		Before *string `json:"originalContent"`
	}
	if json.Unmarshal(p.ToolResponse, &response) == nil {
		_ = json.Unmarshal(response.Display, &display) // it is text for other tools
	}
	use.Before = display.Before
	if use.Before == nil {
		use.Paths = nil // the content before the call is lost
	}
	return use
}

// patchedFiles returns the files that a patch in the form of the tool apply_patch changes or deletes.
func patchedFiles(patch string) (paths []string) {
	for line := range strings.Lines(patch) {
		for _, prefix := range []string{"*** Update File: ", "*** Delete File: "} {
			if name, ok := strings.CutPrefix(line, prefix); ok {
				paths = append(paths, strings.TrimSpace(name))
			}
		}
	}
	return paths
}
