package githook_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/hooks/githook"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// box is a repository with a person around it. On its PATH is a program
// "entire" that writes its arguments and, for post-rewrite, its input into the
// log.
type box struct {
	*testkit.Repo
	tb  testing.TB
	log string
}

const fakeEntire = `#!/bin/sh
case $3 in
(post-rewrite) in=$(cat) ;;
(*) in= ;;
esac
echo "entire $* $in" >> "$LOG"
[ "$3" != commit-msg ] || echo "entire says hello" >&2
exit 1
`

func newBox(tb testing.TB) *box {
	tb.Helper()
	top, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	bin := filepath.Join(top, "bin")
	home := filepath.Join(top, "home")
	for _, dir := range []string{bin, home, filepath.Join(top, "repo")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	b := &box{tb: tb, log: filepath.Join(top, "log")}
	env := testkit.CleanEnv(home, top, bin+":"+toolPath(tb)).Without("GIT_CONFIG_NOSYSTEM").
		With("LOG="+b.log, "GIT_CONFIG_SYSTEM="+filepath.Join(top, "system"))
	b.Repo = &testkit.Repo{TB: tb, Dir: filepath.Join(top, "repo"), Env: env}
	b.executable(filepath.Join(bin, "entire"), fakeEntire)
	b.Git("config", "--global", "user.name", "Ann")
	b.Git("config", "--global", "user.email", "ann@example.com")
	b.Git("init", "-q", "-b", "main")
	b.Git("commit", "-q", "--allow-empty", "-m", "first")
	return b
}

// toolPath is where git and the shell are.
func toolPath(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		tb.Fatal(err)
	}
	return filepath.Dir(path) + ":/usr/bin:/bin"
}

func (b *box) at(dir string) *box {
	return &box{Repo: b.Repo.At(dir), tb: b.tb, log: b.log}
}

func (b *box) installer() githook.Installer {
	b.tb.Helper()
	repo, err := git.Discover(git.Locate{Dir: b.Dir, Environ: b.Env})
	if err != nil {
		b.tb.Fatal(err)
	}
	return githook.Installer{Repo: repo}
}

func (b *box) install() githook.Report {
	b.tb.Helper()
	r, err := b.installer().Install(b.tb.Context())
	if err != nil {
		b.tb.Fatal(err)
	}
	if len(r.Installed) != 5 {
		b.tb.Fatalf("installed only %v", r.Installed)
	}
	again := b.installer()
	if r, err := again.Install(b.tb.Context()); err != nil || r.Changed {
		b.tb.Fatalf("the second time: %+v, %v", r, err)
	}
	if n := again.Repo.Processes(); n > 2 {
		b.tb.Errorf("the second time took %d git processes", n)
	}
	if s := b.check(); !s.OK() || s.NoFolder || len(s.Missing)+len(s.Overwritten)+len(s.Outdated) > 0 {
		b.tb.Errorf("status after installing: %+v", s)
	}
	return r
}

func (b *box) uninstall() githook.Report {
	b.tb.Helper()
	r, err := b.installer().Uninstall(b.tb.Context())
	if err != nil {
		b.tb.Fatal(err)
	}
	return r
}

func (b *box) check() githook.Status {
	b.tb.Helper()
	s, err := b.installer().Check(b.tb.Context())
	if err != nil {
		b.tb.Fatal(err)
	}
	return s
}

func (b *box) executable(path, text string) {
	b.tb.Helper()
	b.Write(path, text)
	if err := os.Chmod(b.Path(path), 0o755); err != nil {
		b.tb.Fatal(err)
	}
}

// logging is a foreign hook that logs its name and what its input was.
func logging(name string) string {
	return "#!/bin/sh\n[ -t 0 ] || in=$(cat)\necho \"" + name + " $# $in\" >> \"$LOG\"\n"
}

// did runs f and returns the first words of what was logged meanwhile.
func (b *box) did(f func()) []string {
	b.tb.Helper()
	if err := os.WriteFile(b.log, nil, 0o644); err != nil {
		b.tb.Fatal(err)
	}
	f()
	var lines []string
	for line := range strings.Lines(b.Read(b.log)) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "entire hooks git "); ok {
			line = "entire " + rest
		}
		words := strings.Fields(line)
		lines = append(lines, strings.Join(words[:min(2, len(words))], " "))
	}
	return lines
}

