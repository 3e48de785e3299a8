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
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// place holds the results of the discovery of a directory.
type place struct {
	GitDir, CommonDir, Root, WorktreeID, MainRoot string
	Bare                                          bool
}

func placeOf(r *git.Repo) place {
	return place{r.GitDir, r.CommonDir, r.Root, r.WorktreeID, r.MainRoot(), r.Bare}
}

// gitPlace returns the results of git itself. Root is empty if there is no working tree.
func gitPlace(s *gittest.Sandbox, dir string) place {
	s.T.Helper()
	lines := strings.Split(s.Git(dir, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"), "\n")
	p := place{GitDir: lines[0], CommonDir: lines[1]}
	root, err := s.Try(dir, "", "rev-parse", "--path-format=absolute", "--show-toplevel")
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
		setup    func(s *gittest.Sandbox) (dir string)
		mainRoot string // below the sandbox; "" for none
	}{
		"plain repository": {func(s *gittest.Sandbox) string { return s.Init("r") }, "r"},
		"unborn branch": {func(s *gittest.Sandbox) string {
			s.Git(s.Mkdir("r"), "init", "-q")
			return s.Path("r")
		}, "r"},
		"subdirectory": {func(s *gittest.Sandbox) string {
			s.Init("r")
			return s.Mkdir("r", "x", "y")
		}, "r"},
		"symlink to a subdirectory": {func(s *gittest.Sandbox) string {
			s.Init("r")
			s.Mkdir("r", "x")
			s.Symlink(s.Path("r", "x"), "link")
			return s.Path("link")
		}, "r"},
		"linked worktree": {func(s *gittest.Sandbox) string {
			s.Git(s.Init("r"), "worktree", "add", "-q", s.Path("wt"))
			return s.Mkdir("wt", "sub")
		}, "r"},
		"linked worktree with worktreeConfig": {func(s *gittest.Sandbox) string {
			r := s.Init("r")
			s.Git(r, "config", "extensions.worktreeConfig", "true")
			s.Git(r, "worktree", "add", "-q", s.Path("wt"))
			s.Git(s.Path("wt"), "sparse-checkout", "set", "x")
			return s.Path("wt")
		}, "r"},
		"separate git dir": {func(s *gittest.Sandbox) string {
			return s.Init("r", "--separate-git-dir="+s.Path("elsewhere.git"))
		}, "r"},
		"worktree of a separate git dir": {func(s *gittest.Sandbox) string {
			s.Git(s.Init("r", "--separate-git-dir="+s.Path("elsewhere.git")), "worktree", "add", "-q", s.Path("wt"))
			return s.Path("wt")
		}, ""},
		"worktree of a bare repository in .bare": {func(s *gittest.Sandbox) string {
			s.Git(s.Dir, "clone", "-q", "--bare", s.Init("r"), s.Path("p", ".bare"))
			s.Write(s.Path("p"), ".git", "gitdir: ./.bare\n")
			s.Git(s.Path("p"), "worktree", "add", "-q", s.Path("p", "wt"))
			return s.Path("p", "wt")
		}, ""},
		"beside the bare repository in .bare": {func(s *gittest.Sandbox) string {
			s.Git(s.Dir, "clone", "-q", "--bare", s.Init("r"), s.Path("p", ".bare"))
			s.Write(s.Path("p"), ".git", "gitdir: ./.bare\n")
			return s.Path("p")
		}, ""},
		"bare .bare with worktreeConfig": {func(s *gittest.Sandbox) string {
			s.Git(s.Dir, "clone", "-q", "--bare", s.Init("r"), s.Path("p", ".bare"))
			s.Git(s.Path("p", ".bare"), "worktree", "add", "-q", s.Path("p", "wt"))
			s.Git(s.Path("p", "wt"), "sparse-checkout", "set", "x")
			return s.Path("p", "wt")
		}, ""},
		"bare repository": {func(s *gittest.Sandbox) string {
			s.Git(s.Dir, "clone", "-q", "--bare", s.Init("r"), s.Path("b.git"))
			return s.Path("b.git")
		}, ""},
		"inside a git directory": {func(s *gittest.Sandbox) string {
			return filepath.Join(s.Init("r"), ".git", "objects")
		}, ""},
		"submodule": {func(s *gittest.Sandbox) string {
			super := s.Superproject()
			return s.Mkdir(filepath.Base(super), "sub", "deep")
		}, "super/sub"},
		"superproject": {func(s *gittest.Sandbox) string { return s.Superproject() }, "super"},
		"worktree of a submodule": {func(s *gittest.Sandbox) string {
			s.Git(filepath.Join(s.Superproject(), "sub"), "worktree", "add", "-q", s.Path("wt"))
			return s.Path("wt")
		}, "super/sub"},
		"core.worktree elsewhere": {func(s *gittest.Sandbox) string {
			s.Mkdir("elsewhere")
			s.Git(s.Init("r"), "config", "core.worktree", "../../elsewhere")
			return s.Path("r")
		}, "elsewhere"},
		"nested repository": {func(s *gittest.Sandbox) string {
			s.Init("r")
			return s.Init("r/inner")
		}, "r/inner"},
		"a .git that is no repository": {func(s *gittest.Sandbox) string {
			s.Init("r")
			s.Mkdir("r", "x", ".git")
			return s.Path("r", "x")
		}, "r"},
		"strange configuration file": {func(s *gittest.Sandbox) string {
			r := s.Init("r")
			s.Write(r, ".git/config", "\xef\xbb\xbf[core] repositoryformatversion = 1 ; x\r\n[Core]Bare\n = no\n"+
				"[extensions \"x\"] worktreeConfig = 1\n[core \"sub\"]\n\tworktree = /nowhere\n")
			s.Write(r, ".git/config", "\xef\xbb\xbf[core] repositoryformatversion = 0 ; x\r\n[Core]Bare = \"n\\\no\" # x\n"+
				"[core \"s]ub\\\"\"]\n\tworktree = /nowhere\n")
			return r
		}, "r"},
	}
	for name, tt := range testkit.ShortTable(tests, 6) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := gittest.New(t)
			dir := tt.setup(s)
			want := gitPlace(s, dir)
			if tt.mainRoot != "" {
				want.MainRoot = s.Path(tt.mainRoot)
			}
			r := s.Open(dir)
			if diff := cmp.Diff(want, placeOf(r)); diff != "" {
				t.Errorf("Discover (-git +ours):\n%s", diff)
			}
			// Only git can tell whether it accepts a bare repository among other files.
			if asked := map[bool]int{true: 1}[want.Bare && want.Root == "" && name != "beside the bare repository in .bare"]; r.Processes() > asked {
				t.Errorf("discovery started %d processes", r.Processes())
			}
			gittest.Must[[]git.Ref](t)(git.ListRefs(t.Context(), r))
		})
	}
}

