package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session/agent"
)

// environment returns a lookup in a list of NAME=VALUE.
func environment(variables ...string) func(string) string {
	return func(name string) string {
		for _, v := range variables {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestProject(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		agent agent.Agent
		env   []string
		home  string
		want  string
	}{
		"Claude Code":                       {agent: agent.ClaudeCode(), home: "/home/u", want: "/home/u/.claude/projects/-src-p"},
		"its own setting":                   {agent: agent.ClaudeCode(), env: []string{"CLAUDE_CONFIG_DIR=/cfg"}, home: "/home/u", want: "/cfg/projects/-src-p"},
		"a test's setting":                  {agent: agent.ClaudeCode(), env: []string{"CLAUDE_CONFIG_DIR=/cfg", "ENTIRE_TEST_CLAUDE_PROJECT_DIR=/t"}, want: "/t"},
		"no home":                           {agent: agent.ClaudeCode()},
		"no home but a setting":             {agent: agent.ClaudeCode(), env: []string{"CLAUDE_CONFIG_DIR=/cfg"}, want: "/cfg/projects/-src-p"},
		"Codex has one folder for all":      {agent: agent.Codex(), home: "/home/u", want: "/home/u/.codex/sessions"},
		"Codex with a setting":              {agent: agent.Codex(), env: []string{"CODEX_HOME=/cx"}, home: "/home/u", want: "/cx/sessions"},
		"Codex with Claude Code's setting":  {agent: agent.Codex(), env: []string{"CLAUDE_CONFIG_DIR=/cfg"}, home: "/home/u", want: "/home/u/.codex/sessions"},
		"Copilot has one, too":              {agent: agent.Copilot(), home: "/home/u", want: "/home/u/.copilot/session-state"},
		"Copilot with a setting":            {agent: agent.Copilot(), env: []string{"COPILOT_HOME=/cp"}, home: "/home/u", want: "/cp/session-state"},
		"Cursor":                            {agent: agent.Cursor(), home: "/home/u", want: "/home/u/.cursor/projects/src-p/agent-transcripts"},
		"OpenCode has none":                 {agent: agent.OpenCode(), home: "/home/u"},
		"Pi":                                {agent: agent.Pi(), home: "/home/u", want: "/home/u/.pi/agent/sessions/--src-p--"},
		"Pi with a setting":                 {agent: agent.Pi(), env: []string{"PI_CODING_AGENT_DIR=/pi"}, home: "/home/u", want: "/pi/sessions/--src-p--"},
		"Gemini CLI without a list":         {agent: agent.Gemini(), home: "/home/u", want: "/home/u/.gemini/tmp/p/chats"},
		"Qwen Code":                         {agent: agent.Qwen(), home: "/home/u", want: "/home/u/.qwen/projects/-src-p/chats"},
		"Qwen Code with a test's of Claude": {agent: agent.Qwen(), env: []string{"ENTIRE_TEST_CLAUDE_PROJECT_DIR=/t"}, home: "/home/u", want: "/home/u/.qwen/projects/-src-p/chats"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tt.agent.Project(environment(tt.env...), tt.home, "/src/p"); got != filepath.FromSlash(tt.want) {
				t.Error(got)
			}
		})
	}
}

func TestHomeOfOpenCode(t *testing.T) {
	t.Parallel()
	for want, env := range map[string][]string{"/home/u/.local/share/opencode": nil, "/data/opencode": {"XDG_DATA_HOME=/data"}} {
		if got := agent.OpenCode().Home(environment(env...), "/home/u"); got != filepath.FromSlash(want) {
			t.Errorf("%q: %s", env, got)
		}
	}
}

// TestNameOfGeminiProject: a name has letters, digits and single dashes.
func TestNameOfGeminiProject(t *testing.T) {
	t.Parallel()
	for root, want := range map[string]string{
		"/src/My.Repo_2": "my-repo-2", "/src/--x--": "x", "/src/ü": "project", "/": "project", "/src/a..b": "a-b",
	} {
		if got, want := agent.Gemini().Project(environment(), "/h", root), filepath.Join("/h/.gemini/tmp", want, "chats"); got != want {
			t.Errorf("%s: %s, want %s", root, got, want)
		}
	}
}

func TestSessionName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		agent agent.Agent
		name  string
		id    string
		ok    bool
	}{
		{agent.ClaudeCode(), "s1.jsonl", "s1", true},
		{agent.ClaudeCode(), "agent-s1.jsonl", "agent-s1", false},
		{agent.ClaudeCode(), "s1.json", "s1", false},
		{agent.ClaudeCode(), ".jsonl", "", false},
		{agent.Codex(), "2026/03/01/rollout-2026-03-01T10-00-00-s1.jsonl", "s1", true},
		{agent.Codex(), "rollout-.jsonl", "", true},
		{agent.Codex(), "2026/03/01/s1.jsonl", "s1", false},
		{agent.Copilot(), "s1/events.jsonl", "s1", true},
		{agent.Copilot(), "s1.jsonl", "s1", true},
		{agent.Copilot(), "s1/files/events.jsonl", "", false},
		{agent.Cursor(), "s1/s1.jsonl", "s1", true},
		{agent.Cursor(), "s1/s2.jsonl", "s2", false},
		{agent.Gemini(), "session-2026-03-01T10-00-12345678.json", "", true},
		{agent.Gemini(), "s1.jsonl", "", false},
		{agent.Pi(), "2026-03-01T10-00-00-000Z_s1.jsonl", "s1", true},
		{agent.Pi(), "s1.jsonl", "", false},
		{agent.Qwen(), "s1.jsonl", "s1", true},
	} {
		id, ok := tt.agent.SessionName(filepath.FromSlash(tt.name))
		if ok != tt.ok || ok && id != filepath.FromSlash(tt.id) {
			t.Errorf("%s, %s: %q, %v", tt.agent.Name, tt.name, id, ok)
		}
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]bool{"/p": true, "/p/": true, "/p/sub": true, "/p-other": false, "/": false, "/q/../p": true, "/q/x": true, "p": false} {
		if agent.Within(dir, []string{"/p", "/q/"}) != want {
			t.Errorf("%s: want %v", dir, want)
		}
	}
	if !agent.Within("/anything", []string{"/"}) {
		t.Error("everything is within /")
	}
}

