package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

const enabledOutput = `Agent: Claude Code

Installed 13 hooks for Claude Code
✓ Project configured (.entire/settings.json)

Ready.

Next:
  git add .claude .entire  commit them, for everybody here
  claude                   work and commit as usual
  entire status            see what is recorded
`

func TestEnable(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	check(t, enabledOutput, d.must("enable", "--agent", "claude-code"))
	check(t, "{\n  \"strategy\": \"manual-commit\",\n  \"enabled\": true\n}\n", d.read(".entire/settings.json"))
	check(t, "tmp/\nsettings.local.json\nmetadata/\nlogs/\n", d.read(".entire/.gitignore"))
	if _, err := os.Stat(d.path(".git/entire/enabled")); err != nil {
		t.Error(err)
	}
	if refs := d.git("for-each-ref", "refs/heads/entire"); refs != "" {
		t.Errorf("made refs %s", refs)
	}
	check(t, "Already enabled. Everything looks good.\n", d.must("enable"))
	check(t, strings.Replace(enabledOutput, "Installed 13 hooks for Claude Code", "Hooks for Claude Code already installed", 1),
		d.must("enable", "--agent", "claude-code"))
	check(t, enabledOutput, d.must("enable", "--agent", "claude-code", "--force", "--telemetry=false", "--skip-push-sessions"))
	check(t, "?? .claude/\n?? .entire/", d.git("status", "--porcelain"))
}

func TestEnableByStrategyAlone(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	if out := d.must("enable", "--strategy", "manual-commit"); !strings.Contains(out, "Ready.") {
		t.Error(out)
	}
}

func TestEnableAutoCommit(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	d.must("enable", "--agent", "claude-code", "--strategy", "auto-commit")
	check(t, "{\n  \"strategy\": \"auto-commit\",\n  \"enabled\": true\n}\n", d.read(".entire/settings.json"))
	check(t, "Enabled (auto-commit), by this repository's settings\nSnapshots: off\nNext: start your agent and work as usual; `entire log` then lists its turns\n", d.must("status"))
	d.must("enable", "--strategy", "manual-commit")
	check(t, "{\n  \"strategy\": \"manual-commit\",\n  \"enabled\": true\n}\n", d.read(".entire/settings.local.json"))
	check(t, "Enabled (manual-commit), by this repository's settings\nSnapshots: off\nNext: start your agent and work as usual; `entire log` then lists its turns\n", d.must("status"))
}

func TestEnablingAgainKeepsTheStrategy(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	d.must("enable", "--agent", "claude-code", "--local", "--strategy", "auto-commit")
	d.must("enable", "--agent", "claude-code", "--local")
	check(t, "Enabled (auto-commit), by this repository's settings\nSnapshots: off\nNext: start your agent and work as usual; `entire log` then lists its turns\n", d.must("status"))
}

func TestEnableLocalIsPrivate(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	before := d.snapshot()
	if out := d.must("enable", "--agent", "claude-code", "--local"); !strings.Contains(out, "(.entire/settings.local.json)") {
		t.Error(out)
	}
	check(t, "", d.git("status", "--porcelain", "-uall"))
	if !strings.Contains(d.read(".claude/settings.local.json"), "entire hooks claude-code stop") {
		t.Error("no hooks in the personal file")
	}
	check(t, "Already enabled. Everything looks good.\n", d.must("enable"))
	d.must("disable", "--uninstall", "--force")
	if diff := cmp.Diff(before, d.snapshot()); diff != "" {
		t.Error(diff)
	}
}

func TestDisableAndEnableAgain(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"", "--project"} {
		d := repoDesk(t)
		d.must("enable", "--agent", "claude-code")
		check(t, "Entire is now disabled.\n", d.must(append([]string{"disable"}, strings.Fields(flag)...)...))
		if out := d.must("status"); !strings.HasPrefix(out, "Disabled (manual-commit), by $WORK/.entire/settings") {
			t.Error(out)
		}
		if out := d.must("enable"); !strings.Contains(out, "Ready.") {
			t.Error(out)
		}
		check(t, "Enabled (manual-commit), by this repository's settings\nSnapshots: off\nNext: start your agent and work as usual; `entire log` then lists its turns\n", d.must("status"))
		check(t, "Entire is now disabled.\n", d.must(append([]string{"disable"}, strings.Fields(flag)...)...))
		if out := d.must("status"); !strings.HasPrefix(out, "Disabled (manual-commit), by $WORK/.entire/settings") {
			t.Error(out)
		}
	}
}

