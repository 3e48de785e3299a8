package githook_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/hooks/githook"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// box is a repository with a user's environment. On its PATH is a program "entire" that logs
// its arguments and, for post-rewrite, its input.
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
	config := "[user]\n\tname = Ann\n\temail = ann@example.com\n" + gittest.Config
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600); err != nil {
		tb.Fatal(err)
	}
	b.Git("init", "-q", "-b", "main")
	b.Git("commit", "-q", "--allow-empty", "-m", "first")
	return b
}

// toolPath returns the folders of git and the shell.
func toolPath(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		tb.Fatal(err)
	}
	return filepath.Dir(path) + ":/usr/bin:/bin"
}

func (b *box) at(dir string) *box {
	return &box{Repo: b.At(dir), tb: b.tb, log: b.log}
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
	awaitScripts()
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
	if err := testkit.WriteProgram(b.Path(path), text); err != nil {
		b.tb.Fatal(err)
	}
}

// awaitScripts waits until no child that another test is starting holds a script open for writing:
// running the script would fail with "text file busy".
func awaitScripts() {
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
}

// logging returns a foreign hook that logs its name and its input.
func logging(name string) string {
	return "#!/bin/sh\n[ -t 0 ] || in=$(cat)\necho \"" + name + " $# $in\" >> \"$LOG\"\n"
}

// logOf runs f and returns the first words of the lines that were logged during it.
func (b *box) logOf(f func()) []string {
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

// wantCommit compares the log of a commit.
func (b *box) wantCommit(want ...string) {
	b.tb.Helper()
	got := b.logOf(func() { b.Git("-c", "core.editor=true", "commit", "-q", "--allow-empty", "-e", "-m", "more") })
	if diff := cmp.Diff(want, got); diff != "" {
		b.tb.Errorf("commit ran (-want +got):\n%s", diff)
	}
}

func oursOnly() []string {
	return []string{"entire prepare-commit-msg", "entire commit-msg", "entire post-commit"}
}

// dump returns everything below a directory except git's objects and logs.
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

// roundTrip installs, runs f, uninstalls, and compares everything with the state before.
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
		result := b.TryGit("-c", "core.editor=true", "commit", "-q", "--allow-empty", "-e", "-m", "x")
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

func TestMissingHooksDirectoryIsCreatedAndRemoved(t *testing.T) {
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
	tools := b.Path("../tools") // only the tools that git and that hook need
	b.Sh("mkdir " + tools + " && for t in git cat; do ln -s \"$(command -v $t)\" " + tools + "; done")
	b.Env = b.Env.With("PATH=" + tools)
	result := b.TryGit("commit", "-q", "--allow-empty", "-m", "x")
	if result.Code != 0 || result.Stderr+result.Stdout != "" {
		t.Errorf("commit: %+v", result)
	}
	if got := b.Read(b.log); got != "theirs 1\n" && got != "theirs 1 \n" {
		t.Errorf("log: %q", got)
	}
}

func TestForeignHooksRunInOrderAndDecide(t *testing.T) {
	testkit.Long(t, "many commits with hooks")
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
		got := b.logOf(func() { b.Git("commit", "-q", "--amend", "--allow-empty", "-m", "y") })
		if diff := cmp.Diff([]string{"entire post-rewrite", "their-post-rewrite 1"}, got[len(got)-2:]); diff != "" {
			t.Error(diff)
		}
		for line := range strings.Lines(b.Read(b.log)) {
			if strings.Contains(line, "rewrite") && !strings.Contains(line, b.Git("rev-parse", "HEAD")) {
				t.Errorf("no input: %q", line)
			}
		}
		got = b.logOf(func() { b.Git("push", "-q", "../remote", "main") })
		if diff := cmp.Diff([]string{"their-pre-push 2", "entire pre-push"}, got); diff != "" {
			t.Error(diff)
		}
		if log := b.Read(b.log); !strings.Contains(log, "their-pre-push 2 refs/heads/main "+b.Git("rev-parse", "HEAD")) {
			t.Errorf("git's input didn't arrive: %q", log)
		}
	})
}

func TestFailingForeignHookStopsCommit(t *testing.T) {
	t.Parallel()
	for _, hook := range []string{"prepare-commit-msg", "commit-msg", "pre-push"} {
		t.Run(hook, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.Git("init", "-q", "--bare", "../remote")
			b.executable(".git/hooks/"+hook, logging("theirs")+"exit 7\n")
			b.install()
			got := b.logOf(func() {
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

func TestNestedCommitRunsItsOwnHooks(t *testing.T) {
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
		"entire prepare-commit-msg", "entire post-commit", "theirs", "entire post-rewrite")
}

func TestCommitMsgRunsOnlyIfMessageMayHaveChanged(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install()
	commit := func(args ...string) []string {
		return b.logOf(func() { b.Git(append([]string{"-c", "core.editor=true", "commit", "-q", "--allow-empty"}, args...)...) })
	}
	without := []string{"entire prepare-commit-msg", "entire post-commit"}
	if diff := cmp.Diff(without, commit("-m", "no editor")); diff != "" {
		t.Errorf("without an editor (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(oursOnly(), commit("-e", "-m", "an editor")); diff != "" {
		t.Errorf("with an editor (-want +got):\n%s", diff)
	}
	b.executable(".git/hooks/commit-msg.pre-entire", logging("theirs"))
	if diff := cmp.Diff([]string{"entire prepare-commit-msg", "theirs 1", "entire commit-msg", "entire post-commit"}, commit("-m", "another hook")); diff != "" {
		t.Errorf("with another hook (-want +got):\n%s", diff)
	}
}

func TestEditedScriptIsKept(t *testing.T) {
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

func TestConcurrentInstallsLoseNothing(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.executable(".git/hooks/commit-msg", logging("theirs"))
	var all sync.WaitGroup
	for range 8 {
		installer := b.installer()
		all.Go(func() {
			if _, err := installer.Install(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	awaitScripts()
	b.wantCommit("entire prepare-commit-msg", "theirs 1", "entire commit-msg", "entire post-commit")
	b.uninstall()
	b.wantCommit("theirs 1")
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

func TestDocumentShowsScripts(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/formats/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	own, redirected := newBox(t), newBox(t)
	own.install()
	redirected.Git("config", "core.hooksPath", "theirs")
	redirected.install()
	for _, script := range []string{
		own.Read(".git/hooks/commit-msg"), own.Read(".git/hooks/post-commit"),
		own.Read(".git/hooks/post-rewrite"), own.Read(".git/hooks/pre-push"),
		redirected.Read(".git/entire/hooks/commit-msg"), redirected.Read(".git/entire/hooks/pre-commit"),
		redirected.Read(".git/entire/hooks/pre-push"),
	} {
		if !strings.Contains(string(doc), "```sh\n"+script+"```\n") {
			t.Errorf("docs/formats/hooks.md lacks\n%s", script)
		}
	}
}

func TestScriptsRunInEveryShell(t *testing.T) {
	t.Parallel()
	for _, shell := range testkit.ShortOf([][]string{{"sh"}, {"dash"}, {"bash", "--posix"}, {"busybox", "sh"}}, 1) {
		path, err := exec.LookPath(shell[0])
		if err != nil {
			continue // not every machine has every shell; sh always exists
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
				b.logOf(func() {
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
