//go:build e2e

package main

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/session/agent"
)

// TestAgentLab runs the genuine clients of other agents in a repository, with a script in place
// of the model. ENTIRE_AGENT_LAB is the folder of the lab, ENTIRE_BIN that of the program;
// ENTIRE_AGENTS lists the clients.
func TestAgentLab(t *testing.T) {
	lab, bin := os.Getenv("ENTIRE_AGENT_LAB"), os.Getenv("ENTIRE_BIN")
	if lab == "" || bin == "" {
		t.Skip("ENTIRE_AGENT_LAB and ENTIRE_BIN aren't set: make e2e-agents AGENTLAB=folder")
	}
	for name := range strings.FieldsSeq(os.Getenv("ENTIRE_AGENTS")) {
		a, known := agent.ByName(name)
		if !known {
			t.Fatalf("no agent is called %q", name)
		}
		t.Run(name, func(t *testing.T) {
			t.Run("work", func(t *testing.T) { agentWorks(t, newAgentLab(t, lab, bin, a)) })
			t.Run("clear", func(t *testing.T) { agentClears(t, newAgentLab(t, lab, bin, a)) })
			t.Run("subagent", func(t *testing.T) { agentDelegates(t, newAgentLab(t, lab, bin, a)) })
			t.Run("rewound", func(t *testing.T) { agentIsRewound(t, newAgentLab(t, lab, bin, a)) })
			t.Run("levels", func(t *testing.T) { agentHasTwoLevels(t, newAgentLab(t, lab, bin, a)) })
			t.Run("several", func(t *testing.T) { agentWorksInSeveral(t, newAgentLab(t, lab, bin, a)) })
			t.Run("use", func(t *testing.T) { agentIsGivenALine(t, newAgentLab(t, lab, bin, a)) })
			t.Run("killed", func(t *testing.T) { agentIsKilled(t, newAgentLab(t, lab, bin, a)) })
		})
	}
}

// agentLab is a project in which a client works.
type agentLab struct {
	t             *testing.T
	lab, dir, bin string
	agent         agent.Agent
	// before is the command that the user runs in the project before entire is enabled.
	before string
	// setup replaces the command that enables recording in the project, unless it is empty.
	setup string
}

func newAgentLab(t *testing.T, lab, bin string, a agent.Agent) *agentLab {
	t.Helper()
	l := &agentLab{t: t, lab: lab, dir: t.TempDir(), bin: bin, agent: a}
	for name, text := range map[string]string{"README.md": "# Sample\n\nA sample.\n", "docs/index.md": "# Pages\n"} {
		labWrite(t, filepath.Join(l.project(), name), text)
	}
	if err := os.MkdirAll(filepath.Join(l.dir, "log"), 0o755); err != nil {
		t.Fatal(err)
	}
	labGit(t, l.project())
	return l
}

func (l *agentLab) project() string { return filepath.Join(l.dir, "project") }
func (l *agentLab) home() string    { return filepath.Join(l.dir, "home") }

// play runs the client with a script for the model and the user's input. input is its kind,
// prompts or keys, and lines is its text.
func (l *agentLab) play(script, input, lines string) {
	l.t.Helper()
	// The client's shell may be a login shell, which resets PATH, and may not read the user's
	// git configuration.
	mcp := ""
	if agenthook.ServersFile(l.agent, l.project()) != "" {
		mcp = " --mcp"
	}
	enable := cmp.Or(l.setup, `entire enable --agent `+l.agent.Name+mcp)
	setup := cmp.Or(l.before, `true`) + ` && ` + enable + ` && echo "PATH=` + l.bin + `:\$PATH" >> "$HOME/.profile"` +
		` && git config user.name Lab && git config user.email lab@example.invalid`
	cmd := exec.CommandContext(l.t.Context(), filepath.Join(l.lab, "run"),
		"--client", l.agent.Name, "--project", l.project(), "--log", filepath.Join(l.dir, "log"), "--home", l.home(), "--path", l.bin, "--hooklog", "user",
		"--timeout", "500", "--setup", setup, "--script", script, "--"+input, labWrite(l.t, filepath.Join(l.dir, input), lines))
	if out, err := cmd.CombinedOutput(); err != nil {
		l.t.Errorf("%v\n%s", err, out)
	}
}