func TestDisableWithoutSetup(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	check(t, "Entire is not set up here, so it is already disabled.\n", d.must("disable"))
	check(t, "", d.git("status", "--porcelain"))
}

func TestEnableKeepsProjectSettings(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	text := "{\n  // ours\n  \"enabled\": false, \"log_level\": \"debug\"\n}\n"
	d.write(".entire/settings.json", text)
	if out := d.must("enable", "--agent", "claude-code"); !strings.Contains(out, "(.entire/settings.local.json)") {
		t.Error(out)
	}
	check(t, text, d.read(".entire/settings.json"))
	d.must("enable", "--agent", "claude-code", "--project")
	check(t, strings.Replace(text, "false", "true", 1), d.read(".entire/settings.json"))
}

func TestUninstallRestoresFiles(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*desk){
		"nothing there": func(*desk) {},
		"user files": func(d *desk) {
			d.write(".claude/settings.json", "{\n\t\"model\": \"x\", // mine\n\t\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"a\", \"timeout\": 3}]}]}}")
			d.write(".git/hooks/post-commit", "#!/bin/sh\necho hi\n")
			if err := os.Chmod(d.path(".git/hooks/post-commit"), 0o755); err != nil {
				d.Fatal(err)
			}
		},
		"tracked .entire": func(d *desk) {
			d.write(".entire/settings.json", `{"enabled":false,"strategy":"manual-commit"}`)
			d.write(".entire/.gitignore", "tmp/\r\n")
			d.write(".entire/notes.txt", "mine")
			d.git("add", "-A")
			d.git("commit", "-q", "-m", "enable")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := repoDesk(t)
			prepare(d)
			before := d.snapshot()
			d.must("enable", "--agent", "claude-code")
			d.must("enable", "--agent", "claude-code", "--project")
			d.must("disable")
			d.write(".entire/logs/entire.log", "{}\n")
			d.write(".git/entire-sessions/a.json", `{"session_id": "a"}`)
			d.git("branch", "entire/abcdef0-e3b0c4")
			d.git("branch", "entire/checkpoints/v1")
			out := d.must("disable", "--uninstall", "--force")
			if !strings.Contains(out, "Removed the state of 1 session\n") || !strings.Contains(out, "Removed 1 shadow branch\n") {
				t.Error(out)
			}
			check(t, "entire/checkpoints/v1\nmain", d.git("branch", "--format=%(refname:short)"))
			d.git("branch", "-q", "-D", "entire/checkpoints/v1")
			after := d.snapshot()
			for _, left := range []string{".git/refs/heads/entire", ".git/refs/heads/entire/checkpoints", ".git/packed-refs"} {
				delete(after, left) // leftovers of git itself
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUninstallKeepsUserChanges(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	d.write(".entire/settings.json", `{"enabled": false}`)
	d.write(".entire/.gitignore", "tmp/\n")
	d.must("enable", "--agent", "claude-code", "--project")
	d.write(".entire/settings.json", `{"enabled": true, "log_level": "debug"}`)
	d.write(".entire/.gitignore", d.read(".entire/.gitignore")+"mine/\n")
	d.must("disable", "--uninstall", "--force")
	check(t, `{"enabled": false, "log_level": "debug"}`, d.read(".entire/settings.json"))
	check(t, "tmp/\nmine/\n", d.read(".entire/.gitignore"))
}

func TestUninstallOfTheLastWorktreeCleansAll(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	d.git("worktree", "add", "-q", d.path("../other"))
	before := d.snapshot()
	other := *d
	other.root = d.path("../other")
	otherBefore := other.snapshot()
	d.must("enable", "--agent", "claude-code")
	other.must("enable", "--agent", "claude-code")
	other.write(".entire/tmp/x", "x")
	out := d.must("disable", "--uninstall", "--force")
	if !strings.Contains(out, "uninstalled from this worktree") || !strings.Contains(out, "other") {
		t.Error(out)
	}
	check(t, "Enabled (manual-commit), by `entire enable` on this machine\nSnapshots: off\nNext: start your agent and work as usual; `entire log` then lists its turns\n", other.must("status"))
	if out := other.must("disable", "--uninstall", "--force"); !strings.Contains(out, "Removed git hooks") {
		t.Error(out)
	}
	if diff := cmp.Diff(before, d.snapshot()) + cmp.Diff(otherBefore, other.snapshot()); diff != "" {
		t.Error(diff)
	}
}

func TestUninstallKeepsSharedExcludeFile(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	d.git("worktree", "add", "-q", d.path("../other"))
	d.write(".git/info/exclude", "mine\n")
	before := d.snapshot()
	other := *d
	other.root = d.path("../other")
	d.must("enable", "--agent", "claude-code", "--local")
	other.must("enable", "--agent", "claude-code", "--local")
	d.must("disable", "--uninstall", "--force")
	check(t, "", other.git("status", "--porcelain", "-uall"))
	check(t, "", d.git("status", "--porcelain", "-uall"))
	other.must("disable", "--uninstall", "--force")
	if diff := cmp.Diff(before, d.snapshot()); diff != "" {
		t.Error(diff)
	}
}

func TestUninstallAsks(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	d.must("enable", "--agent", "claude-code")
	d.terminal = ui.Terminal{In: true, Out: true, Err: true, Accessible: true, Plain: true}
	d.input = strings.NewReader("n\n")
	if out := d.must("disable", "--uninstall"); !strings.Contains(out, "Nothing was removed.") {
		t.Error(out)
	}
	check(t, "Enabled (manual-commit), by this repository's settings\nSnapshots: off\nNext: start your agent and work as usual; `entire log` then lists its turns\n", d.must("status"))
	d.input = strings.NewReader("y\n")
	if out := d.must("disable", "--uninstall"); !strings.Contains(out, "uninstalled") {
		t.Error(out)
	}
}

func TestInteractiveEnable(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	d.terminal = ui.Terminal{In: true, Out: true, Err: true, Accessible: true, Plain: true}
	d.input = strings.NewReader("2\nn\nn\n") // the last two answers are for machines with claude
	if r := d.entire("enable"); r.code != 0 || !strings.Contains(r.out, "(.entire/settings.local.json)") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}

func TestInteractiveEnableWithTheAgentsProgram(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	program := filepath.Join(filepath.Dir(d.home), "bin", "claude")
	if err := testkit.WriteProgram(program, "#!/bin/sh\necho \"$*\" >> \"$HOME/calls\"\n"); err != nil {
		t.Fatal(err)
	}
	d.terminal = ui.Terminal{In: true, Out: true, Err: true, Accessible: true, Plain: true}
	d.input = strings.NewReader("1\ny\ny\n")
	r := d.entire("enable")
	if r.code != 0 || !strings.Contains(r.out, "asks before /clear (.claude/settings.local.json)") || !strings.Contains(r.out, "Status line installed") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	calls, err := os.ReadFile(filepath.Join(d.home, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "mcp add entire --scope local -- entire mcp\n", string(calls))
	check(t, "?? .claude/settings.json\n?? .entire/.gitignore\n?? .entire/settings.json", d.git("status", "--porcelain", "-uall"))
}

// TestEnableDefaults accepts every default: settings for everybody, the question before /clear, and
// no status line.
func TestEnableDefaults(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	program := filepath.Join(filepath.Dir(d.home), "bin", "claude")
	if err := testkit.WriteProgram(program, "#!/bin/sh\n"); err != nil {
		t.Fatal(err)
	}
	d.terminal = ui.Terminal{In: true, Out: true, Err: true, Accessible: true, Plain: true}
	d.input = strings.NewReader("\n\n\n")
	r := d.entire("enable")
	if r.code != 0 || !strings.Contains(r.out, "asks before /clear") || strings.Contains(r.out, "Status line installed") ||
		!strings.Contains(r.out, "(.entire/settings.json)") || strings.Contains(r.out, "entire enable --mcp") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	other := repoDesk(t)
	other.env = d.env // includes the agent's program
	if out := other.must("enable", "--agent", "claude-code"); !strings.Contains(out, "entire enable --mcp      be asked before /clear") {
		t.Error(out)
	}
	if out := other.must("enable", "--agent", "claude-code", "--mcp"); strings.Contains(out, "be asked before") {
		t.Error(out)
	}
}

// TestEnableSkipsImpossibleQuestions checks that the question before /clear is left out if another
// MCP server has the name.
func TestEnableSkipsImpossibleQuestions(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	program := filepath.Join(filepath.Dir(d.home), "bin", "claude")
	if err := testkit.WriteProgram(program, "#!/bin/sh\n"); err != nil {
		t.Fatal(err)
	}
	d.write(".mcp.json", `{"mcpServers": {"entire": {"command": "another"}}}`)
	d.terminal = ui.Terminal{In: true, Out: true, Err: true, Accessible: true, Plain: true}
	d.input = strings.NewReader("\n\n\n")
	if r := d.entire("enable"); r.code != 0 || strings.Contains(r.err, "/clear") || strings.Contains(r.out, "asks before /clear") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
}

func TestProposals(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	d.write(".entire/settings.json", `{"strategy_options": {"push_remote": "https://example.com/x", "summarize": {"enabled": true}}, "recall": {"model_pass": true}}`)
	d.must("enable", "--agent", "claude-code")
	if out := d.must("status"); strings.Count(out, "proposes") != 3 {
		t.Error(out)
	}
	d.terminal = ui.Terminal{In: true, Out: true, Err: true, Accessible: true, Plain: true}
	d.input = strings.NewReader("y\nn\ny\n")
	check(t, "Already enabled. Everything looks good.\n", d.must("enable"))
	check(t, "{\n  \"version\": 1,\n  \"approved\": {\n    \"recall.model_pass\": \"true\",\n    \"strategy_options.push_remote\": \"https://example.com/x\"\n  }\n}\n", d.read(".git/entire/approved.json"))
	if out := d.must("config"); !strings.Contains(out, "https://example.com/x") {
		t.Error(out)
	}
	if out := d.must("status"); strings.Count(out, "proposes") != 1 || !strings.Contains(out, "summarize") {
		t.Error(out)
	}
}

func TestEnableRefuses(t *testing.T) {
	t.Parallel()
	outside := newDesk(t)
	if r := outside.entire("enable", "--agent", "claude-code"); r.code != 1 || !strings.HasPrefix(r.err, "not a git repository\nhint:") {
		t.Errorf("%d %s", r.code, r.err)
	}
	bare := newDesk(t)
	bare.git("init", "-q", "--bare")
	if r := bare.entire("enable", "--agent", "claude-code"); r.code != 1 || !strings.Contains(r.err, "bare repository") {
		t.Errorf("%d %s", r.code, r.err)
	}
	link := repoDesk(t)
	if err := os.Symlink(link.home, link.path(".entire")); err != nil {
		t.Fatal(err)
	}
	if r := link.entire("enable", "--agent", "claude-code"); r.code != 1 || !strings.Contains(r.err, "is not a directory") {
		t.Errorf("%d %s", r.code, r.err)
	}
	broken := repoDesk(t)
	broken.write(".claude/settings.json", "{\n  \"a\": ,\n}")
	if r := broken.entire("enable", "--agent", "claude-code"); r.code != 1 || !strings.Contains(r.err, "settings.json:2:") {
		t.Errorf("%d %s", r.code, r.err)
	}
}

func TestEnableFromASubdirectory(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	d.write("a/b/c", "x")
	sub := *d
	sub.root = d.path("a/b")
	sub.must("enable", "--agent", "claude-code")
	if _, err := os.Stat(filepath.Join(d.root, ".entire", "settings.json")); err != nil {
		t.Error(err)
	}
}