func TestDiscoverFindsNothing(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	s.Write(s.Mkdir("broken"), ".git", "gitdir: ../nowhere\n")
	s.Write(s.Mkdir("garbage"), ".git", "garbage\n")
	for _, dir := range []string{s.Mkdir("plain"), s.Path("broken"), s.Path("garbage")} {
		if _, err := git.Discover(git.Locate{Dir: dir, Environ: s.Env}); !errors.Is(err, git.ErrNotRepository) {
			t.Errorf("Discover(%s) = %v", dir, err)
		}
	}
	if _, err := git.Discover(git.Locate{Dir: "relative", Environ: s.Env}); err == nil {
		t.Error("a relative directory was taken")
	}
	if _, err := git.Discover(git.Locate{Dir: s.Path("absent"), Environ: s.Env}); err == nil {
		t.Error("an absent directory was taken")
	}
}

func TestDiscoverStopsBelowACeiling(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	s.Init("r")
	sub := s.Mkdir("r", "x", "y")
	env := slices.Concat(s.Env, []string{"GIT_CEILING_DIRECTORIES=" + s.Path("r")})
	if _, err := git.Discover(git.Locate{Dir: sub, Environ: env}); !errors.Is(err, git.ErrNotRepository) {
		t.Errorf("got %v", err)
	}
	if _, err := git.Discover(git.Locate{Dir: s.Path("r"), Environ: env}); err != nil {
		t.Error(err)
	}
}

