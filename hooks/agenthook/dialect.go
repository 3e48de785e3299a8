package agenthook

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed-3aff656d/entire/session/agent"
)

// dialect describes the hooks of one agent. Each is a function in a file named after the agent,
// listed in dialects. The rest of this package is common to all agents.
type dialect struct {
	agent agent.Agent
	// files are the settings files in a worktree, the project's first. A second one is the user's
	// own.
	files [][]string
	// user is the settings file that applies to every project.
	user userFile
	// entries are the hooks that Install maintains, form is their form in the settings.
	entries []entry
	form    form
	// plugin reports that the agent loads a plugin instead of hooks in settings. The plugin calls
	// the verbs of entries.
	plugin bool
	reply  reply
	// servers describes where a project lists MCP servers.
	servers serverList
	// verbs maps the agent's own verbs to ours, "" for one that does nothing.
	verbs map[string]string

	// read converts a payload to Claude Code's form. data is the payload as received. It returns
	// false if the event doesn't concern the session.
	read func(p *Payload, verb string, data []byte) bool
	// await waits until the transcript contains the events before the call of the hook; nil if the
	// agent writes them earlier.
	await func(ctx context.Context, p *Payload)
	// trust reads from the agent's settings whether it runs the hooks of a file; nil if it doesn't
	// ask the user. trustNote describes what it asks of the user, "" for nothing. trustsUser
	// reports that it runs the hooks in the UserFile without asking.
	trust      func(t trusting) Trust
	trustNote  string
	trustsUser bool
	// shared reports that other agents run the hooks in these files, too; runsShared marks such an
	// agent.
	shared, runsShared bool
	// hookMark is a variable that the agent sets for hooks, if it differs from that of its shell.
	hookMark string
	// atPrompt reports that a line about a file is given with a prompt: see GivesAtPrompt.
	atPrompt bool
	// argument follows the verb in commands.
	argument string
}

// userFile is a path in the agent's folder, or in the folder of all programs' configurations.
type userFile struct {
	path     []string
	inConfig bool
}

// UserArgument is the argument of the hooks in a UserFile. If a project has hooks of its own, the
// agent runs both, and those with the argument must do nothing.
const UserArgument = "--user"

// form describes how an agent's settings list a hook.
type form struct {
	// version is the value of the member "version" if the settings need it, else "".
	version string
	// flat hooks are elements of the event's array; others are in a group with a matcher.
	flat bool
	// command and timeout are the names of the members with the command and the time limit, which
	// is a number of units.
	command, timeout string
	unit             time.Duration
	// anyMatcher reports that a group for all tools needs a matcher, too. named hooks have a name.
	anyMatcher, named bool
}

// grouped returns the form of Claude Code's hooks, which other agents have adopted.
func grouped() form { return form{command: "command", timeout: "timeout", unit: time.Second} }

// reply describes the output that an agent accepts from a hook.
type reply struct {
	// silent agents show no message. direct ones take the context without an enclosing object.
	silent, direct bool
	// snake reports that the name of the context's member has underscores.
	snake bool
	// raw reports that text other than JSON is printed unchanged.
	raw bool
}

// dialects returns the dialects of all agents, the default's first.
var dialects = sync.OnceValue(func() []dialect { //nolint:gochecknoglobals // made once, when it is needed
	return []dialect{claudeCode(), codex(), copilot(), cursor(), gemini(), openCode(), pi(), qwen()}
})

// dialectOf returns the dialect of an agent. The zero agent is Claude Code.
func dialectOf(a agent.Agent) dialect {
	all := dialects()
	for _, d := range all {
		if d.agent.Name == a.Name {
			return d
		}
	}
	return all[0]
}

// Verb returns our verb for the name that an agent's hook calls, "" if it does nothing.
func Verb(a agent.Agent, name string) string {
	if verb, known := dialectOf(a).verbs[name]; known {
		return verb
	}
	return name
}

// Files returns the settings files of an agent in a worktree, the project's first.
func Files(a agent.Agent, root string) []string {
	files := dialectOf(a).files
	paths := make([]string, len(files))
	for i, words := range files {
		paths[i] = filepath.Join(append([]string{root}, words...)...)
	}
	return paths
}

// UserFile returns the settings file of an agent that applies to every project of the user with the
// home directory home, empty if unknown.
func UserFile(a agent.Agent, getenv func(string) string, home string) string {
	file := dialectOf(a).user
	dir := a.Home(getenv, home)
	if file.inConfig {
		if dir = getenv("XDG_CONFIG_HOME"); !filepath.IsAbs(dir) && home != "" {
			dir = filepath.Join(home, ".config")
		}
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(append([]string{dir}, file.path...)...)
}

// HasPersonalFile reports whether the agent has a settings file in the worktree that is the user's
// own.
func HasPersonalFile(a agent.Agent) bool { return len(dialectOf(a).files) > 1 }

// IsForeign reports whether a hook that was installed for agent a is being run by another agent,
// which has its own session ids.
func IsForeign(a agent.Agent, getenv func(string) string) bool {
	own := dialectOf(a)
	if !own.shared || own.agent.Calls(getenv) {
		return false
	}
	for _, d := range dialects() {
		if d.runsShared && (d.agent.Calls(getenv) || d.hookMark != "" && getenv(d.hookMark) != "") {
			return true
		}
	}
	return false
}

// AwaitTranscript waits, for at most a second, until the transcript contains the events before the
// call of the hook.
func (p *Payload) AwaitTranscript(ctx context.Context, a agent.Agent) {
	if await := dialectOf(a).await; await != nil && p.Transcript != "" {
		await(ctx, p)
	}
}

// ofSession reports whether an event concerns the session itself, not a subagent, and is not a
// prompt without text.
func (p *Payload) ofSession(verb string) bool {
	switch verb {
	case "user-prompt-submit":
		return p.AgentID == "" && strings.TrimSpace(p.Prompt) != ""
	case "session-start", "session-end", "stop", "stop-failure", "pre-compact", "post-compact":
		return p.AgentID == ""
	}
	return true
}