func TestProjectSlug(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"/tmp/cc/lab/proj":       "-tmp-cc-lab-proj",
		"/home/a_b/my.repo":      "-home-a-b-my-repo",
		`C:\src`:                 "C--src",
		"/ü":                     "--",
		"/😀":                     "---",
		"/a\xff":                 "-a-",
		strings.Repeat("/", 200): strings.Repeat("-", 200),
		// The hashes were computed by the rule in another language.
		"/home/" + strings.Repeat("a", 200): "-home-" + strings.Repeat("a", 194) + "-guz1gf",
		"/ü😀" + strings.Repeat("b", 300):    "----" + strings.Repeat("b", 196) + "-myorzk",
	}
	for path, want := range tests {
		if got := agent.ProjectSlug(path); got != want {
			t.Errorf("the directory of %q is %q, want %q", path, got, want)
		}
	}
}

func TestCallers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		env     []string
		want    []string
		session string
	}{
		"a person":                       {},
		"Claude Code":                    {env: []string{"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=a"}, want: []string{"claude-code"}, session: "a"},
		"its mark with another value":    {env: []string{"CLAUDECODE=0", "CLAUDE_CODE_SESSION_ID=a"}, session: "a"},
		"Codex, which has no other mark": {env: []string{"CODEX_SESSION_ID=c", "CODEX_CI=1"}, want: []string{"codex"}, session: "c"},
		"Copilot CLI":                    {env: []string{"COPILOT_CLI=1", "COPILOT_AGENT_SESSION_ID=p"}, want: []string{"copilot"}, session: "p"},
		"Cursor, which names no session": {env: []string{"CURSOR_AGENT=1"}, want: []string{"cursor"}},
		"OpenCode with our plugin":       {env: []string{"OPENCODE=1", "OPENCODE_SESSION_ID=o"}, want: []string{"opencode"}, session: "o"},
		"Pi, which names no session":     {env: []string{"PI_CODING_AGENT=true"}, want: []string{"pi"}},
		"Qwen Code":                      {env: []string{"QWEN_CODE=1", "QWEN_CODE_SESSION_ID=q"}, want: []string{"qwen"}, session: "q"},
		"an early version of Claude":     {env: []string{"CLAUDECODE=1"}, want: []string{"claude-code"}},
		"one in the shell of another":    {env: []string{"CLAUDECODE=1", "CODEX_SESSION_ID=c"}, want: []string{"claude-code", "codex"}, session: "c"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			getenv := environment(tt.env...)
			var names []string
			for _, a := range agent.Callers(getenv) {
				names = append(names, a.Name)
			}
			if diff := cmp.Diff(tt.want, names); diff != "" {
				t.Error(diff)
			}
			if got := agent.CallingSession(getenv); got != tt.session {
				t.Errorf("the session is %q, want %q", got, tt.session)
			}
			if got := agent.IsCalling(getenv); got != (len(tt.want) > 0) {
				t.Errorf("IsCalling is %v", got)
			}
			if agent.IsCalling(agent.WithoutMarks(getenv)) {
				t.Error("an agent calls without its mark")
			}
		})
	}
}

