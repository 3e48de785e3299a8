// Package agent describes the coding agents that are recorded: their names, how processes started
// by them are recognized, where they keep transcripts, and how a session is continued.
//
// It is a table. The hooks of the agents are in package agenthook, the forms of their transcripts
// in package forms. Other packages name an agent only for features that only Claude Code has.
package agent

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Agent is a coding agent. The zero value is no agent.
type Agent struct {
	// Name is the agent's name on command lines and in settings, Label its name in metadata and
	// messages, Program the name of its executable.
	Name, Label, Program string
	// NamesLate reports that hook payloads don't name the transcript before the end of a turn.
	NamesLate bool
	// NotesSubagents reports that subagents are known from the transcript, as no hook reports them.
	NotesSubagents bool
	// KeepsConversation reports that the agent continues, or may continue, with the whole
	// conversation after its transcript was truncated.
	KeepsConversation bool
	// ProcessVariable is the environment variable of hooks with the agent's process id, "" if none.
	ProcessVariable string
	// Limits are descriptions of the features that don't work with the agent.
	Limits []string

	mark    mark
	home    home
	layout  layout
	resume  []string // the arguments before the session's id
	project string   // the variable that overrides the folder of a project's transcripts
}

// mark holds the environment variables that identify children of an agent's shell.
type mark struct {
	// name is a variable that the agent sets to value, or to anything if value is empty.
	name, value string
	// session is the variable with the id of the session. If otherInSubagents is true, it may be
	// the id of a subagent instead.
	session          string
	otherInSubagents bool
}

// home is the folder of an agent: the value of variable if set, with the folder below it if there is
// one, else name in the home directory.
type home struct{ variable, name, below string }

// layout is how an agent arranges the transcripts of a project in its folder.
type layout int

const (
	bySlug             layout = iota // projects/SLUG/ID.jsonl
	inChats                          // projects/SLUG/chats/ID.jsonl
	byDate                           // sessions/YEAR/MONTH/DAY/rollout-TIME-ID.jsonl
	inFolders                        // session-state/ID/events.jsonl
	byPath                           // sessions/--PATH--/TIME_ID.jsonl
	inAgentTranscripts               // projects/SLUG/agent-transcripts/ID.jsonl or ID/ID.jsonl
	inRecords                        // ID.jsonl in a folder of this program: the agent has a database
	byName                           // tmp/NAME/chats/session-MINUTE-ID8.jsonl, NAME by projects.json
)

const (
	noQuestion  = "no question before /clear"
	noSubagents = "subagents' conversations aren't stored"
)

// ClaudeCode returns the agent of Anthropic. It is the default.
func ClaudeCode() Agent {
	return Agent{
		Name: "claude-code", Label: "Claude Code", Program: "claude", ProcessVariable: "CLAUDE_PID",
		mark:   mark{name: "CLAUDECODE", value: "1", session: "CLAUDE_CODE_SESSION_ID"},
		home:   home{variable: "CLAUDE_CONFIG_DIR", name: ".claude"},
		layout: bySlug, resume: []string{"-r"}, project: "ENTIRE_TEST_CLAUDE_PROJECT_DIR",
	}
}

// Codex returns the agent of OpenAI.
func Codex() Agent {
	return Agent{
		Name: "codex", Label: "Codex", Program: "codex",
		NotesSubagents: true, Limits: []string{noQuestion},
		mark:   mark{name: "CODEX_SESSION_ID", session: "CODEX_SESSION_ID"},
		home:   home{variable: "CODEX_HOME", name: ".codex"},
		layout: byDate, resume: []string{"resume"},
	}
}

// Copilot returns the agent of GitHub.
func Copilot() Agent {
	return Agent{
		Name: "copilot", Label: "Copilot CLI", Program: "copilot",
		NamesLate: true, Limits: []string{noQuestion},
		mark:   mark{name: "COPILOT_CLI", value: "1", session: "COPILOT_AGENT_SESSION_ID", otherInSubagents: true},
		home:   home{variable: "COPILOT_HOME", name: ".copilot"},
		layout: inFolders, resume: []string{"--resume="},
	}
}

// Cursor returns the agent of Anysphere, in its editor and its command line.
func Cursor() Agent {
	return Agent{
		Name: "cursor", Label: "Cursor", Program: "cursor-agent",
		NamesLate: true, KeepsConversation: true, Limits: []string{"from documentation, not tried", "no tokens", noQuestion, noSubagents, "no rewind of conversations"},
		mark:   mark{name: "CURSOR_AGENT", value: "1"},
		home:   home{name: ".cursor"},
		layout: inAgentTranscripts, resume: []string{"--resume"},
	}
}

