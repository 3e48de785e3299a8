package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// buildFaulty builds the programs with fault injection: a write can fail or be the last one. It
// returns their folder.
func buildFaulty(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "build", "-tags", "faults", "-o", dir+string(os.PathSeparator), ".", "../entire-cli")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return dir
}

// copyAll replaces the folder to by a copy of from.
func copyAll(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("copy: %v\n%s", err, out)
	}
}

// systemPath returns PATH without the folders that contain entire.
func systemPath() string {
	return strings.Join(slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "entire"))
		return err == nil
	}), string(os.PathListSeparator))
}

// play is one scene in its repository. It lists the changes of its sessions, to compare them
// with the records.
type play struct {
	*testkit.Repo

	root     string // of the whole scene
	sessions map[string]*testkit.Session
	touched  map[string][]string // files changed in turns, by session
	fault    testkit.Env         // in force for the hooks named in it
	alone    bool                // no hooks run: the outcome without us
	excused  []string            // files committed while no hook could decide about them
	said     string              // stderr of the last git command
	turns    int

	common, top string // the folders, which never change
	tip         string // of the branch when kept was read
	kept        map[string]*testkit.Stored
}

// CommonDir returns the git common directory.
func (p *play) CommonDir() string { return p.common }

// Root returns the top of the worktree.
func (p *play) Root() string { return p.top }

// Stored returns all checkpoints. It reads them again if the tip of their branch has changed.
func (p *play) Stored() map[string]*testkit.Stored {
	p.TB.Helper()
	tip, err := os.ReadFile(filepath.Join(p.common, testkit.Branch))
	if err != nil || string(tip) != p.tip {
		p.tip, p.kept = string(tip), p.Repo.Stored()
	}
	return p.kept
}

// newPlay creates the repository of a scene, with the program in the folder bin, or without the
// program if bin is empty.
func newPlay(tb testkit.TB, root, bin, kind string) *play {
	tb.Helper()
	for _, dir := range []string{"home", "tmp", "w", "claude"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			tb.Fatalf("make folder: %v", err)
		}
	}
	env := testkit.CleanEnv(filepath.Join(root, "home"), filepath.Join(root, "tmp"), bin+string(os.PathListSeparator)+systemPath()).
		With("GIT_TEMPLATE_DIR=", "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=advice.detachedHead", "GIT_CONFIG_VALUE_0=false",
			"GIT_CONFIG_KEY_1=gc.auto", "GIT_CONFIG_VALUE_1=0")
	repo, unsupported := testkit.NewRepo(tb, filepath.Join(root, "w"), kind, env)
	if unsupported {
		tb.Fatalf("this git can't make a repository of kind %s", kind)
	}
	p := &play{
		Repo: repo, root: root, sessions: map[string]*testkit.Session{}, touched: map[string][]string{}, alone: bin == "",
	}
	p.common, p.top = repo.CommonDir(), repo.Root()
	p.Write("README.md", numbered(40))
	p.Write("old.txt", "old\n")
	if p.alone {
		repo.Commit("set up")
		return p
	}
	repo.Entire("enable", "--agent", "claude-code")
	repo.Git("add", "README.md", "old.txt")
	repo.Git("commit", "-q", "-m", "set up")
	return p
}

// numbered returns a text of distinct lines.
func numbered(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// copyFor returns a copy of the play in the same repository, for one run.
func (p *play) copyFor(tb testkit.TB) *play {
	q := *p
	q.Repo = p.For(tb)
	q.sessions = map[string]*testkit.Session{}
	q.touched = map[string][]string{}
	for name, paths := range p.touched {
		q.touched[name] = slices.Clone(paths)
	}
	for name, s := range p.sessions {
		c, t := *s, *s.Transcript
		t.Usage, t.Order = maps.Clone(t.Usage), slices.Clone(t.Order)
		c.Transcript = &t
		q.sessions[name] = c.For(tb)
	}
	return &q
}

// session returns the session of that name, created on first use.
func (p *play) session(name string) *testkit.Session {
	s := p.sessions[name]
	if s == nil {
		s = testkit.NewSession(p.Repo, name, filepath.Join(p.root, "claude"))
		s.Deaf, s.Installed = p.alone, true
		p.sessions[name] = s
	}
	s.Extra = p.fault
	return s
}

// main returns the session that a scene is about.
func (p *play) main() *testkit.Session { return p.session("main") }

// changes records the files changed by a session's turn.
func (p *play) changes(name string, paths ...string) {
	p.touched[name] = append(p.touched[name], paths...)
}

// writes edits files as the session, within a turn.
func (p *play) writes(name string, paths ...string) {
	for _, path := range paths {
		p.session(name).Write(path, "by "+name+": "+path+"\n")
		p.changes(name, path)
	}
}

// turn plays a whole turn that writes files.
func (p *play) turn(name string, paths ...string) {
	p.turns++
	s := p.session(name)
	s.Prompt(fmt.Sprintf("Please write %s (%d).", strings.Join(paths, " and "), p.turns))
	p.writes(name, paths...)
	s.Say("I wrote " + strings.Join(paths, " and ") + ".")
	s.Stop()
}

// commits runs git commit as the user. It must succeed.
func (p *play) commits(args ...string) {
	p.TB.Helper()
	p.git(append([]string{"commit", "-q"}, args...)...)
}

// git runs git as the user, with the faults in force.
func (p *play) git(args ...string) {
	p.TB.Helper()
	result := testkit.Call{Dir: p.Dir, Env: p.Env.With(p.fault...), Name: "git", Args: args}.Run(p.TB)
	p.said = result.Stderr
	if result.Code != 0 {
		p.TB.Fatalf("git %q: exit %d\n%s%s", args, result.Code, result.Stdout, result.Stderr)
	}
}

// bash runs a command as the main session's agent. It must succeed.
func (p *play) bash(command string) {
	p.TB.Helper()
	result := p.main().Bash(command)
	p.said = result.Stderr
	if result.Code != 0 {
		p.TB.Fatalf("%s: exit %d\n%s%s", command, result.Code, result.Stdout, result.Stderr)
	}
}
