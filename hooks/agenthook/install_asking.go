package agenthook

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/jsonedit"
)

// askingHook is a hook that the agent passes to a tool of our MCP server, which may ask the person in
// the agent's own dialog.
type askingHook struct{ event, tool string }

// askingHooks returns the hooks that need the server.
func askingHooks() []askingHook {
	return []askingHook{
		{"SessionEnd", "checkpoint_before_clear"},
		{"SessionStart", "checkpoint_after_clear"},
	}
}

const (
	// askMatcher limits the questions to clears: at the start of the program there is no server to
	// ask, and at its end no user to reply.
	askMatcher = "clear"
	// askSeconds is the time that the person has to answer. The agent allows at most 60 seconds.
	askSeconds = 45
)

// input returns the tool's input as compact JSON, in which the agent replaces the variables.
func (askingHook) input() string {
	names := []string{"session_id", "prompt_id", "transcript_path", "cwd"}
	for i, name := range names {
		names[i] = jsonedit.Quote(name) + `:"${` + name + `}"`
	}
	return "{" + strings.Join(names, ",") + "}"
}

// ownTool returns the tool of a hook that is one of our questions, else "".
func ownTool(hook hujson.Value) string {
	text := func(name string) string {
		v, _ := jsonedit.Member(hook, name)
		return jsonedit.StringOf(v)
	}
	tool := text("tool")
	ours := slices.ContainsFunc(askingHooks(), func(q askingHook) bool { return q.tool == tool })
	if !ours || text("type") != "mcp_tool" || text("server") != claude.ServerName {
		return ""
	}
	return tool
}

// InstallAsking adds the hooks that ask before and after a clear to the file. They need the server:
// without it the agent shows an error at every clear.
func (s Settings) InstallAsking() (changed bool, err error) {
	return s.file().Put(func(d *jsonedit.Document, _ *jsonedit.Record) (made []string, err error) {
		for _, q := range askingHooks() {
			m, err := settingsDocument{d}.ensureQuestion(q)
			if err != nil {
				return nil, err
			}
			made = append(made, m...)
		}
		return made, nil
	})
}

// RemoveAsking removes these hooks and leaves the others.
func (s Settings) RemoveAsking() (changed bool, err error) {
	return s.file().TakeSome(func(d *jsonedit.Document, _ jsonedit.Record, mayGo func(string) bool) error {
		for _, q := range askingHooks() {
			err := settingsDocument{d}.removeEvent(q.event, func(h handler) bool { return h.tool != "" }, mayGo)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Asking returns the number of these hooks in the file, and whether all of them are there.
func (s Settings) Asking() (installed int, all bool, err error) {
	d, err := s.file().Read()
	if err != nil {
		return 0, false, err
	}
	for _, q := range askingHooks() {
		event, _ := d.Find("hooks", q.event)
		if slices.ContainsFunc(handlers(event), func(h handler) bool { return h.tool == q.tool }) {
			installed++
		}
	}
	return installed, installed == len(askingHooks()), nil
}

func (d settingsDocument) ensureQuestion(q askingHook) (made []string, err error) {
	made, err = d.Ensure([]string{"hooks", q.event})
	if err != nil {
		return nil, err
	}
	event, _ := d.Find("hooks", q.event)
	ours := slices.DeleteFunc(handlers(event), func(h handler) bool { return h.tool != q.tool })
	if len(ours) == 0 {
		handler := `{"type":"mcp_tool","server":` + jsonedit.Quote(claude.ServerName) + `,"tool":` + jsonedit.Quote(q.tool) +
			`,"input":` + q.input() + `,"timeout":` + strconv.Itoa(askSeconds) + `}`
		return made, d.Add(event, "", `{"matcher":`+jsonedit.Quote(askMatcher)+`,"hooks":[`+handler+`]}`)
	}
	for _, double := range slices.Backward(ours[1:]) {
		if err := d.removeHandler(q.event, double); err != nil {
			return nil, err
		}
	}
	// Update the input. Its other fields are the user's.
	input, ok := jsonedit.Member(ours[0].hook, "input")
	if !ok {
		return made, d.Add(ours[0].hook, "input", q.input())
	}
	if sameJSON(input, q.input()) {
		return made, nil
	}
	return made, d.Replace(input, q.input())
}

// sameJSON reports whether v equals compact, apart from its formatting.
func sameJSON(v hujson.Value, compact string) bool {
	v = v.Clone()
	v.Standardize()
	v.Minimize()
	var have, want map[string]any
	if json.Unmarshal(v.Pack(), &have) != nil || json.Unmarshal([]byte(compact), &want) != nil || len(have) != len(want) {
		return false
	}
	for name, value := range want {
		if have[name] != value {
			return false
		}
	}
	return true
}