// Gemini returns the agent of Google.
func Gemini() Agent {
	return Agent{
		Name: "gemini", Label: "Gemini CLI", Program: "gemini",
		NotesSubagents: true,
		Limits:         []string{noQuestion, "git hooks don't run in its shell: links are kept beside its commits"},
		mark:           mark{name: "GEMINI_CLI", value: "1"},
		home:           home{name: ".gemini"},
		layout:         byName, resume: []string{"--resume"}, project: "ENTIRE_TEST_GEMINI_PROJECT_DIR",
	}
}

// OpenCode returns the agent of Anomaly. Our plugin passes the session's id to its shell.
func OpenCode() Agent {
	return Agent{
		Name: "opencode", Label: "OpenCode", Program: "opencode",
		Limits: []string{noQuestion},
		mark:   mark{name: "OPENCODE", value: "1", session: "OPENCODE_SESSION_ID"},
		home:   home{variable: "XDG_DATA_HOME", below: "opencode", name: filepath.Join(".local", "share", "opencode")},
		layout: inRecords, resume: []string{"-s"},
	}
}

// Pi returns the agent of Mario Zechner.
func Pi() Agent {
	return Agent{
		Name: "pi", Label: "Pi", Program: "pi",
		Limits: []string{noQuestion},
		mark:   mark{name: "PI_CODING_AGENT", value: "true"},
		home:   home{variable: "PI_CODING_AGENT_DIR", name: filepath.Join(".pi", "agent")},
		layout: byPath, resume: []string{"--session"},
	}
}

// Qwen returns the agent of Alibaba.
func Qwen() Agent {
	return Agent{
		Name: "qwen", Label: "Qwen Code", Program: "qwen",
		Limits: []string{noQuestion},
		mark:   mark{name: "QWEN_CODE", value: "1", session: "QWEN_CODE_SESSION_ID"},
		home:   home{name: ".qwen"},
		layout: inChats, resume: []string{"--resume"},
	}
}

// Default returns the agent for records that name none.
func Default() Agent { return ClaudeCode() }

// All returns the agents that can be recorded, the default first.
func All() []Agent {
	return []Agent{ClaudeCode(), Codex(), Copilot(), Cursor(), Gemini(), OpenCode(), Pi(), Qwen()}
}

// Unsupported returns the reason why the named agent can't be recorded, "" if it is unknown.
func Unsupported(name string) string {
	return map[string]string{
		"amp":   "Amp has no hooks, and keeps its transcripts on its server",
		"cline": "Cline's hooks name no prompt, and it rewrites its transcripts whole; there is no adapter yet",
		"crush": "Crush has no hooks that could be tried: its releases couldn't be installed",
		"droid": "Droid needs an account of Factory, so that nothing of it could be tried",
	}[strings.ToLower(name)]
}

// ByName returns the agent with the given name.
func ByName(name string) (Agent, bool) {
	return find(func(a Agent) bool { return a.Name == name })
}

// ByLabel returns the agent with the given label, as recorded in metadata.
func ByLabel(label string) (Agent, bool) {
	return find(func(a Agent) bool { return a.Label == label })
}

// Of returns the agent with the given label, or the default if there is none, as in early records.
func Of(label string) Agent {
	a, ok := ByLabel(label)
	if !ok {
		return Default()
	}
	return a
}

func find(is func(Agent) bool) (Agent, bool) {
	all := All()
	i := slices.IndexFunc(all, is)
	if i < 0 {
		return Agent{}, false
	}
	return all[i], true
}

// IsCalling reports whether an agent's shell started the process with this environment.
func IsCalling(getenv func(string) string) bool {
	return slices.ContainsFunc(All(), func(a Agent) bool { return a.Calls(getenv) })
}

// Callers returns the agents whose shells started the process with this environment. There are
// several if one agent started another.
func Callers(getenv func(string) string) []Agent {
	return slices.DeleteFunc(All(), func(a Agent) bool { return !a.Calls(getenv) })
}

// CallingSession returns the id of the session for which an agent started the process, through its
// shell or directly, "" if there is none.
func CallingSession(getenv func(string) string) string {
	for _, a := range append(Callers(getenv), All()...) {
		if a.mark.session == "" {
			continue
		}
		if id := getenv(a.mark.session); id != "" {
			return id
		}
	}
	return ""
}

// HandsOver reports whether the agent has no transcript files: its plugin passes the messages of a
// session to this program, which writes a transcript of them.
func (a Agent) HandsOver() bool { return a.layout == inRecords }

// NamesSubagents reports whether the session id in the environment may be that of a subagent, for
// which there is no session.
func (a Agent) NamesSubagents() bool { return a.mark.otherInSubagents }

// Calls reports whether this agent's shell started the process with this environment.
func (a Agent) Calls(getenv func(string) string) bool {
	value := getenv(a.mark.name)
	if a.mark.value == "" {
		return value != ""
	}
	return value == a.mark.value
}

