package claude

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/seed-3aff656d/entire/session/agent"
)

// entry is one hook of ours: the agent's event, the verb it calls and the tools
// that it is for. former is the matcher that the existing tool writes, timeout
// the seconds that the agent is configured to give it, 0 for those that it gives.
type entry struct {
	agent                        agent.Agent
	event, verb, matcher, former string
	timeout                      int
}

// endTimeout is asked for the end of a session, for which the agent gives 1.5 s
// by itself. Ours ends sooner; what matters is that it is not stopped on a slow
// day.
const endTimeout = 10

// entries are the hooks that Install maintains for Claude Code.
func entries() []entry {
	return []entry{
		{event: "SessionStart", verb: "session-start"},
		{event: "SessionStart", verb: "session-brief"},
		{event: "SessionEnd", verb: "session-end", timeout: endTimeout},
		{event: "Stop", verb: "stop"},
		{event: "StopFailure", verb: "stop-failure"},
		{event: "UserPromptSubmit", verb: "user-prompt-submit"},
		{event: "PreToolUse", verb: "pre-task", matcher: "Task|Agent", former: "Task"},
		{event: "PostToolUse", verb: "post-task", matcher: "Task|Agent", former: "Task"},
		{event: "PostToolUse", verb: "post-todo", matcher: "TodoWrite|TaskUpdate", former: "TodoWrite"},
		{event: "SubagentStop", verb: "subagent-stop"},
		{event: "PreCompact", verb: "pre-compact"},
		{event: "PostCompact", verb: "post-compact"},
	}
}

// deniedRead keeps the agent from reading its own recorded transcripts back
// into its context.
const deniedRead = "Read(./.entire/metadata/**)"

// command is what the agent runs: silent and successful without the binary,
// and never with an exit status, since 2 would block the agent.
func (e entry) command() string {
	return "entire hooks " + e.agent.Name + " " + e.verb + " 2>/dev/null || true"
}

// group is the entry as compact JSON.
func (e entry) group() string {
	timeout := ""
	if e.timeout > 0 {
		timeout = "," + quote(e.timeoutKey()) + ":" + strconv.Itoa(e.timeout)
	}
	if isCopilot(e.agent) {
		return `{"type":"command","bash":` + quote(e.command()) + timeout + `}`
	}
	matcher := ""
	if e.matcher != "" || isClaude(e.agent) {
		matcher = `"matcher":` + quote(e.matcher) + `,`
	}
	return `{` + matcher + `"hooks":[{"type":"command","command":` + quote(e.command()) + timeout + `}]}`
}

func (e entry) timeoutKey() string {
	if isCopilot(e.agent) {
		return "timeoutSec"
	}
	return "timeout"
}

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
	for g, group := range elements(event) {
		hooks, grouped := member(group, "hooks")
		if command, ok := member(group, "bash"); ok && !grouped {
			if verb, ours := ownVerb(stringOf(command)); ours {
				found = append(found, handler{verb: verb, hook: group, command: command, group: g, index: -1})
			}
			continue
		}
		for i, hook := range elements(hooks) {
			h := handler{hook: hook, group: g, index: i}
			h.command, _ = member(hook, "command")
			h.verb, _ = ownVerb(stringOf(h.command))
			h.tool = ownTool(hook)
			if h.verb != "" || h.tool != "" {
				found = append(found, h)
			}
		}
	}
	return found
}

// stringOf is the string that v is, or empty.
func stringOf(v hujson.Value) string {
	if literal, ok := v.Value.(hujson.Literal); ok && literal.Kind() == '"' {
		return literal.String()
	}
	return ""
}

func elements(v hujson.Value) []hujson.Value {
	if array, ok := v.Value.(*hujson.Array); ok {
		return array.Elements
	}
	return nil
}

