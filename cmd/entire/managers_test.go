package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// hookManager is a program that installs git hooks. Its hooks write their names to the file ran
// beside the repository, and pre-commit fails if a file refuse exists.
type hookManager struct {
	name string
	// setUp writes its configuration, install installs its hooks. Both are shell scripts that
	// run in the worktree.
	setUp, install string
	// hooks are the names of its hooks.
	hooks []string
}

// note is the command of a hook.
const note = `echo HOOK >> ../../ran`

func hookManagers() []hookManager {
	noted := func(text string) string { return strings.ReplaceAll(text, "NOTE", note) }
	return []hookManager{
		{
			name:    "husky",
			hooks:   []string{"pre-commit", "commit-msg"},
			install: `husky`,
			setUp: noted(`mkdir -p .husky
echo '{}' > package.json
echo 'NOTE; test ! -e ../../refuse' | sed s/HOOK/pre-commit/ > .husky/pre-commit
echo 'NOTE' | sed s/HOOK/commit-msg/ > .husky/commit-msg`),
		},
		{
			name:    "lefthook",
			hooks:   []string{"pre-commit", "commit-msg"},
			install: `lefthook install`,
			setUp: noted(`cat > lefthook.yml <<'END'
pre-commit:
  commands:
    note: {run: "(NOTE1); test ! -e ../../refuse"}
commit-msg:
  commands:
    note: {run: "NOTE2"}
END
sed -i 's|NOTE1|echo pre-commit >> ../../ran|; s|NOTE2|echo commit-msg >> ../../ran|' lefthook.yml`),
		},
		{
			name:    "simple-git-hooks",
			hooks:   []string{"pre-commit", "commit-msg"},
			install: `simple-git-hooks`,
			setUp: `cat > package.json <<'END'
{"simple-git-hooks": {"pre-commit": "echo pre-commit >> ../../ran; test ! -e ../../refuse", "commit-msg": "echo commit-msg >> ../../ran"}}
END`,
		},
		{
			name:    "pre-commit",
			hooks:   []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"},
			install: `pre-commit install -t pre-commit -t prepare-commit-msg -t commit-msg -t post-commit`,
			setUp: `cat > ../../note.sh <<'END'
#!/bin/sh
echo "$1" >> ../../ran
test "$1" != pre-commit || test ! -e ../../refuse
END
chmod 755 ../../note.sh
{ echo 'repos:'; echo '- repo: local'; echo '  hooks:'
for stage in pre-commit prepare-commit-msg commit-msg post-commit; do
named=$stage; test $stage != pre-commit || named=commit
echo "  - {id: $stage, name: $stage, entry: ../../note.sh $stage, language: system, pass_filenames: false, always_run: true, stages: [$named]}"
done; } > .pre-commit-config.yaml`,
		},
		{
			name:  "overcommit", // as its installer does: links to one program, former hooks are moved aside
			hooks: []string{"pre-commit", "commit-msg"},
			setUp: `cat > ../../overcommit-hook <<'END'
#!/bin/sh
# Overcommit: the name says which hook it is.
name=$(basename "$0")
echo "$name" >> ../../ran
test "$name" != pre-commit || test ! -e ../../refuse
END
chmod 755 ../../overcommit-hook`,
			install: `mkdir -p .git/hooks/old-hooks
cp ../../overcommit-hook .git/hooks/overcommit-hook
for hook in pre-commit commit-msg; do
if [ -e .git/hooks/$hook ] && [ ! -L .git/hooks/$hook ]; then mv .git/hooks/$hook .git/hooks/old-hooks/; fi
ln -sf overcommit-hook .git/hooks/$hook
done`,
		},
	}
}

// TestHookManagers runs programs that install hooks before ours, after ours and again. No
// commit is refused because of us, each of their hooks runs once in a commit, a hook that
// refuses a commit still does, and the next turn repairs those of our hooks that they
// overwrote.
func TestHookManagers(t *testing.T) {
	t.Parallel()
	programs := os.Getenv("ENTIRE_TEST_MANAGERS")
	if programs == "" {
		t.Skip("make managers")
	}
	const enable = "entire enable --agent claude-code"
	for _, m := range hookManagers() {
		for name, order := range map[string][]string{
			"before":       {m.install, enable},
			"after":        {enable, m.install},
			"around":       {m.install, enable, m.install},
			"again":        {enable, m.install, enable, m.install},
			"before twice": {m.install, m.install, enable, enable},
		} {
			t.Run(m.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				program, _, _ := strings.Cut(m.install, " ")
				if _, err := exec.LookPath(filepath.Join(programs, program)); err != nil && m.name != "overcommit" {
					if _, err := exec.LookPath(program); err != nil {
						t.Skipf("no %s", program)
					}
				}
				m.plays(t, order, programs)
			})
		}
	}
}

func (m hookManager) plays(t *testing.T, order []string, programs string) {
	t.Helper()
	p := newPlay(t, t.TempDir(), programDir(t), "plain")
	p.Env = p.Env.With("PATH="+p.Env.Get("PATH")+string(os.PathListSeparator)+programs, "CI=", "PRE_COMMIT_HOME="+filepath.Join(p.root, "cache"))
	p.Entire("disable", "--uninstall", "--force")
	p.Sh(m.setUp)
	p.Git("add", "-A")
	p.Git("commit", "-q", "--no-verify", "--allow-empty", "-m", "configured")
	for _, step := range order {
		p.Sh(step)
	}
	p.main().Start("startup")
	p.turn("main", "a.txt")
	p.git("add", "a.txt")
	p.commits("-m", "first")
	m.ranOnce(t, p, "the first commit")

	p.turn("main", "b.txt")
	p.git("add", "b.txt")
	p.commits("-m", "second")
	m.ranOnce(t, p, "the second commit")
	if len(p.Trailers("HEAD")) != 1 {
		t.Errorf("the commit after a turn isn't linked, said %q\n%s", p.said, p.Sh("head -5 .git/hooks/* .husky/_/* 2>/dev/null; git config core.hooksPath || true"))
	}

	refuse := filepath.Join(p.root, "refuse")
	p.Write(refuse, "")
	p.Write("mine.txt", "mine\n")
	p.git("add", "mine.txt") // some run no hook for an empty commit
	if result := p.TryGit("commit", "-q", "-m", "refused"); result.Code == 0 {
		t.Error("its hook refuses no more")
	}
	p.remove(refuse)
	p.Sh(": > ../../ran")
	p.Entire("disable", "--uninstall", "--force")
	p.Git("commit", "-q", "-m", "without")
	m.ranOnce(t, p, "the commit without us")
}

// ranOnce reports hooks of the manager that did not run exactly once.
func (m hookManager) ranOnce(t *testing.T, p *play, when string) {
	t.Helper()
	ran := filepath.Join(p.root, "ran")
	data, err := os.ReadFile(ran)
	if err != nil {
		t.Errorf("%s: %v", when, err)
	}
	for _, hook := range m.hooks {
		if n := strings.Count("\n"+string(data), "\n"+hook+"\n"); n != 1 {
			t.Errorf("%s: %s ran %d times:\n%s", when, hook, n, data)
		}
	}
	if err := os.WriteFile(ran, nil, 0o600); err != nil {
		t.Error(err)
	}
}