// want compares what commit logs.
func (b *box) wantCommit(want ...string) {
	b.tb.Helper()
	got := b.did(func() { b.Git("commit", "-q", "--allow-empty", "-m", "more") })
	if diff := cmp.Diff(want, got); diff != "" {
		b.tb.Errorf("commit ran (-want +got):\n%s", diff)
	}
}

func oursOnly() []string {
	return []string{"entire prepare-commit-msg", "entire commit-msg", "entire post-commit"}
}

// dump is everything below a directory but git's objects and logs.
func dump(tb testing.TB, root string) map[string]string {
	tb.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "objects" || d.Name() == "logs") {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := info.Mode().String() + " "
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			all[path] = text + target
			return err
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			all[path] = text + string(data)
			return err
		}
		all[path] = text
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

// roundTrip installs, lets f look at it, uninstalls and compares everything
// with what was there before.
func (b *box) roundTrip(f func(r githook.Report)) {
	b.tb.Helper()
	b.Git("status") // settles the index
	before := dump(b.tb, filepath.Dir(b.CommonDir()))
	r := b.install()
	if !r.Changed {
		b.tb.Error("nothing changed")
	}
	f(r)
	b.uninstall()
	after := dump(b.tb, filepath.Dir(b.CommonDir()))
	for _, m := range []map[string]string{before, after} {
		for path := range m {
			base := filepath.Base(path)
			if base == "index" || base == "COMMIT_EDITMSG" || strings.Contains(path, "/refs/") || base == "ORIG_HEAD" {
				delete(m, path)
			}
		}
	}
	if diff := cmp.Diff(before, after); diff != "" {
		b.tb.Errorf("uninstalling left (-before +after):\n%s", diff)
	}
}

func TestInstalledHooksRunEntireAndLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.roundTrip(func(r githook.Report) {
		if r.Redirected || r.Dir != b.Path(".git/hooks") || len(r.Chained) > 0 {
			t.Errorf("report: %+v", r)
		}
		b.wantCommit(oursOnly()...)
		result := b.TryGit("commit", "-q", "--allow-empty", "-m", "x")
		if result.Code != 0 || result.Stderr != "entire says hello\n" {
			t.Errorf("commit: %+v", result)
		}
		for _, hook := range r.Installed {
			info, err := os.Stat(filepath.Join(r.Dir, hook))
			if err != nil || info.Mode().Perm() != 0o755 {
				t.Errorf("%s: %v, %v", hook, info.Mode(), err)
			}
			if !strings.Contains(b.Read(filepath.Join(r.Dir, hook)), "\n# Entire CLI hooks\n") {
				t.Errorf("%s has no marker", hook)
			}
		}
	})
}

func TestInstallMakesAndRemovesAMissingHooksDirectory(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	if err := os.RemoveAll(b.Path(".git/hooks")); err != nil {
		t.Fatal(err)
	}
	b.roundTrip(func(githook.Report) { b.wantCommit(oursOnly()...) })
}

func TestMissingBinaryIsSilentAndHarmless(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.executable(".git/hooks/commit-msg", logging("theirs"))
	b.install()
	b.Env = b.Env.With("PATH=" + toolPath(t))
	if _, err := os.Stat("/usr/bin/entire"); err == nil {
		t.Skip("entire is installed beside git")
	}
	result := b.TryGit("commit", "-q", "--allow-empty", "-m", "x")
	if result.Code != 0 || result.Stderr+result.Stdout != "" {
		t.Errorf("commit: %+v", result)
	}
	if got := b.Read(b.log); got != "theirs 1\n" && got != "theirs 1 \n" {
		t.Errorf("log: %q", got)
	}
}

