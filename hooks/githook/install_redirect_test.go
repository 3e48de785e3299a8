package githook_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/hooks/githook"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// husky does the work of husky 9's `npm install`: it generates a folder that git ignores, whose
// hooks run those in .husky.
func (b *box) husky() {
	b.tb.Helper()
	b.Write(".husky/_/.gitignore", "*\n")
	for _, hook := range []string{"pre-commit", "commit-msg", "post-checkout"} {
		b.executable(".husky/_/"+hook, "#!/usr/bin/env sh\n. \"$(dirname \"$0\")/h\"\n")
	}
	b.Write(".husky/_/h", `n=$(basename "$0")
s=$(dirname "$(dirname "$0")")/$n
[ ! -f "$s" ] && exit 0
sh -e "$s" "$@"
`)
	b.Git("config", "core.hooksPath", ".husky/_")
}

func (b *box) huskyHooks() {
	b.tb.Helper()
	b.Write(".husky/pre-commit", "echo husky-pre-commit >> \"$LOG\"\n")
	b.Write(".husky/commit-msg", "echo husky-commit-msg >> \"$LOG\"\n")
}

func withHusky() []string {
	return []string{"husky-pre-commit", "entire prepare-commit-msg", "husky-commit-msg", "entire commit-msg", "entire post-commit"}
}

func TestHuskyKeepsWorkingAndIsRestored(t *testing.T) {
	testkit.Long(t, "many commits with hooks")
	t.Parallel()
	b := newBox(t)
	b.husky()
	b.huskyHooks()
	b.roundTrip(func(r githook.Report) {
		if !r.Redirected || r.Dir != b.Path(".git/entire/hooks") {
			t.Errorf("report: %+v", r)
		}
		if diff := cmp.Diff([]string{"pre-commit", "post-checkout", "commit-msg"}, r.Chained); diff != "" {
			t.Error(diff)
		}
		if got := b.Git("config", "entire.formerHooksPath"); got != ".husky/_" {
			t.Errorf("former path %q", got)
		}
		b.wantCommit(withHusky()...)
		if err := os.Mkdir(b.Path("sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		b.at("sub").wantCommit(withHusky()...)
		if err := os.Remove(b.Path("sub")); err != nil {
			t.Fatal(err)
		}
		// npm install runs again.
		b.husky()
		if s := b.check(); s.OK() {
			t.Errorf("status: %+v", s)
		}
		b.install()
		b.wantCommit(withHusky()...)
	})
	b.wantCommit("husky-pre-commit", "husky-commit-msg")
}

func TestHookPathsOfEveryScope(t *testing.T) {
	t.Parallel()
	scopes := map[string]func(b *box){
		"global":         func(b *box) { b.Git("config", "--global", "core.hooksPath", b.Path("../theirs")) },
		"global in HOME": func(b *box) { b.Git("config", "--global", "core.hooksPath", "~/../theirs") },
		"system":         func(b *box) { b.Git("config", "--system", "core.hooksPath", b.Path("../theirs")) },
		"local":          func(b *box) { b.Git("config", "core.hooksPath", "../theirs") },
		"local in HOME":  func(b *box) { b.Git("config", "core.hooksPath", "~/../theirs") },
		"local, twice": func(b *box) {
			b.Git("config", "core.hooksPath", "x")
			b.Git("config", "--add", "core.hooksPath", "../theirs")
		},
		"global and local": func(b *box) {
			b.Git("config", "--global", "core.hooksPath", "/elsewhere")
			b.Git("config", "core.hooksPath", "../theirs")
		},
		"worktree": func(b *box) {
			b.Git("config", "extensions.worktreeConfig", "true")
			b.Git("config", "--worktree", "core.hooksPath", "../theirs")
		},
		"worktree over local": func(b *box) {
			b.Git("config", "extensions.worktreeConfig", "true")
			b.Git("config", "core.hooksPath", "/elsewhere")
			b.Git("config", "--worktree", "core.hooksPath", "../theirs")
		},
		"included": func(b *box) {
			b.Write("../more", "[core]\n\thooksPath = ../theirs\n")
			b.Git("config", "include.path", "../../more")
		},
		"git's own folder is a link": func(b *box) {
			if err := os.RemoveAll(b.Path(".git/hooks")); err != nil {
				b.tb.Fatal(err)
			}
			if err := os.Symlink("../../theirs", b.Path(".git/hooks")); err != nil {
				b.tb.Fatal(err)
			}
		},
	}
	for _, name := range testkit.ShortOf(slices.Sorted(maps.Keys(scopes)), 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.executable("../theirs/pre-commit", logging("theirs"))
			b.executable("../theirs/post-commit", logging("theirs"))
			scopes[name](b)
			theirs := dump(t, b.Path("../theirs"))
			b.wantCommit("theirs 0", "theirs 0")
			b.roundTrip(func(r githook.Report) {
				if !r.Redirected {
					t.Errorf("report: %+v", r)
				}
				b.wantCommit("theirs 0", "entire prepare-commit-msg", "entire commit-msg", "entire post-commit", "theirs 0")
			})
			b.wantCommit("theirs 0", "theirs 0")
			if diff := cmp.Diff(theirs, dump(t, b.Path("../theirs"))); diff != "" {
				t.Errorf("the folder changed: %s", diff)
			}
		})
	}
}

