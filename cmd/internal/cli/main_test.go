package cli_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/cli"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

func TestMain(m *testing.M) {
	code := testkit.InMemory(m).Run()
	_ = os.RemoveAll(programsDir) // "" removes nothing
	os.Exit(code)
}

// desk is a person's machine: a repository, an empty home, a clean environment.
type desk struct {
	testing.TB

	root, home string
	env        []string
	terminal   ui.Terminal
	input      io.Reader
	now        time.Time
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{TB: t, root: filepath.Join(base, "work"), home: filepath.Join(base, "home"), input: strings.NewReader("")}
	d.now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	bin := filepath.Join(base, "bin")
	for _, dir := range []string{d.root, d.home, bin} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := testkit.WriteProgram(filepath.Join(bin, "entire"), "#!/bin/sh\n"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.home, ".gitconfig"), []byte(gittest.Config), 0o600); err != nil {
		t.Fatal(err)
	}
	d.env = []string{
		"HOME=" + d.home, "PATH=" + bin + ":" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "ENTIRE_BANDS_ENABLED=false",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	return d
}

// repoDesk returns a desk with a repository and a commit.
func repoDesk(t testing.TB) *desk {
	t.Helper()
	d := newDesk(t)
	d.git("init", "-q", "-b", "main")
	d.write("README", "hello\n")
	d.git("add", "README")
	d.git("commit", "-q", "-m", "Begin")
	return d
}

func (d *desk) git(args ...string) string {
	d.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = d.root, d.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

func (d *desk) path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

func (d *desk) write(name, text string) {
	d.Helper()
	if err := os.MkdirAll(filepath.Dir(d.path(name)), 0o755); err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(d.path(name), []byte(text), 0o644); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) read(name string) string {
	d.Helper()
	data, err := os.ReadFile(d.path(name))
	if err != nil {
		d.Fatal(err)
	}
	return string(data)
}

// with returns the environment with more variables.
func (d *desk) with(more ...string) []string { return slices.Concat(d.env, more) }

func (d *desk) getenv(name string) string {
	value := ""
	for _, e := range d.env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

// result holds the exit status and the output of a command.
type result struct {
	code     int
	out, err string
}

// entire runs a command line. Paths of the desk are shown as $WORK and $HOME.
func (d *desk) entire(args ...string) result {
	d.Helper()
	var out, errs bytes.Buffer
	code := cli.Main(context.Background(), args, app.Env{
		Dir: d.root, Home: d.home, Environ: d.env, Getenv: d.getenv,
		Streams: ui.Streams{In: d.input, Out: &out, Err: &errs, Terminal: d.terminal},
		Now:     func() time.Time { return d.now },
		Version: "1.2.3",
	})
	hide := strings.NewReplacer(d.root, "$WORK", d.home, "$HOME")
	return result{code, hide.Replace(out.String()), hide.Replace(errs.String())}
}

// must runs a command that succeeds and returns what it printed on Out.
func (d *desk) must(args ...string) string {
	d.Helper()
	r := d.entire(args...)
	if r.code != 0 {
		d.Fatalf("entire %q: exit %d\n%s%s", args, r.code, r.out, r.err)
	}
	return r.out
}

// snapshot returns the mode and bytes of every file below the worktree, except files of git that
// change by themselves.
func (d *desk) snapshot() map[string]string {
	d.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(d.root, path)
		if strings.HasPrefix(name, ".git/objects") || strings.HasPrefix(name, ".git/logs") || name == ".git/index" {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(data)
		}
		files[name] = text
		return nil
	})
	if err != nil {
		d.Fatal(err)
	}
	return files
}

