package agenthook

import (
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/seed-3aff656d/entire/internal/jsonedit"
	"github.com/seed-3aff656d/entire/session/agent"
)

// deniedRead prevents the agent from reading its own recorded transcripts into its context.
const deniedRead = "Read(./.entire/metadata/**)"

// ownVerb returns the verb of a hook command written by us or by the existing tool, also in the
// form for its own development.
func ownVerb(command string) (string, bool) {
	for _, program := range []string{
		"entire ",
		"go run ${CLAUDE_PROJECT_DIR}/cmd/entire/main.go ",
		`go run "${CLAUDE_PROJECT_DIR}"/cmd/entire/main.go `,
		"go run ./cmd/entire/main.go ",
	} {
		rest, ok := strings.CutPrefix(command, program)
		if !ok {
			continue
		}
		words := strings.Fields(rest)
		if len(words) < 3 || words[0] != "hooks" { //nolint:mnd // hooks, the agent, the verb
			continue
		}
		if _, known := agent.ByName(words[1]); known {
			return words[2], true
		}
	}
	return "", false
}

// handler is one of our hooks in the document: a command with its verb, or a question with the tool
// that asks it.
type handler struct {
	verb, tool string
	hook       hujson.Value // the JSON object
	command    hujson.Value // the JSON string in it
	group      int          // index in the event's array
	index      int          // index in the group's hooks, -1 if there is no group
}

// handlers returns our hooks among an event's groups. Values without the form of a group belong to
// another program and are skipped.
func handlers(event hujson.Value) []handler {
	var found []handler
	for g, group := range jsonedit.Elements(event) {
		hooks, grouped := jsonedit.Member(group, "hooks")
		if command, ok := flatCommand(group); ok && !grouped {
			if verb, ours := ownVerb(jsonedit.StringOf(command)); ours {
				found = append(found, handler{verb: verb, hook: group, command: command, group: g, index: -1})
			}
			continue
		}
		for i, hook := range jsonedit.Elements(hooks) {
			h := handler{hook: hook, group: g, index: i}
			h.command, _ = jsonedit.Member(hook, "command")
			h.verb, _ = ownVerb(jsonedit.StringOf(h.command))
			h.tool = ownTool(hook)
			if h.verb != "" || h.tool != "" {
				found = append(found, h)
			}
		}
	}
	return found
}

// flatCommand returns the command of a hook without a group.
func flatCommand(hook hujson.Value) (hujson.Value, bool) {
	for _, d := range dialects() {
		if !d.form.flat {
			continue
		}
		if command, ok := jsonedit.Member(hook, d.form.command); ok {
			return command, true
		}
	}
	return hujson.Value{}, false
}

// settingsDocument is a document with the agent's settings: its hooks, permissions and status line.
type settingsDocument struct{ *jsonedit.Document }

func (d settingsDocument) ensureEntry(in *dialect, e entry) (made []string, err error) {
	made, err = d.Ensure([]string{"hooks", e.event})
	if err != nil {
		return nil, err
	}
	event, _ := d.Find("hooks", e.event)
	ours := handlers(event)
	ours = slices.DeleteFunc(ours, func(h handler) bool { return h.verb != e.verb })
	if len(ours) == 0 {
		return made, d.Add(event, "", in.hook(e))
	}
	for _, double := range slices.Backward(ours[1:]) {
		if err := d.removeHandler(e.event, double); err != nil {
			return nil, err
		}
	}
	if err := d.ReplaceString(ours[0].command, in.command(e)); err != nil {
		return nil, err
	}
	// Add the time limit, unless the user has configured one.
	event, _ = d.Find("hooks", e.event)
	for _, h := range handlers(event) {
		_, isSet := jsonedit.Member(h.hook, in.form.timeout)
		if e.timeout == 0 || h.verb != e.verb || isSet {
			continue
		}
		if err := d.Add(h.hook, in.form.timeout, in.timeLimit(e)); err != nil {
			return nil, err
		}
		break
	}
	// The matcher of a hook that the existing tool installed is extended to all tools of the entry.
	// If the hook shares a group with another program's hook, it gets its own group.
	event, _ = d.Find("hooks", e.event)
	group := jsonedit.Elements(event)[ours[0].group]
	matcher, _ := jsonedit.Member(group, "matcher")
	literal, ok := matcher.Value.(hujson.Literal)
	if !ok || e.former == "" || literal.String() != e.former {
		return made, nil
	}
	if hooks, _ := jsonedit.Member(group, "hooks"); len(jsonedit.Elements(hooks)) == 1 {
		return made, d.ReplaceString(matcher, e.matcher)
	}
	if err := d.removeHandler(e.event, ours[0]); err != nil {
		return nil, err
	}
	event, _ = d.Find("hooks", e.event)
	return made, d.Add(event, "", in.hook(e))
}

func deniedAt(deny hujson.Value) int {
	return slices.IndexFunc(jsonedit.Elements(deny), func(v hujson.Value) bool {
		return jsonedit.StringOf(v) == deniedRead
	})
}

// removeHandler removes a hook, and its group if it has no other hook.
func (d settingsDocument) removeHandler(event string, h handler) error {
	groups, _ := d.Find("hooks", event)
	hooks, _ := jsonedit.Member(jsonedit.Elements(groups)[h.group], "hooks")
	if h.index < 0 || len(jsonedit.Elements(hooks)) == 1 {
		return d.Remove(groups, h.group)
	}
	return d.Remove(hooks, h.index)
}

// removeEvent removes our hooks that which selects from an event.
func (d settingsDocument) removeEvent(event string, which func(handler) bool, mayGo func(string) bool) error {
	groups, _ := d.Find("hooks", event)
	ours := slices.DeleteFunc(handlers(groups), func(h handler) bool { return !which(h) })
	for _, h := range slices.Backward(ours) {
		if err := d.removeHandler(event, h); err != nil {
			return err
		}
	}
	if len(ours) == 0 {
		return nil
	}
	return d.RemoveEmpty(mayGo, "hooks", event)
}