// installEntries puts what is missing into the document and brings what an
// older version wrote up to date. It returns the objects and arrays that it
// had to make, by path.
func installEntries(doc *document, a agent.Agent) (made []string, err error) {
	d := settingsDocument{doc}
	if _, ok := d.find("version"); isCopilot(a) && !ok {
		if err := d.add(d.root, "version", "1"); err != nil {
			return nil, err
		}
	}
	for _, e := range entriesOf(a) {
		m, err := d.ensureEntry(e)
		if err != nil {
			return nil, err
		}
		made = append(made, m...)
	}
	if !isClaude(a) {
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
type settingsDocument struct{ *document }

func (d settingsDocument) ensureEntry(e entry) (made []string, err error) {
	made, err = d.ensure([]string{"hooks", e.event})
	if err != nil {
		return nil, err
	}
	event, _ := d.find("hooks", e.event)
	ours := handlers(event)
	ours = slices.DeleteFunc(ours, func(h handler) bool { return h.verb != e.verb })
	if len(ours) == 0 {
		return made, d.add(event, "", e.group())
	}
	for _, double := range slices.Backward(ours[1:]) {
		if err := d.removeHandler(e.event, double); err != nil {
			return nil, err
		}
	}
	if err := d.replaceString(ours[0].command, e.command()); err != nil {
		return nil, err
	}
	if err := d.ensureTimeout(e); err != nil {
		return nil, err
	}
	return made, d.ensureMatcher(e, ours[0])
}

// ensureTimeout configures the time that the entry needs, unless the user has
// configured another.
func (d settingsDocument) ensureTimeout(e entry) error {
	if e.timeout == 0 {
		return nil
	}
	event, _ := d.find("hooks", e.event)
	for _, h := range handlers(event) {
		if _, said := member(h.hook, e.timeoutKey()); h.verb == e.verb && !said {
			return d.add(h.hook, e.timeoutKey(), strconv.Itoa(e.timeout))
		}
	}
	return nil
}

func (d *document) replaceString(v hujson.Value, text string) error {
	if literal, ok := v.Value.(hujson.Literal); ok && literal.String() == text {
		return nil
	}
	return d.apply(replacement{v.StartOffset, v.EndOffset, quote(text)})
}

// ensureMatcher extends the matcher of a hook that the existing tool installed to all
// tools that it is for. Where it shares a group with another program's hook it gets its own.
func (d settingsDocument) ensureMatcher(e entry, h handler) error {
	event, _ := d.find("hooks", e.event)
	group := elements(event)[h.group]
	matcher, _ := member(group, "matcher")
	literal, ok := matcher.Value.(hujson.Literal)
	if !ok || e.former == "" || literal.String() != e.former {
		return nil
	}
	if hooks, _ := member(group, "hooks"); len(elements(hooks)) == 1 {
		return d.replaceString(matcher, e.matcher)
	}
	if err := d.removeHandler(e.event, h); err != nil {
		return err
	}
	event, _ = d.find("hooks", e.event)
	return d.add(event, "", e.group())
}

func (d settingsDocument) ensureDenied() (made []string, err error) {
	made, err = d.ensure([]string{"permissions", "deny"})
	if err != nil {
		return nil, err
	}
	deny, _ := d.find("permissions", "deny")
	if deniedAt(deny) >= 0 {
		return made, nil
	}
	return append(made, deniedRead), d.add(deny, "", quote(deniedRead))
}

func deniedAt(deny hujson.Value) int {
	return slices.IndexFunc(elements(deny), func(v hujson.Value) bool {
		return stringOf(v) == deniedRead
	})
}

// ensure makes the object path[0] and in it the array path[1] where they are
// missing, and returns the paths of those it made.
func (d *document) ensure(path []string) (made []string, err error) {
	outer, made, err := d.ensureObject(path[0])
	if err != nil {
		return nil, err
	}
	inner, ok := member(outer, path[1])
	if !ok {
		return append(made, path[0]+"."+path[1]), d.add(outer, path[1], "[]")
	}
	if _, ok := inner.Value.(*hujson.Array); !ok {
		return nil, d.errorAt(inner.StartOffset, quote(path[0]+"."+path[1])+" is not an array")
	}
	return made, nil
}

// ensureObject makes the object called name where it is missing.
func (d *document) ensureObject(name string) (v hujson.Value, made []string, err error) {
	v, ok := member(d.root, name)
	if !ok {
		if err := d.add(d.root, name, "{}"); err != nil {
			return v, nil, err
		}
		made = []string{name}
		v, _ = d.find(name)
	}
	if _, ok := v.Value.(*hujson.Object); !ok {
		return v, nil, d.errorAt(v.StartOffset, quote(name)+" is not an object")
	}
	return v, made, nil
}

func (d *document) find(path ...string) (hujson.Value, bool) {
	v := d.root
	for _, name := range path {
		next, ok := member(v, name)
		if !ok {
			return v, false
		}
		v = next
	}
	return v, true
}

// removeHandler takes a hook out, and its group with it if it was alone there.
func (d settingsDocument) removeHandler(event string, h handler) error {
	groups, _ := d.find("hooks", event)
	hooks, _ := member(elements(groups)[h.group], "hooks")
	if h.index < 0 || len(elements(hooks)) == 1 {
		return d.remove(groups, h.group)
	}
	return d.remove(hooks, h.index)
}

func (d settingsDocument) removeDenied(mayGo func(string) bool) error {
	deny, ok := d.find("permissions", "deny")
	index := deniedAt(deny)
	if !ok || index < 0 || !mayGo(deniedRead) {
		return nil
	}
	if err := d.remove(deny, index); err != nil {
		return err
	}
	return d.removeEmpty(mayGo, "permissions", "deny")
}

// removeEvent takes those hooks of ours out of an event that which names.
func (d settingsDocument) removeEvent(event string, which func(handler) bool, mayGo func(string) bool) error {
	groups, _ := d.find("hooks", event)
	ours := slices.DeleteFunc(handlers(groups), func(h handler) bool { return !which(h) })
	for _, h := range slices.Backward(ours) {
		if err := d.removeHandler(event, h); err != nil {
			return err
		}
	}
	if len(ours) == 0 {
		return nil
	}
	return d.removeEmpty(mayGo, "hooks", event)
}

// removeEmpty removes the array outer.inner if it is empty now, then outer.
func (d *document) removeEmpty(mayGo func(string) bool, outer, inner string) error {
	for _, path := range [][]string{{outer, inner}, {outer}} {
		v, ok := d.find(path...)
		if !ok || len(listOf(v).items) > 0 || !mayGo(strings.Join(path, ".")) {
			return nil
		}
		parent, _ := d.find(path[:len(path)-1]...)
		if err := d.removeValue(parent, v); err != nil {
			return err
		}
	}
	return nil
}

// removeValue takes v out of the object that it is in.
func (d *document) removeValue(parent, v hujson.Value) error {
	return d.remove(parent, slices.IndexFunc(listOf(parent).items, func(it item) bool { return it.value.StartOffset == v.StartOffset }))
}

func memberNames(v hujson.Value) []string {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	var names []string
	for _, m := range object.Members {
		if literal, ok := m.Name.Value.(hujson.Literal); ok && !slices.Contains(names, literal.String()) {
			names = append(names, literal.String())
		}
	}
	return names
}
