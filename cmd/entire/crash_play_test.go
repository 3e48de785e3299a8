package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// buildFaulty builds the program in which a write can be made to fail or to be
// the last one, and answers the folder that holds it.
func buildFaulty(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "build", "-tags", "faults", "-o", filepath.Join(dir, "entire"), ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return dir
}

// systemPath is PATH without any entire.
func systemPath() string {
	return strings.Join(slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "entire"))
		return err == nil
	}), string(os.PathListSeparator))
}

// play is one scene in its repository. Sessions remember what they changed, to
// be compared with what was recorded of it.
type play struct {
	*testkit.Repo

	root     string // of all that belongs to the scene
	sessions map[string]*testkit.Session
	touched  map[string][]string // by session, what its turns changed
	fault    testkit.Env         // in force for the hooks named in it
	alone    bool                // nobody records: how it goes without us
	excused  []string            // what a commit took while nobody could decide about it
	said     string              // what the last git command said
	turns    int
}

// newPlay makes the repository of a scene, with the program at bin; "" stands
// for none at all.
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

// numbered is a file of lines that differ.
func numbered(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// copyFor is the play as it stands, in the same repository, for one run.
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

// session is the session of that name, made on first use.
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

// main is the session that a scene is about.
func (p *play) main() *testkit.Session { return p.session("main") }

// changes notes what a session's turn has changed.
func (p *play) changes(name string, paths ...string) {
	p.touched[name] = append(p.touched[name], paths...)
}

// writes is a session's edit of files, within a turn.
func (p *play) writes(name string, paths ...string) {
	for _, path := range paths {
		p.session(name).Write(path, "by "+name+": "+path+"\n")
		p.changes(name, path)
	}
}

// turn is a whole turn that writes files.
func (p *play) turn(name string, paths ...string) {
	p.turns++
	s := p.session(name)
	s.Prompt(fmt.Sprintf("Please write %s (%d).", strings.Join(paths, " and "), p.turns))
	p.writes(name, paths...)
	s.Say("I wrote " + strings.Join(paths, " and ") + ".")
	s.Stop()
}

// commits is a commit by the person at the keyboard. It must succeed.
func (p *play) commits(args ...string) {
	p.TB.Helper()
	p.git(append([]string{"commit", "-q"}, args...)...)
}

// git runs git as the person, faults in force.
func (p *play) git(args ...string) {
	p.TB.Helper()
	result := testkit.Call{Dir: p.Dir, Env: p.Env.With(p.fault...), Name: "git", Args: args}.Run(p.TB)
	p.said = result.Stderr
	if result.Code != 0 {
		p.TB.Fatalf("git %q: exit %d\n%s%s", args, result.Code, result.Stdout, result.Stderr)
	}
}

// bash is a command of the main session's agent. It must succeed.
func (p *play) bash(command string) {
	p.TB.Helper()
	result := p.main().Bash(command)
	p.said = result.Stderr
	if result.Code != 0 {
		p.TB.Fatalf("%s: exit %d\n%s%s", command, result.Code, result.Stdout, result.Stderr)
	}
}

// tape holds the files of a scene as they were, to have them so again. What
// nobody changed since is left alone, so that its times stay as git's index
// and a session's state have them.
type tape struct {
	root  string
	files map[string]*taped
	dirs  map[string]bool
}

type taped struct {
	info fs.FileInfo
	data []byte
	link string
}

// record notes all files below root.
func record(tb testkit.TB, root string) *tape {
	tb.Helper()
	t := &tape{root: root, files: map[string]*taped{}, dirs: map[string]bool{}}
	t.walk(tb, func(path string, info fs.FileInfo) {
		if info.IsDir() {
			t.dirs[path] = true
			return
		}
		f := &taped{info: info}
		var err error
		if info.Mode()&fs.ModeSymlink != 0 {
			f.link, err = os.Readlink(path)
		} else {
			f.data, err = os.ReadFile(path)
		}
		if err != nil {
			tb.Fatalf("record: %v", err)
		}
		t.files[path] = f
	})
	return t
}

func (t *tape) walk(tb testkit.TB, visit func(path string, info fs.FileInfo)) {
	tb.Helper()
	err := filepath.WalkDir(t.root, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			visit(path, info)
		}
		return err
	})
	if err != nil {
		tb.Fatalf("walk: %v", err)
	}
}

// rewind makes the files what they were.
func (t *tape) rewind(tb testkit.TB) {
	tb.Helper()
	seen := map[string]bool{}
	var gone []string
	t.walk(tb, func(path string, info fs.FileInfo) {
		if seen[path] = true; t.files[path] == nil && !t.dirs[path] {
			gone = append(gone, path)
		} else if f := t.files[path]; f != nil && !f.is(info) {
			seen[path] = false
			if !os.SameFile(f.info, info) {
				gone = append(gone, path)
			}
		}
	})
	for _, path := range gone {
		if err := os.RemoveAll(path); err != nil {
			tb.Fatalf("rewind: %v", err)
		}
	}
	for path := range t.dirs {
		if !seen[path] {
			if err := os.MkdirAll(path, 0o755); err != nil {
				tb.Fatalf("rewind: %v", err)
			}
		}
	}
	for path, f := range t.files {
		if !seen[path] {
			f.restore(tb, path)
		}
	}
}

func (f *taped) is(info fs.FileInfo) bool {
	return os.SameFile(f.info, info) && f.info.Size() == info.Size() && f.info.ModTime().Equal(info.ModTime()) && f.info.Mode() == info.Mode()
}

// restore writes the file anew, in place where it is still the same file: a
// transcript that has grown keeps its inode.
func (f *taped) restore(tb testkit.TB, path string) {
	tb.Helper()
	var err error
	if f.link != "" {
		err = os.Symlink(f.link, path)
	} else {
		if info, gone := os.Lstat(path); gone != nil || info.Mode()&0o200 != 0 { // else git's own, and only touched
			err = os.WriteFile(path, f.data, f.info.Mode().Perm())
		}
		err = errors.Join(err, os.Chtimes(path, f.info.ModTime(), f.info.ModTime()))
	}
	if err == nil {
		f.info, err = os.Lstat(path)
	}
	if err != nil {
		tb.Fatalf("rewind: %v", err)
	}
}
