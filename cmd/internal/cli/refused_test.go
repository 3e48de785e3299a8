package cli_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/cli"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// attackArgs returns the arguments with which each command gets as far as possible in a repository
// that git refuses. A command that isn't listed fails the test.
func attackArgs() map[string]string {
	args := map[string]string{
		"": "", "bisect": "", "bisect run": "-- true", "bisect log": "", "bisect replay": "x", "bisect reset": "", "blame": "a.txt", "why": "a.txt:1", "clean": "--force", "config": "", "config get": "strategy", "config set": "log_level debug --local", "config unset": "log_level --user", "disable": "--force", "check": "", "doctor": "--fix --force", "enable": "--agent claude-code --force",
		"explain": "HEAD", "link": "HEAD 0123", "log": "", "browse": "", "search": "x", "usage": "", "report": "--md -", "unlink": "--force", "forget": "--text x --force", "redact": "", "redact check": "a.txt", "hooks": "claude-code stop", "import": "", "mcp": "", "recall": "", "recall configure": "--session-only --mode auto",
		"recall discard": "0123456789ab", "recall list": "", "recall resume": "0123456789ab", "recall save": "-m x", "recall search": "x", "recall why-not": "a.txt",
		"recall show": "0123456789ab", "reset": "--force", "resume": "--force HEAD", "rewind": "--list", "fork": "now made", "fork diff": "", "fork list": "", "fork remove": "x", "sessions": "", "completion": "bash", "completion install": "bash", "completion uninstall": "bash", "agents": "", "agents install": "codex", "agents remove": "codex", "status": "", "statusline": "", "trust": "", "config trust": "", "version": "",
		"show": "", "undo": "--force", "redo": "--force", "diff": "", "push": "origin", "fetch": "origin", "snapshot": "", "snapshot create": "x", "snapshot list": "", "snapshot show": "v1",
		"snapshot restore": "v1 --force", "snapshot export": "v1 out", "snapshot delete": "v1 --force", "snapshot du": "", "snapshot prune": "", "snapshot verify": "",
	}
	stores := map[string]string{
		"": "", "bisect": "", "bisect run": "-- true", "bisect log": "", "bisect replay": "x", "bisect reset": "", "blame": "a.txt", "log": "", "search": "x", "timeline": "", "checkpoint": "", "checkpoint create": "x", "checkpoint delete": "-f v1", "checkpoint info": "v1", "checkpoint list": "",
		"close": "", "convert": "-f . --driver tree", "delete": "-f x", "diff": "v1", "doctor": "", "du": "", "export": "v1 out", "init": "made", "list": "",
		"manage": ".", "open": "", "prune": "", "restore": "-f v1", "show": "v1 a.txt", "status": "", "unmanage": "-f", "use": "x", "verify": "", "version": "", "completion": "bash", "completion install": "bash", "completion uninstall": "bash",
	}
	all := make(map[string]string)
	for name, value := range args {
		all[strings.TrimSpace("entire "+name)] = value
	}
	for name, value := range stores {
		all[strings.TrimSpace("agentfs "+name)] = value
		if name != "version" && !strings.HasPrefix(name, "completion") {
			all[strings.TrimSpace("entire fs "+name)] = value
		}
	}
	return all
}

// hookVerbs returns the events of the hooks, read from the code that handles them.
func hookVerbs(t *testing.T, agent, file string) []string {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var verbs []string
	for _, line := range regexp.MustCompile(`(?m)^\tcase ("[a-z-]+"(?:, "[a-z-]+")*):`).FindAllStringSubmatch(string(source), -1) {
		for _, verb := range regexp.MustCompile(`[a-z-]+`).FindAllString(line[1], -1) {
			if call := "entire hooks " + agent + " " + verb; !slices.Contains(verbs, call) {
				verbs = append(verbs, call)
			}
		}
	}
	if len(verbs) < 5 { //nolint:mnd // as many as git has
		t.Fatalf("hooks in %s: %q", file, verbs)
	}
	return verbs
}

// trapped is a machine with a repository whose configuration runs a program that writes a mark,
// wherever git runs a program named by the configuration.
type trapped struct {
	*desk

	dir, gitDir, mark string
	bin               string
}