// WithoutMarks returns getenv without the variables that identify agents' shells.
func WithoutMarks(getenv func(string) string) func(string) string {
	all := All()
	return func(name string) string {
		if slices.ContainsFunc(all, func(a Agent) bool { return a.mark.name == name }) {
			return ""
		}
		return getenv(name)
	}
}

// Environ returns the variables that the agent sets for the commands of a session.
func (a Agent) Environ(session string) []string {
	var env []string
	if a.mark.session != "" {
		env = append(env, a.mark.session+"="+session)
	}
	if a.mark.name != a.mark.session {
		env = append(env, a.mark.name+"="+a.mark.value)
	}
	return env
}

// Resume returns the command that continues a session.
func (a Agent) Resume(session string) string {
	words := append([]string{a.Program}, a.resume...)
	if last := len(words) - 1; strings.HasSuffix(words[last], "=") {
		words[last] += session
		return strings.Join(words, " ")
	}
	return strings.Join(append(words, session), " ")
}

// ResumeImported returns the command that imports a session from a document and continues it.
func (a Agent) ResumeImported(session, document string) string {
	if strings.ContainsFunc(document, func(c rune) bool { return !strings.ContainsRune("/._-+@", c) && !isAlphanumeric(c) }) {
		document = "'" + strings.ReplaceAll(document, "'", `'\''`) + "'"
	}
	return a.Program + " import " + document + " && " + a.Resume(session)
}

