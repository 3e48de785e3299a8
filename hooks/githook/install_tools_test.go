package githook_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

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

func TestAScriptOfAnotherVersionIsReplaced(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	body := "# another version\nentire hooks git commit-msg \"$@\"\n"
	sum := sha256.Sum256([]byte(body))
	b.executable(".git/hooks/commit-msg", fmt.Sprintf("#!/bin/sh\n# Entire CLI hooks\n"+
		"# Written by \"entire enable\" (%x), removed by \"entire disable --uninstall\".\n%s", sum[:6], body))
	if s := b.check(); !slices.Equal(s.Outdated, []string{"commit-msg"}) {
		t.Errorf("status: %+v", s)
	}
	if r := b.install(); len(r.Chained)+len(r.Notes) > 0 {
		t.Errorf("report: %+v", r)
	}
	b.wantCommit(oursOnly()...)
	b.uninstall()
	b.wantCommit()
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
