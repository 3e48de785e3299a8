package githook_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// mend repairs the hooks until there is nothing to repair, as some prompts would.
func (b *box) mend() {
	b.tb.Helper()
	for range 3 {
		i := b.installer()
		if !i.MayHaveChanged(b.globalConfig()) {
			if n := i.Repo.Processes(); n != 0 {
				b.tb.Errorf("looking took %d git processes", n)
			}
			return
		}
		if _, err := i.Mend(b.tb.Context(), b.globalConfig()); err != nil {
			b.tb.Fatal(err)
		}
	}
	if b.installer().MayHaveChanged(b.globalConfig()) {
		b.tb.Fatal("it is never well")
	}
}

func (b *box) globalConfig() string {
	return filepath.Join(filepath.Dir(b.Dir), "home", ".gitconfig")
}

func TestTouchedDetectsChangedHooks(t *testing.T) {
	t.Parallel()
	for name, tool := range testkit.ShortTable(map[string]func(b *box){
		"removed":             func(b *box) { b.remove(".git/hooks/post-commit") },
		"overwritten":         func(b *box) { b.overwrite(".git/hooks/post-commit", logging("theirs")) },
		"not executable":      func(b *box) { b.chmod(".git/hooks/post-commit", 0o644) },
		"moved aside":         func(b *box) { b.rename(".git/hooks/post-commit", ".git/hooks/post-commit.old") },
		"pre-commit":          func(b *box) { b.preCommitInstall() },
		"folder gone":         func(b *box) { b.rename(".git/hooks", ".git/hooks-aside") },
		"hooksPath":           func(b *box) { b.Git("config", "core.hooksPath", "theirs") },
		"hooksPath of a user": func(b *box) { b.Git("config", "--global", "core.hooksPath", "theirs") },
		"hooksPath of a worktree": func(b *box) {
			b.Git("config", "extensions.worktreeConfig", "true")
			b.Git("config", "--worktree", "core.hooksPath", "theirs")
		},
	}, 3) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.install()
			b.mend()
			tool(b)
			if !b.installer().MayHaveChanged(b.globalConfig()) {
				t.Error("it wasn't noticed")
			}
			b.mend()
			if s := b.check(); !s.OK() {
				t.Errorf("status: %+v", s)
			}
		})
	}
}

func TestTouchedDetectsChangedRedirectedHooks(t *testing.T) {
	t.Parallel()
	for name, tool := range testkit.ShortTable(map[string]func(b *box){
		"husky":       func(b *box) { b.Git("config", "core.hooksPath", ".husky") },
		"overwritten": func(b *box) { b.overwrite(".git/entire/hooks/pre-commit", logging("theirs")) },
		"folder gone": func(b *box) { b.rename(".git/entire/hooks", ".git/aside") },
	}, 1) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.executable(".husky/commit-msg", logging("husky"))
			b.Git("config", "core.hooksPath", ".husky")
			b.install()
			b.mend()
			tool(b)
			if !b.installer().MayHaveChanged(b.globalConfig()) {
				t.Error("it wasn't noticed")
			}
			b.mend()
			if s := b.check(); !s.OK() || !s.Redirected {
				t.Errorf("status: %+v", s)
			}
		})
	}
}

func TestUninstallRemovesRecordedStates(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	before := dump(t, b.Dir)
	b.install()
	b.mend()
	linked := b.at(filepath.Join(filepath.Dir(b.Dir), "linked"))
	b.Git("worktree", "add", "-q", linked.Dir)
	linked.mend()
	b.Git("worktree", "remove", linked.Dir)
	b.uninstall()
	for path := range dump(t, b.Dir) {
		if _, had := before[path]; !had && filepath.Base(filepath.Dir(path)) == "entire" {
			t.Errorf("%s stays", path)
		}
	}
}

func (b *box) remove(path string) {
	b.tb.Helper()
	if err := os.Remove(b.Path(path)); err != nil {
		b.tb.Fatal(err)
	}
}

func (b *box) rename(from, to string) {
	b.tb.Helper()
	if err := os.Rename(b.Path(from), b.Path(to)); err != nil {
		b.tb.Fatal(err)
	}
}

func (b *box) chmod(path string, mode os.FileMode) {
	b.tb.Helper()
	if err := os.Chmod(b.Path(path), mode); err != nil {
		b.tb.Fatal(err)
	}
}

// overwrite writes into the existing file, so that its folder doesn't change.
func (b *box) overwrite(path, text string) {
	b.tb.Helper()
	if err := testkit.WriteProgram(b.Path(path), text); err != nil {
		b.tb.Fatal(err)
	}
}