func TestForeignHooksRunInOrderAndDecide(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for _, hook := range []string{"prepare-commit-msg", "commit-msg", "post-commit", "post-rewrite", "pre-push"} {
		b.executable(".git/hooks/"+hook, logging("their-"+hook))
	}
	b.Git("init", "-q", "--bare", "../remote")
	b.roundTrip(func(r githook.Report) {
		if len(r.Chained) != 5 {
			t.Errorf("report: %+v", r)
		}
		b.wantCommit("their-prepare-commit-msg 2", "entire prepare-commit-msg", "their-commit-msg 1", "entire commit-msg",
			"entire post-commit", "their-post-commit 0")
		got := b.did(func() { b.Git("commit", "-q", "--amend", "--allow-empty", "-m", "y") })
		if diff := cmp.Diff([]string{"entire post-rewrite", "their-post-rewrite 1"}, got[len(got)-2:]); diff != "" {
			t.Error(diff)
		}
		for line := range strings.Lines(b.Read(b.log)) {
			if strings.Contains(line, "rewrite") && !strings.Contains(line, b.Git("rev-parse", "HEAD")) {
				t.Errorf("no input: %q", line)
			}
		}
		got = b.did(func() { b.Git("push", "-q", "../remote", "main") })
		if diff := cmp.Diff([]string{"their-pre-push 2", "entire pre-push"}, got); diff != "" {
			t.Error(diff)
		}
		if log := b.Read(b.log); !strings.Contains(log, "their-pre-push 2 refs/heads/main "+b.Git("rev-parse", "HEAD")) {
			t.Errorf("git's input didn't arrive: %q", log)
		}
	})
}

func TestAForeignHookThatFailsStopsTheCommitAndEntireIsNotAsked(t *testing.T) {
	t.Parallel()
	for _, hook := range []string{"prepare-commit-msg", "commit-msg", "pre-push"} {
		t.Run(hook, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.Git("init", "-q", "--bare", "../remote")
			b.executable(".git/hooks/"+hook, logging("theirs")+"exit 7\n")
			b.install()
			got := b.did(func() {
				result := b.TryGit("commit", "-q", "--allow-empty", "-m", "x")
				if hook == "pre-push" {
					result = b.TryGit("push", "-q", "../remote", "main")
				}
				if result.Code == 0 {
					t.Error("it went on")
				}
			})
			if slices.Contains(got, "entire "+hook) {
				t.Errorf("ran %v", got)
			}
		})
	}
}

func TestOddForeignHooksSurvive(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.executable("scripts/msg", logging("linked"))
	if err := os.Symlink("../../scripts/msg", b.Path(".git/hooks/commit-msg")); err != nil {
		t.Fatal(err)
	}
	b.Write(".git/hooks/post-commit", logging("not-executable"))
	b.Write(".git/hooks/pre-push/README", "a directory")
	if err := os.Symlink("nowhere", b.Path(".git/hooks/post-rewrite")); err != nil {
		t.Fatal(err)
	}
	b.roundTrip(func(githook.Report) {
		b.wantCommit("entire prepare-commit-msg", "linked 1", "entire commit-msg", "entire post-commit")
	})
}

// existingTool is what the existing tool installs for a hook.
func existingTool(program, hook string, chained bool) string {
	text := "#!/bin/sh\n# Entire CLI hooks\n"
	switch hook {
	case "prepare-commit-msg":
		text += program + ` hooks git prepare-commit-msg "$1" "$2" 2>/dev/null || true` + "\n"
	case "commit-msg":
		text += "# Commit-msg hook: strip trailer\n" + program + ` hooks git commit-msg "$1" || exit 1` + "\n"
	case "post-commit":
		text += program + " hooks git post-commit 2>/dev/null || true\n"
	case "pre-push":
		text += program + ` hooks git pre-push "$1" || true` + "\n"
	}
	if chained {
		text += fmt.Sprintf(`# Chain: run pre-existing hook
_entire_hook_dir="$(dirname "$0")"
if [ -x "$_entire_hook_dir/%[1]s.pre-entire" ]; then
    "$_entire_hook_dir/%[1]s.pre-entire" "$@"
fi
`, hook)
	}
	return text
}

