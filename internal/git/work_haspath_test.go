package git_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

const personal = ".entire/settings.local.json"

func TestAttackBroughtSettings(t *testing.T) {
	t.Parallel()
	for name, c := range testkit.ShortTable(map[string]struct {
		commands string
		want     bool
	}{
		"nothing":                  {"", false},
		"no commit":                {"rm -rf .git; git init -q", false},
		"others":                   {"mkdir .entire; touch .entire/settings.json .aaa zzz; git add -A; git commit -qm x", false},
		"in the index":             {"mkdir .entire; touch $P; git add -f $P", true},
		"intended":                 {"mkdir .entire; touch $P; git add -N -f $P", true},
		"in both":                  {"mkdir .entire; touch $P; git add -f $P; git commit -qm x", true},
		"in HEAD only":             {"mkdir .entire; touch $P; git add -f $P; git commit -qm x; git rm -q --cached $P", true},
		"in HEAD only, packed":     {"mkdir .entire; touch $P; git add -f $P; git commit -qm x; git rm -q --cached $P; git gc -q", true},
		"no more":                  {"mkdir .entire; touch $P; git add -f $P; git commit -qm x; git rm -q --cached $P; git commit -qm y", false},
		"in another case":          {"mkdir .Entire; touch .Entire/Settings.LOCAL.json; git add -f .Entire; git commit -qm x", true},
		"in another case, in HEAD": {"mkdir .ENTIRE; touch .ENTIRE/Settings.LOCAL.json; git add -f .ENTIRE; git commit -qm x; git rm -rq --cached .ENTIRE", true},
		"two folders":              {"mkdir .entire .Entire; touch .Entire/x .entire/settings.LOCAL.json; git add -f .Entire .entire; git commit -qm x; git rm -rq --cached .", true},
		"a link to it":             {"mkdir .entire; ln -s x $P; git add -f $P; git commit -qm x", true},
		"a link to its folder":     {"ln -s x .entire; git add -f .entire; git commit -qm x", true},
		"a submodule":              {"git init -q .entire; git -C .entire commit -q --allow-empty -m x; git add .entire 2>&1", true},
		"index of version 4":       {"git update-index --index-version=4; mkdir .entire; touch .entire/settings.json .entire/settings.lo $P; git add -f .entire", true},
		"version 4, not there":     {"git update-index --index-version=4; mkdir .entire; touch .entire/settings.json .entire/settings.lo .f; git add -f .", false},
		"a split index":            {"mkdir .entire; touch $P; git add -f $P; git update-index --split-index", true},
		"a split index without it": {"touch x; git add -f x; git update-index --split-index; mkdir .entire; touch $P", false},
		"skipped":                  {"mkdir .entire; touch $P; git add -f $P; git commit -qm x; git update-index --skip-worktree $P", true},
		"assumed unchanged":        {"mkdir .entire; touch $P; git add -f $P; git update-index --assume-unchanged $P", true},
		"a sparse index":           {"mkdir .entire; touch $P; git add -f $P; git commit -qm x; git sparse-checkout set --cone --sparse-index src; mkdir -p .entire; touch $P", true},
		"a damaged index":          {"printf DIRCxxxxxxxxxxxxxxx > .git/index", true},
		"nested folders":           {"mkdir -p .entire/.entire; touch .entire/$P; git add -f .entire; git commit -qm x", false},
		"long paths first":         {"d=.aaa/$(printf '%0250d/%0250d/%0250d/' 1 2 3); mkdir -p $d .entire; touch $d/x $P; git add -f .", true},
	}, 6) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := gittest.New(t)
			dir := s.Init("repo")
			sh(s, dir, strings.ReplaceAll(c.commands, "$P", personal))
			r := s.Open(dir)
			got, err := git.HasPath(t.Context(), r, r.Root, personal)
			if (got || err != nil) != c.want {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// sh runs shell commands in a directory.
func sh(s *gittest.Sandbox, dir, commands string) {
	s.T.Helper()
	cmd := exec.Command("sh", "-ec", commands)
	cmd.Dir, cmd.Env = dir, append(slices.Clone(s.Env), "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		s.T.Fatalf("%s: %v\n%s", commands, err, out)
	}
}

// A tree known not to contain the file as a subdirectory may contain it as the root.
func TestAttackBroughtTreeTwice(t *testing.T) {
	testkit.Long(t, "many repositories")
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("repo")
	sh(s, dir, "mkdir -p .entire/.entire; touch .entire/"+personal+"; git add -f .entire; git commit -qm x; git gc -q")
	r := s.Open(dir)
	if got := gittest.Must[bool](t)(git.HasPath(t.Context(), r, r.Root, personal)); got {
		t.Fatal("it is deeper")
	}
	sh(s, dir, "git update-ref HEAD $(git commit-tree -m y HEAD:.entire); git rm -rqf --cached .; git gc -q")
	r = s.Open(dir)
	if got := gittest.Must[bool](t)(git.HasPath(t.Context(), r, r.Root, personal)); !got {
		t.Error("not found")
	}
}

// Hooks call HasPath on every run. Git is started once for a HEAD in another repository's objects
// and not again, not even after more commits, and never for a packed HEAD.
func TestHasPathStartsGitOnce(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("repo")
	sh(s, dir, "mkdir .entire; touch .entire/settings.json a; git add -A; git commit -qm x; git gc -q; git clone -q -s . ../shared")
	packed := s.Open(dir)
	if got := gittest.Must[bool](t)(git.HasPath(t.Context(), packed, packed.Root, personal)); got || packed.Processes() > 0 {
		t.Errorf("packed: %v, %d processes", got, packed.Processes())
	}
	dir = s.Path("shared")
	for i, want := range []int{1, 0, 0} {
		if i == 2 {
			sh(s, dir, "echo > a; git commit -qam y")
		}
		r := s.Open(dir)
		if got := gittest.Must[bool](t)(git.HasPath(t.Context(), r, r.Root, personal)); got || r.Processes() != want {
			t.Errorf("%d: %v, %d processes, want %d", i, got, r.Processes(), want)
		}
	}
}

func TestHasPathMainWorktree(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("repo")
	sh(s, dir, "git commit -q --allow-empty -m x; git worktree add -q ../linked; mkdir .entire; touch "+personal+"; git add -f "+personal)
	r := s.Open(filepath.Join(filepath.Dir(dir), "linked"))
	for root, want := range map[string]bool{r.Root: false, r.MainRoot(): true} {
		if got := gittest.Must[bool](t)(git.HasPath(t.Context(), r, root, personal)); got != want {
			t.Errorf("%s: %v", root, got)
		}
	}
	sh(s, dir, "git commit -qm x; git rm -q --cached "+personal)
	r = s.Open(filepath.Join(filepath.Dir(dir), "linked"))
	if got := gittest.Must[bool](t)(git.HasPath(t.Context(), r, r.MainRoot(), personal)); !got {
		t.Error("HEAD of the main worktree was not read")
	}
}

// The index reader and git agree on indexes of random names.
func TestAttackRandomIndexes(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	letters := []string{".", "e", "E", ".entire", "settings.local.json", "Settings.Local.JSON", "x", "é", "ſ", "-", ".entir"}
	tries := 6
	if n, err := strconv.Atoi(os.Getenv("ENTIRE_TEST_ATTACK")); err == nil {
		tries = n
	}
	for i := range tries {
		dir := s.Init(fmt.Sprintf("repo%d", i))
		var list strings.Builder
		for range random.IntN(40) {
			var name strings.Builder
			for range 1 + random.IntN(4) {
				name.WriteString(letters[random.IntN(len(letters))])
				if random.IntN(3) == 0 {
					name.WriteString("/z")
				}
			}
			path := strings.ReplaceAll(name.String(), "//", "/")
			if random.IntN(12) == 0 {
				path = ".entire/Settings.local.json"
			}
			for part := range strings.SplitSeq(path, "/") {
				if part == "" || part == "." || part == ".." {
					path = "plain"
				}
			}
			fmt.Fprintf(&list, "100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\t%s\n", path)
		}
		if err := os.WriteFile(filepath.Join(dir, "list"), []byte(list.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		sh(s, dir, fmt.Sprintf("git hash-object -w --stdin < /dev/null > /dev/null; git update-index --add --replace --index-info < list 2>/dev/null; git update-index --index-version=%d", 2+i%3))
		has := false
		for path := range strings.SplitSeq(s.Git(dir, "-c", "core.quotePath=false", "ls-files", "-z"), "\x00") {
			has = has || strings.EqualFold(path, personal) || strings.EqualFold(path, ".entire")
		}
		r := s.Open(dir)
		if got := gittest.Must[bool](t)(git.HasPath(t.Context(), r, r.Root, personal)); got != has || r.Processes() > 0 {
			t.Errorf("repo%d: %v, git says %v, %d processes", i, got, has, r.Processes())
		}
	}
}

func TestAttackContentLeftBehind(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("repo")
	sh(s, dir, `printf '{\n}\n' > a; printf '{}' > packed; git add -A; git commit -qm x; git gc -q; printf '{}\n' > loose; git add loose; git reset -q`)
	for content, want := range map[string]bool{"{\n}\n": true, "{\r\n}\r\n": true, "{}": true, "{}\n": true, "{ }": false, "": false} {
		for i := range 2 {
			r := s.Open(dir)
			if got := gittest.Must[bool](t)(git.HasContent(t.Context(), r, []byte(content))); got != want {
				t.Errorf("%q: %v", content, got)
			}
			if n := r.Processes(); !want && n != 1-i {
				t.Errorf("%q: %d processes", content, n)
			}
		}
	}
}
