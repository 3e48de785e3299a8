package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
)

// place is what discovery says about a directory.
type place struct {
	GitDir, CommonDir, Root, WorktreeID, MainRoot string
	Bare                                          bool
}

func placeOf(r *git.Repo) place {
	return place{r.GitDir, r.CommonDir, r.Root, r.WorktreeID, r.MainRoot(), r.Bare}
}

// asGit is what git itself says, with an empty Root if it has none.
func (s *sandbox) asGit(dir string) place {
	s.t.Helper()
	lines := strings.Split(s.git(dir, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"), "\n")
	p := place{GitDir: lines[0], CommonDir: lines[1]}
	root, err := s.try(dir, "", "rev-parse", "--path-format=absolute", "--show-toplevel")
	p.Root = strings.TrimSuffix(root, "\n")
	p.Bare = err != nil || p.Root == ""
	if p.GitDir != p.CommonDir {
		p.WorktreeID = filepath.Base(p.GitDir)
	}
	return p
}

func TestDiscoverAgreesWithGit(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		setup    func(s *sandbox) (dir string)
		mainRoot string // below the sandbox; "" for none
	}{
		"plain repository": {func(s *sandbox) string { return s.init("r") }, "r"},
		"unborn branch": {func(s *sandbox) string {
			s.git(s.mkdir("r"), "init", "-q")
			return s.path("r")
		}, "r"},
		"subdirectory": {func(s *sandbox) string {
			s.init("r")
			return s.mkdir("r", "x", "y")
		}, "r"},
		"symlink to a subdirectory": {func(s *sandbox) string {
			s.init("r")
			s.mkdir("r", "x")
			s.symlink(s.path("r", "x"), "link")
			return s.path("link")
		}, "r"},
		"linked worktree": {func(s *sandbox) string {
			s.git(s.init("r"), "worktree", "add", "-q", s.path("wt"))
			return s.mkdir("wt", "sub")
		}, "r"},
		"linked worktree with worktreeConfig": {func(s *sandbox) string {
			r := s.init("r")
			s.git(r, "config", "extensions.worktreeConfig", "true")
			s.git(r, "worktree", "add", "-q", s.path("wt"))
			s.git(s.path("wt"), "sparse-checkout", "set", "x")
			return s.path("wt")
		}, "r"},
		"separate git dir": {func(s *sandbox) string {
			return s.init("r", "--separate-git-dir="+s.path("elsewhere.git"))
		}, "r"},
		"worktree of a separate git dir": {func(s *sandbox) string {
			s.git(s.init("r", "--separate-git-dir="+s.path("elsewhere.git")), "worktree", "add", "-q", s.path("wt"))
			return s.path("wt")
		}, ""},
		"worktree of a bare repository in .bare": {func(s *sandbox) string {
			s.git(s.dir, "clone", "-q", "--bare", s.init("r"), s.path("p", ".bare"))
			s.write(s.path("p"), ".git", "gitdir: ./.bare\n")
			s.git(s.path("p"), "worktree", "add", "-q", s.path("p", "wt"))
			return s.path("p", "wt")
		}, ""},
		"beside the bare repository in .bare": {func(s *sandbox) string {
			s.git(s.dir, "clone", "-q", "--bare", s.init("r"), s.path("p", ".bare"))
			s.write(s.path("p"), ".git", "gitdir: ./.bare\n")
			return s.path("p")
		}, ""},
		"bare .bare with worktreeConfig": {func(s *sandbox) string {
			s.git(s.dir, "clone", "-q", "--bare", s.init("r"), s.path("p", ".bare"))
			s.git(s.path("p", ".bare"), "worktree", "add", "-q", s.path("p", "wt"))
			s.git(s.path("p", "wt"), "sparse-checkout", "set", "x")
			return s.path("p", "wt")
		}, ""},
		"bare repository": {func(s *sandbox) string {
			s.git(s.dir, "clone", "-q", "--bare", s.init("r"), s.path("b.git"))
			return s.path("b.git")
		}, ""},
		"inside a git directory": {func(s *sandbox) string {
			return filepath.Join(s.init("r"), ".git", "objects")
		}, ""},
		"submodule": {func(s *sandbox) string {
			super := s.superproject()
			return s.mkdir(filepath.Base(super), "sub", "deep")
		}, "super/sub"},
		"superproject": {func(s *sandbox) string { return s.superproject() }, "super"},
		"worktree of a submodule": {func(s *sandbox) string {
			s.git(filepath.Join(s.superproject(), "sub"), "worktree", "add", "-q", s.path("wt"))
			return s.path("wt")
		}, "super/sub"},
		"core.worktree elsewhere": {func(s *sandbox) string {
			s.mkdir("elsewhere")
			s.git(s.init("r"), "config", "core.worktree", "../../elsewhere")
			return s.path("r")
		}, "elsewhere"},
		"nested repository": {func(s *sandbox) string {
			s.init("r")
			return s.init("r/inner")
		}, "r/inner"},
		"a .git that is no repository": {func(s *sandbox) string {
			s.init("r")
			s.mkdir("r", "x", ".git")
			return s.path("r", "x")
		}, "r"},
		"strange configuration file": {func(s *sandbox) string {
			r := s.init("r")
			s.write(r, ".git/config", "\xef\xbb\xbf[core] repositoryformatversion = 1 ; x\r\n[Core]Bare\n = no\n"+
				"[extensions \"x\"] worktreeConfig = 1\n[core \"sub\"]\n\tworktree = /nowhere\n")
			s.write(r, ".git/config", "\xef\xbb\xbf[core] repositoryformatversion = 0 ; x\r\n[Core]Bare = \"n\\\no\" # x\n"+
				"[core \"s]ub\\\"\"]\n\tworktree = /nowhere\n")
			return r
		}, "r"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			dir := tt.setup(s)
			want := s.asGit(dir)
			if tt.mainRoot != "" {
				want.MainRoot = s.path(tt.mainRoot)
			}
			r := s.open(dir)
			if diff := cmp.Diff(want, placeOf(r)); diff != "" {
				t.Errorf("Discover (-git +ours):\n%s", diff)
			}
			// Whether git works in one that lies among files, only git knows.
			if asked := map[bool]int{true: 1}[want.Bare && want.Root == "" && name != "beside the bare repository in .bare"]; r.Processes() > asked {
				t.Errorf("discovery started %d processes", r.Processes())
			}
			must[[]git.Ref](t)(r.Refs(t.Context()))
		})
	}
}