func check(t testing.TB, want, got string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	for _, c := range []struct {
		args string
		code int
		text string // on standard error, of at most three lines
	}{
		{"frobnicate", 2, `Error: Invalid usage: unknown command "frobnicate" for "entire"`},
		{"status --frob", 2, "Error: Invalid usage: unknown flag: --frob"},
		{"status x", 2, `Error: Invalid usage: "entire status" takes no argument "x"`},
		{"rewnd", 2, "hint: did you mean `entire rewind`?"},
		{"explane", 2, "hint: did you mean `entire show`, `entire log --commits`?"},
		{"undo", 1, "hint: `entire rewind last` undoes the last turn"},
		{"lgo", 2, "hint: did you mean `entire log`?"},
		{"session", 2, "hint: did you mean `entire log --sessions`?"},
		{"recall lsit", 2, "hint: did you mean `entire recall list`?"},
		{"fs chekpoint list", 2, "hint: did you mean `entire fs checkpoint`?"},
		{"rewind --too v1", 2, "hint: did you mean --to?"},
		{"rewind --all --code", 2, "Error: Invalid usage: --all and --code can't be combined"},
		{"explain -z", 2, "Error: Invalid usage: unknown shorthand flag: 'z' in -z"},
		{"forget", 2, "Error: Invalid usage: one of --text, --text-file, --session, --checkpoint, --file, --before, --listed, --push is needed"},
		{"resume", 2, "hint: type entire resume <branch | commit | checkpoint | session>; `entire log --sessions` lists sessions"},
		{"enable --agent claude", 2, "hint: did you mean --agent claude-code?"},
		{"config log_level debug x", 2, `Error: Invalid usage: unknown command "log_level" for "entire config"`},
		{"snapshot", 3, "hint: `entire enable` creates one for this repository"},
		{"checkpoint", 2, "hint: `entire log --commits` lists checkpoints, `entire snapshot create` takes a snapshot"},
		{"diff", 3, "hint: `entire enable` creates one for this repository"},
		{"link HEAD", 2, "hint: type entire link <commit> <session>"},
		{"unlink a b", 2, "hint: type entire unlink [<commit>]"},
		{"completion nosh", 2, `Error: Invalid usage: no completion for the shell "nosh" (known: bash, zsh, fish, powershell)`},
		{"recall save a b", 2, "hint: type entire recall save [<message>]"},
		{"fs export v1", 2, "hint: type entire fs export <version> <dir>"},
		{"fs show", 2, "Error: Invalid usage: an argument is missing"},
		{"help frob", 2, `Error: Invalid usage: unknown help topic "frob"`},
		{"enable --agent frob", 2, `Error: Invalid usage: unknown agent "frob" (known: claude-code, codex, copilot, cursor, gemini, opencode, pi, qwen)`},
		{"enable --strategy frob", 2, `Error: Invalid usage: unknown strategy "frob" (known: manual-commit, auto-commit)`},
		{"enable --local --project", 2, "Error: Invalid usage: --local and --project can't be combined"},
		{"disable --uninstall", 2, "Error: can't ask without a terminal: Remove Entire from this repository?"},
		{"disable --uninstall", 2, "hint: pass --force"},
		{"clean --dry-run", 0, ""},
		{"--version", 0, ""},
		{"-v", 0, ""},
		{"help workflows", 0, ""},
		{"", 0, ""},
		{"help", 0, ""},
		{"help enable", 0, ""},
		{"completion bash", 0, ""},
		{"hooks frob --frob", 0, ""},
	} {
		r := d.entire(strings.Fields(c.args)...)
		lines := strings.Split(strings.TrimRight(r.err, "\n"), "\n")
		if r.code != c.code || len(lines) > 3 || (c.text != "" && !slices.Contains(lines, c.text)) {
			t.Errorf("entire %s: exit %d, %q", c.args, r.code, lines)
		}
		if c.code != 0 && r.out != "" {
			t.Errorf("entire %s: output %q", c.args, r.out)
		}
	}
	if names := d.git("status", "--porcelain"); names != "" {
		t.Errorf("wrote %s", names)
	}
}

// TestNoSuggestionForOtherWords checks that a word of the same length as a short name isn't
// corrected to it.
func TestNoSuggestionForOtherWords(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, args := range []string{"rewind --foo", "explain --foo", "foo", "bar", "fs foo"} {
		if r := d.entire(strings.Fields(args)...); r.code != 2 || strings.Contains(r.err, "did you mean") {
			t.Errorf("entire %s: exit %d, %q", args, r.code, r.err)
		}
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	out := newDesk(t).must("version")
	if !strings.HasPrefix(out, "Entire CLI 1.2.3\nGo version: go") || !strings.Contains(out, "\nOS/Arch: ") {
		t.Error(out)
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	d := repoDesk(t)
	d.terminal = ui.Terminal{In: true, Out: true, Err: true, Accessible: true, Plain: true}
	if r := d.entire("enable"); r.code != 130 || !strings.Contains(r.err, "Cancelled.") {
		t.Errorf("exit %d, %s", r.code, r.err)
	}
}