// trap adds the traps to the configuration in the git directory.
func (t *trapped) trap() {
	t.Helper()
	program := filepath.Join(filepath.Dir(t.mark), "trap")
	hooks := filepath.Join(filepath.Dir(t.mark), "traps")
	script := "#!/bin/sh\necho \"$0 $*\" >> " + t.mark + "\nexit 1\n"
	fine(t, testkit.WriteProgram(program, script))
	for _, name := range []string{
		"applypatch-msg", "pre-applypatch", "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-rebase",
		"post-checkout", "post-merge", "pre-push", "post-rewrite", "pre-auto-gc", "reference-transaction", "post-index-change", "fsmonitor-watchman",
	} {
		fine(t, testkit.WriteProgram(filepath.Join(hooks, name), script))
	}
	config, err := os.OpenFile(filepath.Join(t.gitDir, "config"), os.O_APPEND|os.O_WRONLY, 0)
	fine(t, err)
	_, err = fmt.Fprintf(config, `
[core]
	fsmonitor = %[1]s
	sshCommand = %[1]s
	hooksPath = %[2]s
	editor = %[1]s
	pager = %[1]s
	askPass = %[1]s
	gitProxy = %[1]s
	alternateRefsCommand = %[1]s
[sequence]
	editor = %[1]s
[filter "trap"]
	clean = %[1]s
	smudge = %[1]s
	process = %[1]s
	required = true
[diff]
	external = %[1]s
[diff "trap"]
	textconv = %[1]s
	command = %[1]s
[merge "trap"]
	driver = %[1]s
[gpg]
	program = %[1]s
[commit]
	gpgSign = true
[alias]
	status = !%[1]s
	rev-parse = !%[1]s
	x = !%[1]s
[credential]
	helper = !%[1]s
[uploadpack]
	packObjectsHook = %[1]s
[trailer "Entire-Checkpoint"]
	command = %[1]s
	cmd = %[1]s
[remote "origin"]
	url = ext::%[1]s
	uploadpack = %[1]s
	receivepack = %[1]s
	vcs = trap
	promisor = true
`, program, hooks)
	fine(t, errors.Join(err, config.Close()))
	fine(t, errors.Join(
		os.MkdirAll(filepath.Join(t.gitDir, "info"), 0o755),
		os.WriteFile(filepath.Join(t.gitDir, "info", "attributes"), []byte("* filter=trap diff=trap merge=trap\n"), 0o600),
		os.MkdirAll(filepath.Join(t.gitDir, "entire"), 0o755),
		os.WriteFile(filepath.Join(t.gitDir, "entire", "enabled"), nil, 0o600),
	))
}

func fine(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// call runs a command line of one of the programs in the repository. It returns the trap that was
// triggered, if any.
func (t *trapped) call(line, args string) string {
	t.Helper()
	words := append(strings.Fields(line), strings.Fields(args)...)
	cmd := exec.Command(filepath.Join(t.bin, words[0]), words[1:]...)
	cmd.Dir = t.dir
	cmd.Env = append(slices.Clone(t.env), "CLAUDE_PROJECT_DIR="+t.dir, "ENTIRE_NO_DETACH=1", "ENTIRE_BANDS_ENABLED=true")
	if strings.Contains(line, "hooks") || strings.Contains(line, "statusline") {
		cmd.Stdin = strings.NewReader(`{"session_id":"6d2f4a34-0000-4000-8000-000000000001","cwd":"` + t.dir +
			`","prompt":"do it","source":"startup","reason":"other","trigger":"auto","tool_name":"Task","tool_use_id":"toolu_1","tool_input":{},` +
			`"workspace":{"current_dir":"` + t.dir + `"}}`)
	}
	_ = cmd.Run() // most of them fail here
	sprung, err := os.ReadFile(t.mark)
	if err != nil {
		return ""
	}
	fine(t, os.Remove(t.mark))
	return string(sprung)
}

// listing returns the names and sizes of all files in the git directory, except those that "agentfs
// init" and "manage" create without git.
func (t *trapped) listing() []string {
	t.Helper()
	var list []string
	fine(t, filepath.WalkDir(t.gitDir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && e.Type().IsRegular() && e.Name() != ".agentfs" {
			list = append(list, fmt.Sprint(path, " ", info.Size()))
		}
		return err
	}))
	return list
}