func (s *sandbox) symlink(target, name string) {
	s.t.Helper()
	if err := os.Symlink(target, s.path(name)); err != nil {
		s.t.Fatal(err)
	}
}

// superproject makes a repository "super" with the submodule "sub".
func (s *sandbox) superproject() string {
	s.t.Helper()
	lib := s.init("lib")
	super := s.init("super")
	s.git(super, "-c", "protocol.file.allow=always", "submodule", "add", "-q", lib, "sub")
	s.git(super, "commit", "-q", "-m", "submodule")
	return super
}

func TestDiscoverFindsNothing(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.write(s.mkdir("broken"), ".git", "gitdir: ../nowhere\n")
	s.write(s.mkdir("garbage"), ".git", "garbage\n")
	for _, dir := range []string{s.mkdir("plain"), s.path("broken"), s.path("garbage")} {
		if _, err := git.Discover(git.Locate{Dir: dir, Environ: s.env}); !errors.Is(err, git.ErrNotRepository) {
			t.Errorf("Discover(%s) = %v", dir, err)
		}
	}
	if _, err := git.Discover(git.Locate{Dir: "relative", Environ: s.env}); err == nil {
		t.Error("a relative directory was taken")
	}
	if _, err := git.Discover(git.Locate{Dir: s.path("absent"), Environ: s.env}); err == nil {
		t.Error("an absent directory was taken")
	}
}

func TestDiscoverStopsBelowACeiling(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	s.init("r")
	sub := s.mkdir("r", "x", "y")
	env := slices.Concat(s.env, []string{"GIT_CEILING_DIRECTORIES=" + s.path("r")})
	if _, err := git.Discover(git.Locate{Dir: sub, Environ: env}); !errors.Is(err, git.ErrNotRepository) {
		t.Errorf("got %v", err)
	}
	if _, err := git.Discover(git.Locate{Dir: s.path("r"), Environ: env}); err != nil {
		t.Error(err)
	}
}