func TestInheritedVariablesApplyOnlyInGitHooks(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	here, there := s.Init("here"), s.Init("there")
	env := slices.Concat(s.Env, []string{
		"GIT_DIR=" + filepath.Join(there, ".git"), "GIT_WORK_TREE=" + there,
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(there, ".git", "objects"),
	})
	for hook, want := range map[bool]string{false: here, true: there} {
		r := gittest.Must[*git.Repo](t)(git.Discover(git.Locate{Dir: here, Environ: env, Hook: hook}))
		if r.Root != want {
			t.Errorf("hook %v: root %s", hook, r.Root)
		}
		top := gittest.Must[[]byte](t)(r.Run(t.Context(), "rev-parse", "--show-toplevel"))
		if got := strings.TrimSpace(string(top)); got != want {
			t.Errorf("hook %v: git works in %s", hook, got)
		}
		oid := gittest.Must[git.OID](t)(r.WriteBlob([]byte(want)))
		if err := r.SyncObjects(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(want, ".git", "objects", string(oid[:2]), string(oid[2:]))); err != nil {
			t.Error(err)
		}
		gittest.Must[git.Object](t)(r.Read(t.Context(), string(oid)))
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAttackDiscoverARefusedRepository checks the error for repositories that git refuses.
func TestAttackDiscoverARefusedRepository(t *testing.T) {
	t.Parallel()
	for name, setup := range map[string]func(s *gittest.Sandbox) (dir string){
		"another owner": func(s *gittest.Sandbox) string {
			dir := s.Init("r")
			s.Env = append(s.Env, "GIT_TEST_ASSUME_DIFFERENT_OWNER=1")
			return dir
		},
		"another owner, from below": func(s *gittest.Sandbox) string {
			s.Init("r")
			s.Env = append(s.Env, "GIT_TEST_ASSUME_DIFFERENT_OWNER=1")
			return s.Mkdir("r", "x")
		},
		"bare, only explicit": func(s *gittest.Sandbox) string {
			s.Git(s.Dir, "clone", "-q", "--bare", s.Init("r"), s.Path("r", "b"))
			s.Git(s.Dir, "config", "--global", "safe.bareRepository", "explicit")
			return s.Path("r", "b")
		},
		"bare with a working tree, only explicit": func(s *gittest.Sandbox) string {
			s.Git(s.Dir, "clone", "-q", "--bare", s.Init("r"), s.Path("r", "b"))
			s.Git(s.Path("r", "b"), "config", "core.bare", "false")
			s.Git(s.Path("r", "b"), "config", "core.worktree", "../x")
			s.Mkdir("r", "x")
			s.Git(s.Dir, "config", "--global", "safe.bareRepository", "explicit")
			return s.Path("r", "b")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := gittest.New(t)
			dir := setup(s)
			if _, err := s.Try(dir, "", "rev-parse", "--git-dir"); err == nil {
				t.Skip("this git accepts it")
			}
			_, err := git.Discover(git.Locate{Dir: dir, Environ: s.Env})
			refused, ok := errors.AsType[*git.RefusedError](err)
			if !ok || errors.Is(err, git.ErrNotRepository) || refused.Reason == "" || refused.Hint() == "" {
				t.Fatalf("%v", err)
			}
			s.Git(s.Dir, "config", "--global", "safe.directory", "*")
			s.Git(s.Dir, "config", "--global", "safe.bareRepository", "all")
			r := s.Open(dir)
			if r.Processes() != 1 {
				t.Errorf("%d processes to ask once", r.Processes())
			}
		})
	}
}

func TestBelowRequiresEmbeddedGitDir(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := s.Open(s.Init("r"))
	s.Init("r/inner")
	s.Git(s.Dir, "clone", "-q", "--bare", s.Path("r"), s.Path("r", "bare"))
	s.Git(s.Path("r", "bare"), "config", "core.bare", "false")
	s.Git(s.Path("r", "bare"), "config", "core.worktree", s.Path("r", "bare", "x"))
	s.Mkdir("r", "bare", "x")
	inner, err := r.Below("inner")
	if err != nil || inner.Root != s.Path("r", "inner") {
		t.Fatalf("%+v, %v", inner, err)
	}
	for _, dir := range []string{"bare", "bare/x"} {
		if _, err := r.Below(dir); !errors.Is(err, git.ErrNotRepository) {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// TestDiscoverInHook runs a hook with git that prints its environment, and discovers the repository
// from that environment.
func TestDiscoverInHook(t *testing.T) {
	t.Parallel()
	script := "#!/bin/sh\npwd >\"$OUT\"\nenv | grep ^GIT_ >>\"$OUT\"\n"
	tests := map[string]func(s *gittest.Sandbox) (dir string, args []string){
		"plain":       func(s *gittest.Sandbox) (string, []string) { return s.Init("r"), nil },
		"from subdir": func(s *gittest.Sandbox) (string, []string) { s.Init("r"); return s.Mkdir("r", "sub"), nil },
		"linked worktree": func(s *gittest.Sandbox) (string, []string) {
			s.Git(s.Init("r"), "worktree", "add", "-q", s.Path("wt"))
			return s.Path("wt"), nil
		},
		"options": func(s *gittest.Sandbox) (string, []string) {
			r := s.Init("r")
			return s.Mkdir("away"), []string{"--git-dir=" + r + "/.git", "--work-tree=" + r}
		},
		"submodule": func(s *gittest.Sandbox) (string, []string) { return filepath.Join(s.Superproject(), "sub"), nil },
	}
	for name, setup := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := gittest.New(t)
			dir, args := setup(s)
			hooks := s.Mkdir("hooks")
			if err := testkit.WriteProgram(filepath.Join(hooks, "pre-commit"), script); err != nil {
				t.Fatal(err)
			}
			out := s.Path("out")
			s.Env = append(s.Env, "OUT="+out)
			args = append(args, "-c", "core.hooksPath="+hooks)
			s.Git(dir, append(args, "commit", "-q", "--allow-empty", "-m", "x")...)
			cwd, vars, _ := strings.Cut(string(gittest.Must[[]byte](t)(os.ReadFile(out))), "\n")
			env := slices.Concat(s.Env, strings.Split(strings.TrimSpace(vars), "\n"))
			r := gittest.Must[*git.Repo](t)(git.Discover(git.Locate{Dir: cwd, Environ: env, Hook: true}))
			want := s.Git(dir, append(args, "rev-parse", "--show-toplevel")...)
			if r.Root != want {
				t.Errorf("root %s, git has %s", r.Root, want)
			}
			if got := gittest.Must[[]git.Change](t)(git.Staged(t.Context(), r, "")); len(got) == 0 {
				t.Error("nothing staged")
			}
		})
	}
}