func TestEnvironOfAgentShell(t *testing.T) {
	t.Parallel()
	for _, a := range agent.All() {
		getenv := environment(a.Environ("s1")...)
		callers := agent.Callers(getenv)
		want := "s1"
		if a.Name == agent.Pi().Name || a.Name == agent.Cursor().Name || a.Name == agent.Gemini().Name {
			want = "" // they have no variable for the session
		}
		if len(callers) != 1 || callers[0].Name != a.Name || agent.CallingSession(getenv) != want {
			t.Errorf("%s: %q is the environment of %d agents, session %q", a.Name, a.Environ("s1"), len(callers), agent.CallingSession(getenv))
		}
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 13, 11, 27, 0, time.UTC)
	for _, tt := range []struct {
		agent agent.Agent
		want  string
	}{
		{agent.ClaudeCode(), "d/s1.jsonl"},
		{agent.Qwen(), "d/s1.jsonl"},
		{agent.Copilot(), "d/s1/events.jsonl"},
		{agent.OpenCode(), "d/s1.jsonl"},
		{agent.Pi(), "d/2026-11-22T13-11-27-000Z_s1.jsonl"},
		{agent.Codex(), "d/2026/11/22/rollout-2026-11-22T13-11-27-s1.jsonl"},
	} {
		if got := tt.agent.File("d", "s1", at); got != filepath.FromSlash(tt.want) {
			t.Errorf("%s: %s", tt.agent.Name, got)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, a := range agent.All() {
		dir := t.TempDir()
		path := a.File(dir, "s1", time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		want := "" // if the name has no time
		if a.File(dir, "s1", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) != path {
			want = path
		}
		if a.Name == agent.Cursor().Name { // the editor has a folder for each session
			want = filepath.Join(dir, "s1", "s1.jsonl")
			if err := os.MkdirAll(filepath.Dir(want), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(want, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := a.Find(dir, "s1"); got != want {
			t.Errorf("%s: %q, want %q", a.Name, got, want)
		}
		if got := a.Find(dir, "s*"); got != "" {
			t.Errorf("%s: a pattern finds %s", a.Name, got)
		}
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]string{
		"Claude Code": "claude-code", "Codex": "codex", "Qwen Code": "qwen", "": "claude-code", "Agent": "claude-code",
	} {
		if got := agent.Of(label).Name; got != want {
			t.Errorf("the agent %q is %s, want %s", label, got, want)
		}
	}
}

func TestResume(t *testing.T) {
	t.Parallel()
	var got []string
	for _, a := range agent.All() {
		got = append(got, a.Resume("s1"))
	}
	if diff := cmp.Diff([]string{"claude -r s1", "codex resume s1", "copilot --resume=s1", "cursor-agent --resume s1", "gemini --resume s1", "opencode -s s1", "pi --session s1", "qwen --resume s1"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestResumeImported(t *testing.T) {
	t.Parallel()
	for document, want := range map[string]string{
		"/r/.git/entire/s1.import.json": "opencode import /r/.git/entire/s1.import.json && opencode -s s1",
		"/my r/it's":                    `opencode import '/my r/it'\''s' && opencode -s s1`,
	} {
		if got := agent.OpenCode().ResumeImported("s1", document); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestIsProgram(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"codex":                            true,
		"/opt/bin/codex exec --json P":     true,
		"node /usr/local/bin/codex resume": true,
		"sh -c codex":                      false,
		"git commit -m codex":              false,
		"vim /home/me/codex/notes":         false,
		"":                                 false,
		"node /x/node_modules/@openai/codex/bin/codex.js": true,
	} {
		if got := agent.Codex().IsProgram(strings.Fields(command)); got != want {
			t.Errorf("%q: %v, want %v", command, got, want)
		}
	}
}