func isAlphanumeric(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// IsProgram reports whether args are the arguments of a process of the agent's program, which may
// be a script with an interpreter.
func (a Agent) IsProgram(args []string) bool {
	const interpreted = 2 // the interpreter and the script
	for i, arg := range args[:min(len(args), interpreted)] {
		if filepath.Base(arg) == a.Program {
			return true
		}
		if i == 1 && strings.Contains(filepath.ToSlash(arg), "/node_modules/") && strings.Contains(filepath.ToSlash(arg), "/"+a.Program) {
			return true
		}
	}
	return false
}

// Home returns the agent's folder, "" if it is unknown because there is no home directory.
func (a Agent) Home(getenv func(string) string, homeDir string) string {
	if a.home.variable != "" {
		if dir := getenv(a.home.variable); dir != "" {
			return filepath.Join(dir, a.home.below)
		}
	}
	if homeDir == "" {
		return ""
	}
	return filepath.Join(homeDir, a.home.name)
}

// TestDir returns the folder that replaces the project's transcript folder in tests, "" if none.
func (a Agent) TestDir(getenv func(string) string) string {
	if a.project == "" {
		return ""
	}
	return getenv(a.project)
}

// Project returns the folder in which the agent keeps the transcripts of a worktree's sessions, ""
// if it is unknown. Codex and Copilot use one folder for all projects; an agent that hands its
// messages over has no folder.
func (a Agent) Project(getenv func(string) string, homeDir, root string) string {
	if dir := a.TestDir(getenv); dir != "" {
		return dir
	}
	dir := a.Home(getenv, homeDir)
	if dir == "" {
		return ""
	}
	switch a.layout {
	case inRecords:
		return ""
	case byDate:
		return filepath.Join(dir, "sessions")
	case inFolders:
		return filepath.Join(dir, "session-state")
	case byName:
		return filepath.Join(dir, "tmp", projectName(filepath.Join(dir, "projects.json"), root), "chats")
	case byPath:
		return filepath.Join(dir, "sessions", pathName(root))
	case inChats:
		return filepath.Join(dir, "projects", ProjectSlug(root), "chats")
	case inAgentTranscripts:
		return filepath.Join(dir, "projects", shortSlug(root), "agent-transcripts")
	case bySlug:
	}
	return filepath.Join(dir, "projects", ProjectSlug(root))
}

// Transcripts returns the folder that contains the transcripts of all sessions and of subagents, ""
// if it is unknown.
func (a Agent) Transcripts(getenv func(string) string, homeDir string) string {
	dir := a.Home(getenv, homeDir)
	switch {
	case dir == "", a.layout == inRecords:
		return ""
	case a.layout == byDate, a.layout == byPath:
		return filepath.Join(dir, "sessions")
	case a.layout == inFolders:
		return filepath.Join(dir, "session-state")
	case a.layout == byName:
		return filepath.Join(dir, "tmp")
	}
	return filepath.Join(dir, "projects")
}

// File returns the path of a session's transcript in the folder returned by Project. recorded is
// the time at which the session began.
func (a Agent) File(dir, session string, recorded time.Time) string {
	switch a.layout {
	case inFolders:
		return filepath.Join(dir, session, "events.jsonl")
	case bySlug, inChats, inAgentTranscripts, inRecords:
		return filepath.Join(dir, session+".jsonl")
	case byName:
		return filepath.Join(dir, "session-"+recorded.UTC().Format("2006-01-02T15-04")+"-"+shortID(session)+".jsonl")
	case byPath:
		return filepath.Join(dir, recorded.UTC().Format("2006-01-02T15-04-05-000Z")+"_"+session+".jsonl")
	case byDate:
	}
	name := "rollout-" + recorded.Format("2006-01-02T15-04-05") + "-" + session + ".jsonl"
	return filepath.Join(dir, recorded.Format("2006"), recorded.Format("01"), recorded.Format("02"), name)
}

// Find searches the folder returned by Project for a session's transcript whose path depends on
// more than the session's id. It returns "" if there is none.
func (a Agent) Find(dir, session string) string {
	var pattern []string
	switch a.layout {
	case byDate:
		pattern = []string{"*", "*", "*", "rollout-*-" + session + ".jsonl"}
	case byPath:
		pattern = []string{"*_" + session + ".jsonl"}
	case inAgentTranscripts:
		pattern = []string{session, session + ".jsonl"}
	case byName:
		pattern = []string{"session-*-" + shortID(session) + ".jsonl"}
	case bySlug, inChats, inFolders, inRecords:
	}
	if pattern == nil || strings.ContainsAny(session, `*?[\`) {
		return ""
	}
	found := disk.Glob(dir, pattern...)
	if len(found) == 0 {
		return ""
	}
	if a.layout == byName { // a resumed session continues in its first file
		return found[0]
	}
	return found[len(found)-1]
}

// FindAnywhere searches the folder returned by Transcripts for the transcript of a session that may have
// been started in any folder. It returns "" if there is none.
func (a Agent) FindAnywhere(dir, session string) string {
	if dir == "" || strings.ContainsAny(session, `*?[\\`) {
		return ""
	}
	var found []string
	switch a.layout {
	case bySlug:
		found = disk.Glob(dir, "*", session+".jsonl")
	case inChats:
		found = disk.Glob(dir, "*", "chats", session+".jsonl")
	case byPath:
		found = disk.Glob(dir, "*", "*_"+session+".jsonl")
	case byName:
		found = disk.Glob(dir, "*", "chats", "session-*-"+shortID(session)+".jsonl")
	case inFolders:
		found = disk.Glob(dir, session, "events.jsonl")
	case byDate:
		return a.Find(dir, session)
	case inAgentTranscripts, inRecords:
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// shortID returns the part of a session's id that is used in file names.
func shortID(session string) string {
	const length = 8
	return session[:min(len(session), length)]
}

// projectName returns the name that Gemini CLI gives a worktree, from its list of projects. For
// worktrees not listed yet, it is the name of the folder.
func projectName(list, root string) string {
	var names struct {
		Projects map[string]string `json:"projects"`
	}
	data, err := os.ReadFile(list)
	if err == nil && json.Unmarshal(data, &names) == nil && filepath.IsLocal(names.Projects[root]) {
		return names.Projects[root]
	}
	return baseName(root)
}

// baseName returns the name that Gemini CLI gives the first worktree with this folder name.
func baseName(root string) string {
	var name strings.Builder
	for _, c := range strings.ToLower(filepath.Base(root)) {
		switch {
		case isAlphanumeric(c):
			name.WriteRune(c)
		case name.Len() > 0 && !strings.HasSuffix(name.String(), "-"):
			name.WriteByte('-')
		}
	}
	return cmp.Or(strings.TrimSuffix(name.String(), "-"), "project")
}

// pathName returns the name that Pi gives the folder of a worktree's sessions.
func pathName(root string) string {
	return "--" + strings.NewReplacer("/", "-", "\\", "-", ":", "-").Replace(strings.TrimLeft(root, "/\\")) + "--"
}

// shortSlug returns the name that Cursor gives the folder of a worktree.
func shortSlug(root string) string { return strings.TrimLeft(ProjectSlug(root), "-") }

// longestSlug is the length after which a slug is truncated.
const longestSlug = 200

// ProjectSlug returns the name of the directory in which Claude Code and Qwen Code keep the
// sessions of a project: its path with a dash for each UTF-16 unit that is not an ASCII letter or
// digit. It is truncated after 200 characters, and a hash of the path is appended then.
func ProjectSlug(path string) string {
	units := utf16.Encode([]rune(path))
	slug := make([]byte, len(units))
	var hash int32
	for i, u := range units {
		hash = hash*31 + int32(u)
		slug[i] = '-'
		if isAlphanumeric(rune(u)) {
			slug[i] = byte(u)
		}
	}
	if len(slug) <= longestSlug {
		return string(slug)
	}
	h := int64(hash)
	return string(slug[:longestSlug]) + "-" + strconv.FormatInt(max(h, -h), 36)
}