// program returns the folder of the client's program, as installed by the lab.
func (l *agentLab) program() string {
	l.t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		l.t.Fatal(err)
	}
	cache = cmp.Or(os.Getenv("AGENT_LAB_CACHE"), filepath.Join(cache, "agent-lab"))
	found, err := filepath.Glob(filepath.Join(cache, l.agent.Name+"-*", "node_modules", "*", "bin", l.agent.Program))
	if err != nil || len(found) == 0 {
		l.t.Fatalf("no %s below %s: %v", l.agent.Program, cache, err)
	}
	return filepath.Dir(found[len(found)-1])
}

// run runs a command in the project as the user would.
func (l *agentLab) run(name string, args ...string) string {
	l.t.Helper()
	cmd := exec.CommandContext(l.t.Context(), name, args...)
	cmd.Dir = l.project()
	cmd.Env = append(os.Environ(), "HOME="+l.home(), "PATH="+l.bin+":"+os.Getenv("PATH"), "GIT_CEILING_DIRECTORIES="+l.dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Errorf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// requests returns the client's requests to the model.
func (l *agentLab) requests() string {
	l.t.Helper()
	data, err := os.ReadFile(filepath.Join(l.dir, "log", "requests.jsonl"))
	if err != nil {
		l.t.Error(err)
	}
	return string(data)
}

// contains reports an error for each text that isn't in the output.
func (l *agentLab) contains(out string, texts ...string) {
	l.t.Helper()
	for _, text := range texts {
		if !strings.Contains(out, text) {
			l.t.Errorf("no %q in:\n%.20000s", text, out)
		}
	}
}

type agentSession struct {
	ID    string `json:"session_id"`
	Agent string `json:"agent"`
	Phase string `json:"phase"`
}

func (l *agentLab) sessions() []agentSession {
	l.t.Helper()
	var list struct {
		Sessions []agentSession `json:"sessions"`
	}
	if err := json.Unmarshal([]byte(l.run(filepath.Join(l.bin, "entire"), "sessions", "--json")), &list); err != nil {
		l.t.Error(err)
	}
	for _, s := range list.Sessions {
		if s.Agent != l.agent.Label {
			l.t.Errorf("session %s is of %q", s.ID, s.Agent)
		}
	}
	return list.Sessions
}

// agentWorks checks two turns: the user commits the changes of the first, the agent those of
// the second.
func agentWorks(t *testing.T, l *agentLab) {
	l.play(filepath.Join(l.lab, "examples", "1-write-shell.json"), "prompts",
		"Write two pages in docs and name them in the readme\n"+
			"! git add docs README.md && git commit -qm 'Person commit'\n"+
			"Add one more line to made.txt and commit\n")
	entire := filepath.Join(l.bin, "entire")
	if agenthook.ServersFile(l.agent, l.project()) != "" {
		if asked := l.requests(); !strings.Contains(asked, "history_search") && !strings.Contains(asked, "mcp__entire") {
			t.Error("no request offers the model the tools of the MCP server")
		}
	}
	for _, rev := range []string{"HEAD", "HEAD~1"} {
		l.contains(l.run("git", "log", "-1", "--notes=entire", "--format=%B%N", rev), "Entire-Checkpoint: ")
	}
	if n := len(l.sessions()); n != 1 {
		t.Errorf("%d sessions", n)
	}
	l.contains(l.run(entire, "explain", "HEAD~1", "--full"), "("+l.agent.Label+")", "Write two pages", "docs/start.md", "Two pages are written", "Tokens: ")
	l.contains(l.run(entire, "explain", "HEAD", "--full"), "Add one more line", "git commit", "Added and committed")
	l.contains(l.run(entire, "blame", "docs/start.md"), l.agent.Label, "Write two pages")
	if out := l.run(entire, "blame", "made.txt"); strings.Count(out, l.agent.Label) != 2 {
		t.Errorf("not both lines of the shell are the agent's:\n%s", out)
	}
	l.contains(l.run(entire, "resume", "main", "--force"), l.agent.Resume(""))
	l.contains(l.run(entire, "rewind", "--list", "--json"), "Write two pages")
	l.run(entire, "rewind", "--to", "last:2", "--force")
	if _, err := os.Stat(filepath.Join(l.project(), "docs", "start.md")); err == nil {
		t.Error("the page is there before the turn that wrote it")
	}
}

// agentDelegates has a subagent write a file and use the shell. The record of the user's commit
// contains the subagent's conversation and actions, and its tokens separately.
func agentDelegates(t *testing.T, l *agentLab) {
	if l.agent.Name == agent.Pi().Name {
		t.Skip("it has no subagents")
	}
	l.play(filepath.Join(l.lab, "examples", "3-subagent.json"), "prompts", "Now delegate the page to a subagent\n")
	entire := filepath.Join(l.bin, "entire")
	l.run("git", "add", "docs", "sub.txt")
	l.run("git", "commit", "-qm", "What the subagent did")
	l.contains(l.run("git", "log", "-1", "--format=%B"), "Entire-Checkpoint: ")
	l.contains(l.run(entire, "explain", "HEAD", "--full"), "delegate the page", "docs/sub.md", "The subagent is done.")
	l.contains(l.run(entire, "search", "--kind", "subagent", "file is there"), "The file is there.")
	var usage struct {
		Total struct {
			Subagents struct {
				Output int `json:"output"`
			} `json:"subagent_tokens"`
		} `json:"total"`
	}
	out := l.run(entire, "usage", "--json")
	if err := json.Unmarshal([]byte(out), &usage); err != nil || usage.Total.Subagents.Output == 0 {
		t.Errorf("no tokens of a subagent, %v:\n%.3000s", err, out)
	}
	blame := l.run(entire, "blame", "--json", "docs/sub.md")
	l.contains(blame, `"agent": "`+l.agent.Label+`"`, `"subagent": "`)
}

// agentClears checks that the session after a clear gets the brief of the cleared session.
func agentClears(t *testing.T, l *agentLab) {
	keys, err := os.ReadFile(filepath.Join(l.lab, "examples", "2-clear.keys"))
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(l.lab, "examples", "2-clear.json")
	if l.agent.Name == agent.Gemini().Name { // the brief follows the prompt and quotes the first one
		turns, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		script = labWrite(t, filepath.Join(l.dir, "script.json"), strings.ReplaceAll(string(turns), `"match": "second page"`, `"match": "entire recall resume"`))
	}
	l.play(script, "keys", tripleWaits(string(keys)))
	if n := len(l.sessions()); n != 2 {
		t.Errorf("%d sessions", n)
	}
	briefed := false
	labLines(t, filepath.Join(l.dir, "log", "requests.jsonl"), func(line []byte) error {
		text := string(line)
		briefed = briefed || strings.Contains(text, "Write the second page") && strings.Contains(text, "entire recall resume") && strings.Contains(text, "docs/first.md")
		return nil
	})
	if !briefed {
		t.Error("no request after the clear has the brief of the session before")
	}
	l.contains(l.run(filepath.Join(l.bin, "entire"), "recall", "list"), "Write the first page")
}

// tripleWaits triples the waits of 10 to 99 seconds, for a machine with other load.
func tripleWaits(keys string) string {
	return regexp.MustCompile(`(?m)(^wait-.* )(\d\d)$`).ReplaceAllStringFunc(keys, func(line string) string {
		at := strings.LastIndexByte(line, ' ') + 1
		seconds, err := strconv.Atoi(line[at:])
		if err != nil {
			return line
		}
		return line[:at] + strconv.Itoa(3*seconds)
	})
}

// agentIsRewound has the user rewind the conversation to before its second turn. The next
// request to the model contains the first turn and nothing of the second.
func agentIsRewound(t *testing.T, l *agentLab) {
	if l.agent.KeepsConversation {
		t.Skip("its conversation can't be cut back")
	}
	script := labWrite(t, filepath.Join(l.dir, "script.json"), `{"turns": [
  {"match": "alpha page", "steps": [[{"write": "${CWD}/docs/alpha.md", "content": "# Alpha\n"}], [{"text": "Alpha is there."}]]},
  {"match": "beta page", "steps": [[{"write": "${CWD}/docs/beta.md", "content": "# Beta\n"}], [{"text": "Beta is there."}]]},
  {"match": "gamma page", "steps": [[{"text": "Gamma is not needed."}]]}]}`)
	goOn := "\nWrite the gamma page\n"
	if l.agent.HandsOver() { // the printed command creates a session of its own
		goOn = ` 2>&1 | tee ../said; export PATH="` + l.program() + `:$PATH"; eval "$(sed -n 's/.*as it was there: //p' ../said | sed 's/ && .*//')"` +
			` && opencode run --format json -s "$(sed -n 's/.* -s //p' ../said)" 'Write the gamma page'` + "\n"
	}
	l.play(script, "prompts", "Write the alpha page\nWrite the beta page\n! entire rewind --to last --conversation --force"+goOn)
	asked := false
	labLines(t, filepath.Join(l.dir, "log", "requests.jsonl"), func(line []byte) error {
		text := string(line)
		if !strings.Contains(text, "Write the gamma page") {
			return nil
		}
		asked = true
		if !strings.Contains(text, "Alpha is there.") || strings.Contains(text, "Beta is there.") {
			t.Errorf("the request after the rewind has not the conversation of then: ...%s", text[max(0, len(text)-3000):])
		}
		return nil
	})
	if !asked {
		t.Error("no request has the prompt after the rewind")
	}
}

// agentHasTwoLevels installs hooks in the user's own settings of the client, first alone and
// then in addition to the project's. Each event counts once.
func agentHasTwoLevels(t *testing.T, l *agentLab) {
	l.before = `entire agents install ` + l.agent.Name + ` --user`
	script := labWrite(t, filepath.Join(l.dir, "script.json"), `{"turns": [
  {"match": "alpha page", "steps": [[{"write": "${CWD}/docs/alpha.md", "content": "# Alpha\n"}], [{"text": "Alpha is there."}]]},
  {"match": "beta page", "steps": [[{"write": "${CWD}/docs/beta.md", "content": "# Beta\n"}], [{"text": "Beta is there."}]]}]}`)
	l.play(script, "prompts", "Write the alpha page\n! entire agents install "+l.agent.Name+"\nWrite the beta page\n")
	log, err := os.ReadFile(filepath.Join(l.project(), ".entire", "logs", "entire.log"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(log), `"hook":"stop"`); n != 2 {
		t.Errorf("%d turns ended, not two", n)
	}
	for _, page := range []string{"alpha", "beta"} {
		l.contains(l.run(filepath.Join(l.bin, "entire"), "rewind", "--list", "--json"), "Write the "+page+" page")
	}
}

// agentWorksInSeveral lets the client start in a project that doesn't record, above two repositories that do: it
// edits one and commits in the other.
func agentWorksInSeveral(t *testing.T, l *agentLab) {
	l.setup = `entire agents install ` + l.agent.Name + ` --user && git config --global user.name Lab && git config --global user.email lab@example.invalid` +
		` && for name in a b; do git init -q -b main $name; cd $name; git config user.name Lab; git config user.email lab@example.invalid;` +
		` echo read > README; git add README; git commit -qm Begin; entire enable --agent ` + l.agent.Name + ` --local; cd ..; done`
	script := labWrite(t, filepath.Join(l.dir, "script.json"), `{"turns": [{"match": "in both", "steps": [
  [{"write": "${CWD}/a/page.md", "content": "# Page\n"}],
  [{"shell": "cd ${CWD}/b && echo two > note.txt && git add note.txt && git commit -qm note"}],
  [{"text": "Done in both."}]]}]}`)
	l.play(script, "prompts", "Write a page and commit a note, in both\n! cd a && git add page.md && git commit -qm page\n")
	entire := filepath.Join(l.bin, "entire")
	for _, name := range []string{"a", "b"} {
		l.contains(l.run("git", "-C", name, "log", "-1", "--notes=entire", "--format=%B%N"), "Entire-Checkpoint: ")
		l.contains(l.run("sh", "-c", "cd "+name+" && "+entire+" explain HEAD --full"), "("+l.agent.Label+")", "Write a page and commit a note")
	}
	if _, err := os.Stat(filepath.Join(l.project(), ".git", "entire")); err == nil {
		t.Error("the project that doesn't record has a record")
	}
}

// agentIsGivenALine has a second session edit the file about which the person decided something in the
// first one. The request after the edit, or that of the prompt that names the file, has the decision.
func agentIsGivenALine(t *testing.T, l *agentLab) {
	script := labWrite(t, filepath.Join(l.dir, "script.json"), `{"turns": [
  {"match": "Write docs/alpha.md", "steps": [[{"write": "${CWD}/docs/alpha.md", "content": "# Alpha\n\nNoon.\n"}], [{"text": "Alpha is there."}]]},
  {"match": "Tell a joke", "steps": [[{"text": "Knock knock."}]]},
  {"match": "Now improve", "steps": [[{"read": "${CWD}/docs/alpha.md"}], [{"edit": "${CWD}/docs/alpha.md", "old": "Noon.", "new": "12:00."}], [{"text": "Improved."}]]}]}`)
	l.play(script, "prompts", "Write docs/alpha.md. Use UTC rather than local time in docs/alpha.md.\n---\nTell a joke\nNow improve docs/alpha.md\n")
	given := false
	labLines(t, filepath.Join(l.dir, "log", "requests.jsonl"), func(line []byte) error {
		text := string(line)
		n := strings.Count(text, "Entire: docs/alpha.md: decided by the person on ")
		if n > 1 || n == 1 && !strings.Contains(text, "Now improve docs/alpha.md") {
			t.Errorf("the line is given %d times: %s", n, text[max(0, len(text)-3000):])
		}
		given = given || n == 1
		return nil
	})
	if !given {
		t.Error("no request has the line")
	}
	l.contains(l.run(filepath.Join(l.bin, "entire"), "recall", "why-not", "docs/alpha.md"), "Decided by the person", "Use UTC rather than local time", "the file has not changed since its last session")
}

// agentIsKilled kills the client in its turn. The next command detects that the agent has
// exited, and the changes of the turn are linked to the user's commit.
func agentIsKilled(t *testing.T, l *agentLab) {
	script := labWrite(t, filepath.Join(l.dir, "script.json"), `{"turns": [{"match": "third page", "steps": [
  [{"write": "${CWD}/docs/third.md", "content": "# Third\n"}],
  {"wait": 60, "blocks": [{"text": "Never said."}]}]}]}`)
	l.play(script, "keys", tripleWaits("wait-for ${READY} 60\nsleep 2\nsay Write the third page\nwait-for third.md 60\nsleep 12\nkill\n"))
	if _, err := os.Stat(filepath.Join(l.project(), "docs", "third.md")); err != nil {
		t.Fatal(err)
	}
	l.run("git", "add", "docs")
	l.run("git", "commit", "-qm", "After the kill")
	l.contains(l.run("git", "log", "-1", "--format=%B"), "Entire-Checkpoint: ")
	all := l.sessions()
	if slices.ContainsFunc(all, func(s agentSession) bool { return s.Phase == "active" }) || len(all) != 1 {
		t.Errorf("the sessions are %+v", all)
	}
}
