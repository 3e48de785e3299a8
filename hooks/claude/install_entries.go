package claude

import (
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// entry is one hook of ours: the agent's event, the verb it calls and the tools
// that it is for. former is the matcher that the existing tool writes.
type entry struct{ event, verb, matcher, former string }

// entries are the hooks that Install sees to.
func entries() []entry {
	return []entry{
		{event: "SessionStart", verb: "session-start"},
		{event: "SessionEnd", verb: "session-end"},
		{event: "Stop", verb: "stop"},
		{event: "StopFailure", verb: "stop-failure"},
		{event: "UserPromptSubmit", verb: "user-prompt-submit"},
		{event: "PreToolUse", verb: "pre-task", matcher: "Task|Agent", former: "Task"},
		{event: "PostToolUse", verb: "post-task", matcher: "Task|Agent", former: "Task"},
		{event: "PostToolUse", verb: "post-todo", matcher: "TodoWrite|TaskUpdate", former: "TodoWrite"},
		{event: "SubagentStop", verb: "subagent-stop"},
	}
}

// deniedRead keeps the agent from reading its own recorded transcripts back
// into its context.
const deniedRead = "Read(./.entire/metadata/**)"

// command is what the agent runs: silent and successful without the binary,
// and never with an exit status, since 2 would block the agent.
func (e entry) command() string {
	return "entire hooks claude-code " + e.verb + " 2>/dev/null || true"
}

// group is the entry as compact JSON.
func (e entry) group() string {
	return `{"matcher":` + quote(e.matcher) + `,"hooks":[{"type":"command","command":` + quote(e.command()) + `}]}`
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
		if len(words) >= 3 && words[0] == "hooks" && words[1] == "claude-code" {
			return words[2], true
		}
	}
	return "", false
}

// handler is a hook command of ours in the document.
type handler struct {
	verb    string
	command hujson.Value // its string
	group   int          // index in the event's array
	index   int          // index in the group's hooks
}

// handlers returns the hooks of ours among an event's groups. What isn't
// shaped like a group is somebody else's and is passed over.
func handlers(event hujson.Value) []handler {
	var found []handler
	for g, group := range elements(event) {
		hooks, _ := member(group, "hooks")
		for i, hook := range elements(hooks) {
			command, _ := member(hook, "command")
			literal, ok := command.Value.(hujson.Literal)
			if !ok {
				continue
			}
			if verb, ok := ownVerb(literal.String()); ok {
				found = append(found, handler{verb: verb, command: command, group: g, index: i})
			}
		}
	}
	return found
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
func installEntries(d *document) (made []string, err error) {
	for _, e := range entries() {
		m, err := d.ensureEntry(e)
		if err != nil {
			return nil, err
		}
		made = append(made, m...)
	}
	m, err := d.ensureDenied()
	return append(made, m...), err
}

func (d *document) ensureEntry(e entry) (made []string, err error) {
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
	return made, d.ensureMatcher(e, ours[0])
}

func (d *document) replaceString(v hujson.Value, text string) error {
	if literal, ok := v.Value.(hujson.Literal); ok && literal.String() == text {
		return nil
	}
	return d.apply(replacement{v.StartOffset, v.EndOffset, quote(text)})
}

// ensureMatcher lets a hook that the existing tool installed see all the tools
// that it is for. Where it shares a group with somebody else's it gets its own.
func (d *document) ensureMatcher(e entry, h handler) error {
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

func (d *document) ensureDenied() (made []string, err error) {
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
		literal, ok := v.Value.(hujson.Literal)
		return ok && literal.Kind() == '"' && literal.String() == deniedRead
	})
}

// ensure makes the object path[0] and in it the array path[1] where they are
// missing, and returns the paths of those it made.
func (d *document) ensure(path []string) (made []string, err error) {
	outer, ok := member(d.root, path[0])
	if !ok {
		if err := d.add(d.root, path[0], "{}"); err != nil {
			return nil, err
		}
		made = append(made, path[0])
		outer, _ = d.find(path[0])
	}
	if _, ok := outer.Value.(*hujson.Object); !ok {
		return nil, d.errorAt(outer.StartOffset, quote(path[0])+" is not an object")
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
func (d *document) removeHandler(event string, h handler) error {
	groups, _ := d.find("hooks", event)
	hooks, _ := member(elements(groups)[h.group], "hooks")
	if len(elements(hooks)) == 1 {
		return d.remove(groups, h.group)
	}
	return d.remove(hooks, h.index)
}

// removeEntries takes everything of ours out of the document, the existing
// tool's hooks included. made tells which objects and arrays installing had
// made; without a record (nil) those that become empty go too.
func removeEntries(d *document, made []string, recorded bool) error {
	mayGo := func(path string) bool { return !recorded || slices.Contains(made, path) }
	hooks, _ := d.find("hooks")
	for _, event := range memberNames(hooks) {
		if err := d.removeEvent(event, mayGo); err != nil {
			return err
		}
	}
	return d.removeDenied(mayGo)
}

func (d *document) removeDenied(mayGo func(string) bool) error {
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

func (d *document) removeEvent(event string, mayGo func(string) bool) error {
	groups, _ := d.find("hooks", event)
	ours := handlers(groups)
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
		index := slices.IndexFunc(listOf(parent).items, func(it item) bool { return it.value.StartOffset == v.StartOffset })
		if err := d.remove(parent, index); err != nil {
			return err
		}
	}
	return nil
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
