package agenthook

import (
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/seed-3aff656d/entire/internal/jsonedit"
	"github.com/seed-3aff656d/entire/session/agent"
)

// deniedRead keeps the agent from reading its own recorded transcripts back
// into its context.
const deniedRead = "Read(./.entire/metadata/**)"

// ownVerb returns the verb of a hook command that we or the existing tool
// wrote, its form for its own development included.
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

// handler is a hook of ours in the document: a command with its verb, or a
// question with the tool that asks it.
type handler struct {
	verb, tool string
	hook       hujson.Value // the object
	command    hujson.Value // its string
	group      int          // index in the event's array
	index      int          // index in the group's hooks, -1 where it is in no group
}

// handlers returns the hooks of ours among an event's groups. What isn't
// shaped like a group belongs to another program and is skipped.
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

// flatCommand returns the command of a hook that is in no group.
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

// installEntries puts what is missing into the document and brings what an
// older version wrote up to date. It returns the objects and arrays that it
// had to make, by path.
func installEntries(doc *jsonedit.Document, in dialect) (made []string, err error) {
	d := settingsDocument{doc}
	if _, ok := d.Find("version"); in.form.version != "" && !ok {
		if err := d.Add(d.Root(), "version", in.form.version); err != nil {
			return nil, err
		}
	}
	for _, e := range in.entries {
		m, err := d.ensureEntry(&in, e)
		if err != nil {
			return nil, err
		}
		made = append(made, m...)
	}
	if in.agent.Name != agent.ClaudeCode().Name {
		return made, nil
	}
	if err := d.renewAsking(); err != nil {
		return nil, err
	}
	m, err := d.ensureDenied()
	return append(made, m...), err
}

// settingsDocument is a document with the agent's settings: its hooks, permissions and
// status line.
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
	if err := d.ensureTimeout(in, e); err != nil {
		return nil, err
	}
	return made, d.ensureMatcher(in, e, ours[0])
}

// ensureTimeout configures the time that the entry needs, unless the user has
// configured another.
func (d settingsDocument) ensureTimeout(in *dialect, e entry) error {
	if e.timeout == 0 {
		return nil
	}
	event, _ := d.Find("hooks", e.event)
	for _, h := range handlers(event) {
		if _, said := jsonedit.Member(h.hook, in.form.timeout); h.verb == e.verb && !said {
			return d.Add(h.hook, in.form.timeout, in.timeLimit(e))
		}
	}
	return nil
}

// ensureMatcher extends the matcher of a hook that the existing tool installed to all
// tools that it is for. Where it shares a group with another program's hook it gets its own.
func (d settingsDocument) ensureMatcher(in *dialect, e entry, h handler) error {
	event, _ := d.Find("hooks", e.event)
	group := jsonedit.Elements(event)[h.group]
	matcher, _ := jsonedit.Member(group, "matcher")
	literal, ok := matcher.Value.(hujson.Literal)
	if !ok || e.former == "" || literal.String() != e.former {
		return nil
	}
	if hooks, _ := jsonedit.Member(group, "hooks"); len(jsonedit.Elements(hooks)) == 1 {
		return d.ReplaceString(matcher, e.matcher)
	}
	if err := d.removeHandler(e.event, h); err != nil {
		return err
	}
	event, _ = d.Find("hooks", e.event)
	return d.Add(event, "", in.hook(e))
}

func (d settingsDocument) ensureDenied() (made []string, err error) {
	made, err = d.Ensure([]string{"permissions", "deny"})
	if err != nil {
		return nil, err
	}
	deny, _ := d.Find("permissions", "deny")
	if deniedAt(deny) >= 0 {
		return made, nil
	}
	return append(made, deniedRead), d.Add(deny, "", jsonedit.Quote(deniedRead))
}

func deniedAt(deny hujson.Value) int {
	return slices.IndexFunc(jsonedit.Elements(deny), func(v hujson.Value) bool {
		return jsonedit.StringOf(v) == deniedRead
	})
}

// removeHandler takes a hook out, and its group with it if it was alone there.
func (d settingsDocument) removeHandler(event string, h handler) error {
	groups, _ := d.Find("hooks", event)
	hooks, _ := jsonedit.Member(jsonedit.Elements(groups)[h.group], "hooks")
	if h.index < 0 || len(jsonedit.Elements(hooks)) == 1 {
		return d.Remove(groups, h.group)
	}
	return d.Remove(hooks, h.index)
}

func (d settingsDocument) removeDenied(mayGo func(string) bool) error {
	deny, ok := d.Find("permissions", "deny")
	index := deniedAt(deny)
	if !ok || index < 0 || !mayGo(deniedRead) {
		return nil
	}
	if err := d.Remove(deny, index); err != nil {
		return err
	}
	return d.RemoveEmpty(mayGo, "permissions", "deny")
}

// removeEvent takes those hooks of ours out of an event that which names.
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