func TestInheritedVariablesCountInGitHooksOnly(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	here, there := s.init("here"), s.init("there")
	env := slices.Concat(s.env, []string{
		"GIT_DIR=" + filepath.Join(there, ".git"), "GIT_WORK_TREE=" + there,
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(there, ".git", "objects"),
	})
	for hook, want := range map[bool]string{false: here, true: there} {
		r := must[*git.Repo](t)(git.Discover(git.Locate{Dir: here, Environ: env, Hook: hook}))
		if r.Root != want {
			t.Errorf("hook %v: root %s", hook, r.Root)
		}
		top := must[[]byte](t)(r.Run(t.Context(), "rev-parse", "--show-toplevel"))
		if got := strings.TrimSpace(string(top)); got != want {
			t.Errorf("hook %v: git works in %s", hook, got)
		}
		oid := must[git.OID](t)(r.WriteBlob([]byte(want)))
		if err := r.SyncObjects(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(want, ".git", "objects", string(oid[:2]), string(oid[2:]))); err != nil {
			t.Error(err)
		}
		must[git.Object](t)(r.Read(t.Context(), string(oid)))
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAttackDiscoverARefusedRepository has repositories that git refuses.
func TestAttackDiscoverARefusedRepository(t *testing.T) {
	t.Parallel()
	for name, setup := range map[string]func(s *sandbox) (dir string){
		"another owner": func(s *sandbox) string {
			dir := s.init("r")
			s.env = append(s.env, "GIT_TEST_ASSUME_DIFFERENT_OWNER=1")
			return dir
		},
		"another owner, from below": func(s *sandbox) string {
			s.init("r")
			s.env = append(s.env, "GIT_TEST_ASSUME_DIFFERENT_OWNER=1")
			return s.mkdir("r", "x")
		},
		"bare, only explicit": func(s *sandbox) string {
			s.git(s.dir, "clone", "-q", "--bare", s.init("r"), s.path("r", "b"))
			s.git(s.dir, "config", "--global", "safe.bareRepository", "explicit")
			return s.path("r", "b")
		},
		"bare with a working tree, only explicit": func(s *sandbox) string {
			s.git(s.dir, "clone", "-q", "--bare", s.init("r"), s.path("r", "b"))
			s.git(s.path("r", "b"), "config", "core.bare", "false")
			s.git(s.path("r", "b"), "config", "core.worktree", "../x")
			s.mkdir("r", "x")
			s.git(s.dir, "config", "--global", "safe.bareRepository", "explicit")
			return s.path("r", "b")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			dir := setup(s)
			if _, err := s.try(dir, "", "rev-parse", "--git-dir"); err == nil {
				t.Skip("this git accepts it")
			}
			_, err := git.Discover(git.Locate{Dir: dir, Environ: s.env})
			refused, ok := errors.AsType[*git.RefusedError](err)
			if !ok || errors.Is(err, git.ErrNotRepository) || refused.Reason == "" || refused.Hint() == "" {
				t.Fatalf("%v", err)
			}
			s.git(s.dir, "config", "--global", "safe.directory", "*")
			s.git(s.dir, "config", "--global", "safe.bareRepository", "all")
			r := s.open(dir)
			if r.Processes() != 1 {
				t.Errorf("%d processes to ask once", r.Processes())
			}
		})
	}
}

func TestBelowTakesOnlyAWorkingTreeWithItsGit(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	r := s.open(s.init("r"))
	s.init("r/inner")
	s.git(s.dir, "clone", "-q", "--bare", s.path("r"), s.path("r", "bare"))
	s.git(s.path("r", "bare"), "config", "core.bare", "false")
	s.git(s.path("r", "bare"), "config", "core.worktree", s.path("r", "bare", "x"))
	s.mkdir("r", "bare", "x")
	inner, err := r.Below("inner")
	if err != nil || inner.Root != s.path("r", "inner") {
		t.Fatalf("%+v, %v", inner, err)
	}
	for _, dir := range []string{"bare", "bare/x", "."} {
		if _, err := r.Below(dir); !errors.Is(err, git.ErrNotRepository) && dir != "." {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// TestHookSeesWhatGitSees lets real git run a hook that prints its environment,
// and discovers with that.
func TestHookSeesWhatGitSees(t *testing.T) {
	t.Parallel()
	script := "#!/bin/sh\npwd >\"$OUT\"\nenv | grep ^GIT_ >>\"$OUT\"\n"
	tests := map[string]func(s *sandbox) (dir string, args []string){
		"plain":       func(s *sandbox) (string, []string) { return s.init("r"), nil },
		"from subdir": func(s *sandbox) (string, []string) { s.init("r"); return s.mkdir("r", "sub"), nil },
		"linked worktree": func(s *sandbox) (string, []string) {
			s.git(s.init("r"), "worktree", "add", "-q", s.path("wt"))
			return s.path("wt"), nil
		},
		"options": func(s *sandbox) (string, []string) {
			r := s.init("r")
			return s.mkdir("away"), []string{"--git-dir=" + r + "/.git", "--work-tree=" + r}
		},
		"submodule": func(s *sandbox) (string, []string) { return filepath.Join(s.superproject(), "sub"), nil },
	}
	for name, setup := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			dir, args := setup(s)
			hooks := s.mkdir("hooks")
			s.write(hooks, "pre-commit", script)
			if err := os.Chmod(filepath.Join(hooks, "pre-commit"), 0o755); err != nil {
				t.Fatal(err)
			}
			out := s.path("out")
			s.env = append(s.env, "OUT="+out)
			args = append(args, "-c", "core.hooksPath="+hooks)
			s.git(dir, append(args, "commit", "-q", "--allow-empty", "-m", "x")...)
			cwd, vars, _ := strings.Cut(string(must[[]byte](t)(os.ReadFile(out))), "\n")
			env := slices.Concat(s.env, strings.Split(strings.TrimSpace(vars), "\n"))
			r := must[*git.Repo](t)(git.Discover(git.Locate{Dir: cwd, Environ: env, Hook: true}))
			want := s.git(dir, append(args, "rev-parse", "--show-toplevel")...)
			if r.Root != want {
				t.Errorf("root %s, git has %s", r.Root, want)
			}
			if got := must[[]git.Change](t)(r.Staged(t.Context(), "")); len(got) == 0 {
				t.Error("nothing staged")
			}
		})
	}
}

func TestGitPathKnowsWhatWorktreesShare(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	main := s.init("r")
	s.git(main, "worktree", "add", "-q", s.path("wt"))
	r := s.open(s.path("wt"))
	if got := must[string](t)(r.GitPath(t.Context(), "hooks")); got != filepath.Join(main, ".git", "hooks") {
		t.Errorf("hooks at %s", got)
	}
	if got := must[string](t)(r.GitPath(t.Context(), "index")); got != filepath.Join(r.GitDir, "index") {
		t.Errorf("index at %s", got)
	}
}