func TestPathOfOwnHooksFolderNeedsNoRedirect(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.Git("config", "core.hooksPath", ".git/hooks")
	b.executable(".git/hooks/commit-msg", logging("theirs"))
	b.roundTrip(func(r githook.Report) {
		if r.Redirected {
			t.Errorf("report: %+v", r)
		}
		b.wantCommit("entire prepare-commit-msg", "theirs 1", "entire commit-msg", "entire post-commit")
	})
}

func TestTrackedFolderIsPerWorktree(t *testing.T) {
	testkit.Long(t, "hooks of several worktrees")
	t.Parallel()
	b := newBox(t)
	b.executable(".githooks/commit-msg", logging("main"))
	b.Git("config", "core.hooksPath", ".githooks")
	b.Git("worktree", "add", "-q", "../linked")
	linked := b.at("../linked")
	linked.executable(".githooks/commit-msg", logging("linked"))
	b.install()
	b.wantCommit("entire prepare-commit-msg", "main 1", "entire commit-msg", "entire post-commit")
	linked.wantCommit("entire prepare-commit-msg", "linked 1", "entire commit-msg", "entire post-commit")
	linked.install()
	b.uninstall()
	linked.wantCommit("linked 1")
	if got := b.Git("config", "core.hooksPath"); got != ".githooks" {
		t.Errorf("restored %q", got)
	}
}

func TestRepositoryLayouts(t *testing.T) {
	t.Parallel()
	t.Run("linked worktree", func(t *testing.T) {
		t.Parallel()
		b := newBox(t)
		b.Git("worktree", "add", "-q", "../linked")
		linked := b.at("../linked")
		if r := linked.install(); r.Dir != b.Path(".git/hooks") {
			t.Errorf("report: %+v", r)
		}
		linked.wantCommit(oursOnly()...)
		b.wantCommit(oursOnly()...)
	})
	t.Run("separate git directory", func(t *testing.T) {
		t.Parallel()
		b := newBox(t)
		b.Git("init", "-q", "--separate-git-dir", "../elsewhere.git", "../separate")
		s := b.at("../separate")
		s.install()
		s.wantCommit(oursOnly()...)
	})
	t.Run("bare with worktrees", func(t *testing.T) {
		t.Parallel()
		b := newBox(t)
		b.Git("clone", "-q", "--bare", ".", "../project/.bare")
		b.Write("../project/.git", "gitdir: ./.bare\n")
		b.at("../project").Git("worktree", "add", "-q", "main")
		s := b.at("../project/main")
		s.install()
		s.wantCommit(oursOnly()...)
	})
	t.Run("submodule", func(t *testing.T) {
		t.Parallel()
		b := newBox(t)
		b.Git("clone", "-q", ".", "../lib")
		b.Git("-c", "protocol.file.allow=always", "submodule", "add", "-q", b.Path("../lib"), "lib")
		s := b.at("lib")
		if r := s.install(); r.Dir != b.Path(".git/modules/lib/hooks") {
			t.Errorf("report: %+v", r)
		}
		s.wantCommit(oursOnly()...)
	})
}

func TestHooksPathOfWorktree(t *testing.T) {
	testkit.Long(t, "hooks of several worktrees")
	t.Parallel()
	b := newBox(t)
	b.executable("../theirs/commit-msg", logging("theirs"))
	b.Git("config", "extensions.worktreeConfig", "true")
	b.Git("worktree", "add", "-q", "../linked")
	linked := b.at("../linked")
	linked.Git("config", "--worktree", "core.hooksPath", b.Path("../theirs"))
	linked.install()
	linked.wantCommit("entire prepare-commit-msg", "theirs 1", "entire commit-msg", "entire post-commit")
	b.wantCommit(oursOnly()...) // the other worktrees have the ordinary hooks
	b.uninstall()               // run in the other worktree
	linked.wantCommit("theirs 1")
	if got := linked.Git("config", "--worktree", "core.hooksPath"); got != b.Path("../theirs") {
		t.Errorf("restored %q", got)
	}
	b.wantCommit()
}

