package agenthook

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed-3aff656d/entire/session/agent"
)

// dialect is what the hooks of one agent have of their own. Each is a function in a file of
// the agent's name, listed in dialects; everything else in this package is the same for all.
type dialect struct {
	agent agent.Agent
	// files are the settings files in a worktree, the project's first. A second one is the
	// user's own.
	files [][]string
	// user is the settings file that counts in every project.
	user userFile
	// entries are the hooks that Install maintains, form how they are written.
	entries []entry
	form    form
	// plugin reports that the agent loads a plugin, in place of hooks in settings. It calls
	// the verbs of entries.
	plugin bool
	reply  reply
	// servers is where a project lists MCP servers.
	servers serverList
	// verbs are names of ours for the agent's own verbs, "" for one that does nothing.
	verbs map[string]string

	// read gives a payload the meaning that Claude Code's has. data is the payload as it
	// came. It returns false if nothing has happened that concerns the session.
	read func(p *Payload, verb string, data []byte) bool
	// await waits until the transcript has what happened before the hook was called; nil if
	// the agent writes it before.
	await func(ctx context.Context, p *Payload)
	// trust reads from the agent's settings whether it runs the hooks of a file; nil if it
	// asks about nothing. trustNote is what it asks of the user, "" for nothing. trustsUser
	// reports that it runs the hooks in the UserFile without asking.
	trust      func(t trusting) Trust
	trustNote  string
	trustsUser bool
	// shared reports that other agents run the hooks in these files, too; runsShared is
	// such an agent.
	shared, runsShared bool
	// hookMark is a variable that the agent sets for hooks, if that isn't the one of its shell.
	hookMark string
	// argument follows the verb in commands.
	argument string
}

// userFile is a path in the agent's folder, or in the folder of all programs' configurations.
type userFile struct {
	path     []string
	inConfig bool
}

// UserArgument is the argument that the hooks in a UserFile have. Where a project has hooks of
// its own the agent runs both, and those with the argument are to do nothing.
const UserArgument = "--user"

// form is how an agent's settings list a hook.
type form struct {
	// version is the value of a member that the settings need, "" for none.
	version string
	// flat hooks are elements of the event's array, others are in a group with a matcher.
	flat bool
	// command and timeout are the members with the command and the time limit; a limit is a
	// number of units.
	command, timeout string
	unit             time.Duration
	// anyMatcher reports that a group for all tools has a matcher, too. named hooks have a name.
	anyMatcher, named bool
}

// grouped is the form of Claude Code's hooks, which others took over.
func grouped() form { return form{command: "command", timeout: "timeout", unit: time.Second} }

// reply is what an agent accepts as the output of a hook.
type reply struct {
	// silent agents show no message. direct ones take the context without an object around it.
	silent, direct bool
	// snake reports that the member of the context has underscores in its name.
	snake bool
	// raw reports that text which is no JSON is printed as it is.
	raw bool
}

// dialects returns those of all agents, the default's first.
var dialects = sync.OnceValue(func() []dialect { //nolint:gochecknoglobals // made once, when it is needed
	return []dialect{claudeCode(), codex(), copilot(), cursor(), gemini(), openCode(), pi(), qwen()}
})

// dialectOf returns an agent's. The zero agent is Claude Code.
func dialectOf(a agent.Agent) dialect {
	all := dialects()
	for _, d := range all {
		if d.agent.Name == a.Name {
			return d
		}
	}
	return all[0]
}

// Verb returns our name for what an agent's hook calls, "" for what does nothing.
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

// UserFile returns the settings file of an agent that counts in every project of the user whose
// home directory is home, empty if it can't be found.
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

// HasPersonalFile reports whether the agent has a settings file in the worktree that is
// the user's own.
func HasPersonalFile(a agent.Agent) bool { return len(dialectOf(a).files) > 1 }

// IsForeign reports whether a hook that is installed for an agent was run by another one,
// with session ids of its own.
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

// AwaitTranscript waits, for a second at most, until the transcript has what happened
// before the hook was called.
func (p *Payload) AwaitTranscript(ctx context.Context, a agent.Agent) {
	if await := dialectOf(a).await; await != nil && p.Transcript != "" {
		await(ctx, p)
	}
}

// ofSession reports whether an event concerns the session itself, and not one of its
// subagents, or a prompt that nobody typed.
func (p *Payload) ofSession(verb string) bool {
	switch verb {
	case "user-prompt-submit":
		return p.AgentID == "" && strings.TrimSpace(p.Prompt) != ""
	case "session-start", "session-end", "stop", "stop-failure", "pre-compact", "post-compact":
		return p.AgentID == ""
	}
	return true
}