func TestTheExistingToolsHooksAreReplacedAndItsBackupsKept(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.executable(".git/hooks/commit-msg.pre-entire", logging("older"))
	for n, hook := range []string{"commit-msg", "prepare-commit-msg", "post-commit", "pre-push"} {
		program := []string{"entire", "go run ./cmd/entire/main.go"}[n%2]
		b.executable(".git/hooks/"+hook, existingTool(program, hook, n == 0))
	}
	if s := b.check(); len(s.Outdated) != 4 || len(s.Missing) != 1 || s.OK() {
		t.Errorf("status: %+v", s)
	}
	b.install()
	b.wantCommit("entire prepare-commit-msg", "older 1", "entire commit-msg", "entire post-commit")
	b.uninstall()
	if got := b.Read(".git/hooks/commit-msg"); got != logging("older") {
		t.Errorf("restored %q", got)
	}
	for _, gone := range []string{"commit-msg.pre-entire", "post-commit", "pre-push", "prepare-commit-msg"} {
		if _, err := os.Lstat(b.Path(".git/hooks/" + gone)); err == nil {
			t.Errorf("%s is still there", gone)
		}
	}
}

func TestAToolThatOverwritesOurHookIsChained(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.executable(".git/hooks/commit-msg", "#!/bin/sh\n# tool, version 1\n"+logging("one"))
	b.install()
	second := "#!/bin/sh\n# tool, version 2\n" + logging("two")
	b.executable(".git/hooks/commit-msg", second)
	if s := b.check(); !slices.Equal(s.Overwritten, []string{"commit-msg"}) || s.OK() {
		t.Errorf("status: %+v", s)
	}
	r := b.install()
	if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "commit-msg.pre-entire.1") {
		t.Errorf("notes: %v", r.Notes)
	}
	b.wantCommit("entire prepare-commit-msg", "two 1", "entire commit-msg", "entire post-commit")
	if got := b.Read(".git/hooks/commit-msg.pre-entire.1"); !strings.Contains(got, "version 1") {
		t.Errorf("the older hook is lost: %q", got)
	}
	// The same content once more adds nothing.
	b.executable(".git/hooks/commit-msg", second)
	if r := b.install(); len(r.Notes) != 0 {
		t.Errorf("notes: %v", r.Notes)
	}
	b.uninstall()
	if got := b.Read(".git/hooks/commit-msg"); got != second {
		t.Errorf("restored %q", got)
	}
}

// preCommitInstall does what `pre-commit install -t commit-msg` does: what is
// there and isn't its own becomes commit-msg.legacy, which its hook runs first.
func (b *box) preCommitInstall() {
	b.tb.Helper()
	hook := b.Path(".git/hooks/commit-msg")
	if text, err := os.ReadFile(hook); err == nil && !strings.Contains(string(text), "# pre-commit shim") {
		if err := os.Rename(hook, hook+".legacy"); err != nil {
			b.tb.Fatal(err)
		}
	}
	b.executable(hook, `#!/bin/sh
# pre-commit shim
here=$(cd "$(dirname "$0")" && pwd)
[ ! -x "$here/commit-msg.legacy" ] || "$here/commit-msg.legacy" "$@" || exit
echo "pre-commit $#" >> "$LOG"
`)
}

func TestAToolThatRunsTheHookItMovedAside(t *testing.T) {
	t.Parallel()
	entire := []string{"entire prepare-commit-msg", "entire commit-msg", "entire post-commit"}
	t.Run("installed after us", func(t *testing.T) {
		t.Parallel()
		b := newBox(t)
		b.install()
		b.preCommitInstall()
		b.wantCommit("entire prepare-commit-msg", "entire commit-msg", "pre-commit 1", "entire post-commit")
		b.install()
		b.wantCommit(entire[0], "pre-commit 1", entire[1], entire[2])
		b.uninstall()
		b.wantCommit("pre-commit 1")
	})
	t.Run("installed before us and again", func(t *testing.T) {
		t.Parallel()
		b := newBox(t)
		b.preCommitInstall()
		b.install()
		b.preCommitInstall() // its shim would run us, and we its older shim
		got := b.did(func() { b.Git("commit", "-q", "--allow-empty", "-m", "x") })
		if n := count(got, "entire commit-msg"); n != 1 {
			t.Errorf("entire ran %d times: %v", n, got)
		}
		b.install()
		b.wantCommit(entire[0], "pre-commit 1", entire[1], entire[2])
		b.uninstall()
		b.wantCommit("pre-commit 1")
		if _, err := os.Lstat(b.Path(".git/hooks/commit-msg.legacy")); err == nil {
			t.Error("our script is still commit-msg.legacy")
		}
	})
	t.Run("with a hook from before both", func(t *testing.T) {
		t.Parallel()
		b := newBox(t)
		b.executable(".git/hooks/commit-msg", logging("mine"))
		b.install()
		b.preCommitInstall()
		b.wantCommit(entire[0], "mine 1", entire[1], "pre-commit 1", entire[2])
		b.install()
		b.wantCommit(entire[0], "mine 1", "pre-commit 1", entire[1], entire[2])
		b.uninstall()
		b.wantCommit("mine 1", "pre-commit 1")
	})
	t.Run("uninstalled without mending", func(t *testing.T) {
		t.Parallel()
		b := newBox(t)
		b.executable(".git/hooks/commit-msg", logging("mine"))
		b.install()
		b.preCommitInstall()
		b.uninstall()
		b.wantCommit("mine 1", "pre-commit 1")
	})
}