// newTrapped creates a repository of the kind, with traps.
func newTrapped(t *testing.T, kind, bin string) *trapped {
	t.Helper()
	d := repoDesk(t)
	r := &trapped{desk: d, dir: d.root, gitDir: filepath.Join(d.root, ".git"), bin: bin}
	r.mark = filepath.Join(filepath.Dir(d.root), "mark")
	fine(t, os.MkdirAll(filepath.Join(d.root, ".entire"), 0o755))
	d.write(".entire/settings.json", `{"enabled": true}`)
	d.write("a.txt", "a\n")
	if strings.Contains(kind, "embedded") {
		r.dir = filepath.Join(d.root, "fixtures", "inner")
		r.gitDir = r.dir
		fine(t, os.MkdirAll(filepath.Dir(r.dir), 0o755))
		d.git("clone", "-q", "--bare", ".", r.dir)
		fine(t, os.MkdirAll(filepath.Join(r.dir, ".entire"), 0o755))
		fine(t, os.WriteFile(filepath.Join(r.dir, ".entire", "settings.json"), []byte(`{"enabled": true}`), 0o600))
		d.git("config", "--global", "safe.bareRepository", "explicit")
	}
	if strings.Contains(kind, "working tree") {
		tree := filepath.Join(filepath.Dir(r.dir), "elsewhere")
		fine(t, os.MkdirAll(filepath.Join(tree, ".entire"), 0o755))
		fine(t, os.WriteFile(filepath.Join(tree, ".entire", "settings.json"), []byte(`{"enabled": true}`), 0o600))
		d.git("-C", r.dir, "--git-dir="+r.gitDir, "config", "core.bare", "false")
		d.git("-C", r.dir, "--git-dir="+r.gitDir, "config", "core.worktree", tree)
	}
	r.trap()
	if strings.HasPrefix(kind, "foreign") {
		r.changeOwner()
	}
	return r
}

// changeOwner makes another user the owner of the repository. Without root, only git assumes so.
func (t *trapped) changeOwner() {
	t.Helper()
	if os.Geteuid() != 0 {
		t.env = append(t.env, "GIT_TEST_ASSUME_DIFFERENT_OWNER=1")
		return
	}
	const nobody = 65534
	fine(t, filepath.WalkDir(t.dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	}))
}

// TestAttackConfigurationOfARefusedRepository runs every command and hook in a repository that git
// refuses: no program of its configuration may run, and nothing may be written into its git
// directory.
func TestAttackConfigurationOfARefusedRepository(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "every command in five repositories")
	args := attackArgs()
	for _, line := range cli.CommandPaths() {
		if _, ok := args[line]; !ok {
			t.Errorf("%q isn't in attackArgs: say how it is called in a repository that git refuses", line)
		}
	}
	hooks := slices.Concat(
		hookVerbs(t, "claude-code", "../../../hooks/agenthook/event.go"), hookVerbs(t, "git", "../../../hooks/githook/event.go"))
	for _, child := range []string{"complete", "snapshot", "summarize", "recall"} {
		hooks = append(hooks, "entire hooks "+child)
	}
	hooks = append(hooks, "entire hooks claude-code "+agenthook.PreTool, "entire hooks qwen "+agenthook.PostUse)
	for _, line := range hooks {
		args[line] = map[bool]string{true: "COMMIT_EDITMSG", false: ""}[strings.HasSuffix(line, "msg")]
	}
	bin := programs(t)
	t.Logf("%d command lines", len(args))
	for _, kind := range []string{
		"foreign", "foreign, with a working tree", "embedded", "embedded, with a working tree", "foreign, embedded, with a working tree",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newTrapped(t, kind, bin)
			refused := exec.Command("git", "status")
			refused.Dir, refused.Env = r.dir, r.env
			if out, err := refused.CombinedOutput(); err == nil {
				t.Skipf("this git doesn't refuse it:\n%s", out)
			}
			before := r.listing()
			for _, line := range slices.Sorted(maps.Keys(args)) {
				if sprung := r.call(line, args[line]); sprung != "" {
					t.Errorf("%s %s ran\n%s", line, args[line], sprung)
				}
				if diff := cmp.Diff(before, r.listing()); diff != "" {
					t.Fatalf("%s %s changed the git directory:\n%s", line, args[line], diff)
				}
			}
		})
	}
	t.Run("the traps work", func(t *testing.T) {
		t.Parallel()
		for _, kind := range []string{"accepted", "accepted, with a working tree"} {
			r := newTrapped(t, kind, bin)
			sprung := false
			for _, verb := range []string{"session-start", "user-prompt-submit", "stop"} {
				sprung = r.call("entire hooks claude-code "+verb, "") != "" || sprung
			}
			if !sprung {
				t.Errorf("%s: no hook of a session springs one", kind)
			}
			if r.call("entire status", "") == "" {
				t.Errorf("%s: status springs none", kind)
			}
		}
	})
}