func TestRedirectedHooksRunWithoutBinary(t *testing.T) {
	testkit.Long(t, "many commits with hooks")
	t.Parallel()
	b := newBox(t)
	b.husky()
	b.huskyHooks()
	b.install()
	if err := os.Remove(b.Path("../bin/entire")); err != nil {
		t.Fatal(err)
	}
	b.wantCommit("husky-pre-commit", "husky-commit-msg")
	b.Write(".husky/commit-msg", "exit 3\n")
	if b.TryGit("commit", "-q", "--allow-empty", "-m", "x").Code == 0 {
		t.Error("husky's no was not heard")
	}
}

func TestMovedRepositoryIsRepaired(t *testing.T) {
	testkit.Long(t, "many commits with hooks")
	t.Parallel()
	b := newBox(t)
	b.husky()
	b.huskyHooks()
	b.install()
	if err := os.Rename(b.Dir, b.Path("../moved")); err != nil {
		t.Fatal(err)
	}
	m := b.at("../moved")
	if s := m.check(); !s.NoFolder || s.OK() {
		t.Errorf("status: %+v", s)
	}
	m.wantCommit() // git reports nothing and runs nothing
	m.install()
	m.wantCommit(withHusky()...)
	m.uninstall()
	m.wantCommit("husky-pre-commit", "husky-commit-msg")
}

func TestDeletedFolderIsRepaired(t *testing.T) {
	testkit.Long(t, "many commits with hooks")
	t.Parallel()
	b := newBox(t)
	b.husky()
	b.huskyHooks()
	b.install()
	if err := os.RemoveAll(b.Path(".git/entire/hooks")); err != nil {
		t.Fatal(err)
	}
	b.install()
	b.wantCommit(withHusky()...)
}

func TestForeignHookInOurFolderIsKept(t *testing.T) {
	testkit.Long(t, "many commits with hooks")
	t.Parallel()
	b := newBox(t)
	b.executable("theirs/pre-push", logging("theirs"))
	b.Git("config", "core.hooksPath", "theirs")
	b.Git("init", "-q", "--bare", "../remote")
	b.install()
	b.executable(".git/entire/hooks/pre-push", logging("lfs"))
	b.install()
	got := b.logOf(func() { b.Git("push", "-q", "../remote", "main") })
	if diff := cmp.Diff([]string{"lfs 2", "theirs 2", "entire pre-push"}, got); diff != "" {
		t.Error(diff)
	}
	if log := b.Read(b.log); strings.Count(log, "refs/heads/main") != 2*2 {
		t.Errorf("both need git's input: %q", log)
	}
	r := b.uninstall()
	if len(r.Notes) == 0 || b.Read(".git/entire/hooks/pre-push.pre-entire") != logging("lfs") {
		t.Errorf("report: %+v", r)
	}
}

func TestRareHooksExistOnlyIfFormerFolderHasThem(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.executable("theirs/reference-transaction", logging("theirs"))
	b.Git("config", "core.hooksPath", "theirs")
	b.install()
	got := b.logOf(func() { b.Git("branch", "other") })
	if len(got) == 0 || got[0] != "theirs 1" {
		t.Errorf("ran %v", got)
	}
	if _, err := os.Stat(b.Path(".git/entire/hooks/push-to-checkout")); err == nil {
		t.Error("push-to-checkout is there, which changes what git does")
	}
}

func TestPathResetByHandLeavesNothingStale(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.husky()
	b.install()
	b.Git("config", "--unset", "core.hooksPath")
	r := b.install()
	if r.Redirected || b.TryGit("config", "entire.formerHooksPath").Code == 0 {
		t.Errorf("report: %+v", r)
	}
	b.wantCommit(oursOnly()...)
}

func TestUnwritableFolderFailsWithoutChanges(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	// A file in place of the directory makes this fail for every user, root included.
	b.Write(".git/entire", "in the way")
	before := dump(t, b.Dir)
	_, err := b.installer().Install(t.Context())
	if err == nil || !strings.Contains(err.Error(), filepath.Join(".git", "entire")) {
		t.Errorf("error: %v", err)
	}
	if diff := cmp.Diff(before, dump(t, b.Dir)); diff != "" {
		t.Error(diff)
	}
}