func count(list []string, what string) int {
	n := 0
	for _, s := range list {
		if s == what {
			n++
		}
	}
	return n
}

func TestAToolThatMovesOurHookAsideAndForgetsIt(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install()
	hook := b.Path(".git/hooks/prepare-commit-msg")
	if err := os.Rename(hook, hook+".old"); err != nil {
		t.Fatal(err)
	}
	b.executable(hook, "#!/bin/sh\n# lefthook\n"+logging("lefthook"))
	b.install()
	b.wantCommit("lefthook 2", "entire prepare-commit-msg", "entire commit-msg", "entire post-commit")
	if _, err := os.Lstat(hook + ".old"); err == nil {
		t.Error("our old script is still there")
	}
}

func TestANestedCommitRunsItsOwnHooks(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.executable(".git/hooks/post-commit", `#!/bin/sh
echo "theirs" >> "$LOG"
[ -e "$HOME/once" ] && exit
touch "$HOME/once"
git commit -q --amend --allow-empty -m amended
`)
	b.install()
	b.wantCommit("entire prepare-commit-msg", "entire commit-msg", "entire post-commit", "theirs",
		"entire prepare-commit-msg", "entire commit-msg", "entire post-commit", "theirs", "entire post-rewrite")
}

func TestAnEditedScriptStaysAsItIs(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install()
	text := b.Read(".git/hooks/commit-msg") + "echo appended >> \"$LOG\"\n"
	b.executable(".git/hooks/commit-msg", text)
	b.install()
	b.wantCommit("entire prepare-commit-msg", "entire commit-msg", "appended", "entire post-commit")
	if r := b.uninstall(); len(r.Notes) != 1 || b.Read(".git/hooks/commit-msg") != text {
		t.Errorf("report: %+v", r)
	}
}

func TestUninstallWithoutInstallChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.executable(".git/hooks/commit-msg", logging("theirs"))
	before := dump(t, b.Dir)
	if r := b.uninstall(); r.Changed {
		t.Errorf("report: %+v", r)
	}
	if diff := cmp.Diff(before, dump(t, b.Dir)); diff != "" {
		t.Error(diff)
	}
}

func TestScriptsRunInEveryShell(t *testing.T) {
	t.Parallel()
	for _, shell := range [][]string{{"dash"}, {"bash", "--posix"}, {"busybox", "sh"}, {"sh"}} {
		path, err := exec.LookPath(shell[0])
		if err != nil {
			continue // not every machine has every shell; sh is always there
		}
		t.Run(shell[0], func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.executable("theirs/commit-msg", logging("theirs"))
			b.executable("theirs/post-rewrite", logging("theirs"))
			b.executable("theirs/post-receive", logging("theirs"))
			b.Git("config", "core.hooksPath", "theirs")
			r := b.install()
			for name, want := range map[string]string{
				"commit-msg":   "theirs 1 in\nentire hooks git commit-msg arg \n",
				"post-rewrite": "entire hooks git post-rewrite arg in\ntheirs 1 in\n",
				"post-receive": "theirs 1 in\n",
				"pre-commit":   "",
			} {
				b.did(func() {
					call := testkit.Call{Dir: b.Dir, Env: b.Env, Stdin: "in\n", Name: path, Args: append(slices.Clone(shell[1:]), filepath.Join(r.Dir, name), "arg")}
					if result := call.Run(t); result.Code != 0 {
						t.Errorf("%s: %+v", name, result)
					}
				})
				if diff := cmp.Diff(want, b.Read(b.log)); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
		})
	}
}
