package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

func TestBranchName(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	unborn := s.Mkdir("unborn")
	s.Git(unborn, "init", "-q", "-b", "topic/ä-b")
	s.Git(dir, "worktree", "add", "-q", "-b", "side/x", s.Path("wt"))
	detached := s.Path("detached")
	s.Git(dir, "worktree", "add", "-q", "--detach", detached)
	for dir, want := range map[string]string{dir: "main", unborn: "topic/ä-b", s.Path("wt"): "side/x", detached: ""} {
		r := s.Open(dir)
		if got := gittest.Must[string](t)(git.HeadBranch(t.Context(), r)); got != want {
			t.Errorf("%s: branch %q, want %q", dir, got, want)
		}
		if r.Processes() != 0 {
			t.Errorf("%s: %d processes", dir, r.Processes())
		}
	}
}

func TestInProgress(t *testing.T) {
	testkit.Long(t, "many repositories")
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	s.Git(dir, "switch", "-q", "-c", "other")
	s.Write(dir, "a", "other\n")
	s.Git(dir, "commit", "-q", "-am", "other")
	s.Git(dir, "switch", "-q", "main")
	s.Write(dir, "a", "main\n")
	s.Git(dir, "commit", "-q", "-am", "main")
	patch := s.Git(dir, "format-patch", "--stdout", "-1", "other") + "\n"
	s.Write(s.Dir, "patch", patch)
	tests := []struct {
		args, abort []string
		want        git.Operation
	}{
		{[]string{"merge", "other"}, []string{"merge", "--abort"}, git.Operation{Merge: true}},
		{[]string{"cherry-pick", "other"}, []string{"cherry-pick", "--abort"}, git.Operation{CherryPick: true}},
		{[]string{"revert", "other"}, []string{"revert", "--abort"}, git.Operation{Revert: true}},
		{[]string{"rebase", "other"}, []string{"rebase", "--abort"}, git.Operation{Rebase: true}},
		{[]string{"rebase", "--apply", "other"}, []string{"rebase", "--abort"}, git.Operation{Rebase: true}},
		{[]string{"am", s.Path("patch")}, []string{"am", "--abort"}, git.Operation{Apply: true}},
		{[]string{"merge", "--squash", "other"}, []string{"reset", "-q", "--hard"}, git.Operation{Squash: true}},
		{[]string{"status"}, []string{"status"}, git.Operation{}},
	}
	for _, tt := range tests {
		_, _ = s.Try(dir, "", tt.args...)
		got := gittest.Must[git.Operation](t)(git.OperationInProgress(t.Context(), s.Open(dir)))
		got.CherryPick = got.CherryPick && !got.Rebase // a rebase cherry-picks
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.args, diff)
		}
		s.Git(dir, tt.abort...)
	}
}

func TestRel(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	s.Mkdir("r", "d", "e")
	s.Mkdir("r-beside")
	s.Symlink(dir, "link")
	s.Symlink("d", "r/to-d")
	s.Symlink(s.Path("r-beside"), "r/out")
	s.Symlink(s.Path("nowhere"), "r/dangling")
	r := s.Open(s.Path("r", "d"))
	tests := []struct{ in, want string }{
		{filepath.Join(dir, "a"), "a"},
		{s.Path("link", "a"), "a"},
		{s.Path("link", "new", "deep", "f"), "new/deep/f"},
		{"x", "d/x"},
		{"../a", "a"},
		{"./e/../f", "d/f"},
		{filepath.Join(dir, "to-d", "f"), "d/f"},
		{filepath.Join(dir, "to-d"), "to-d"},
		{filepath.Join(dir, "new\n\"\xff", "f "), "new\n\"\xff/f "},
		{filepath.Join(dir, "..a"), "..a"},
		{filepath.Join(dir, "out"), "out"},
		{filepath.Join(dir, "out", "f"), ""},
		{filepath.Join(dir, "dangling", "f"), "dangling/f"},
		{dir, ""},
		{"", ""},
		{"..", ""},
		{"../..", ""},
		{s.Path("r-beside", "f"), ""},
		{"/", ""},
		{"/etc/passwd", ""},
		{filepath.Join(dir, ".git", "config"), ""},
		{filepath.Join(dir, "d", ".GIT", "config"), ""},
		{filepath.Join(dir, "a\x00b"), ""},
	}
	for _, tt := range tests {
		for range 2 { // the second time from the cache
			if got, ok := r.Rel(tt.in); got != tt.want || ok != (tt.want != "") {
				t.Errorf("Rel(%q) = %q, %v, want %q", tt.in, got, ok, tt.want)
			}
		}
	}
}

func TestRelDirectoryReplacedBySymlink(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	r := s.Open(dir)
	if got, _ := r.Rel(filepath.Join(dir, "later", "f")); got != "later/f" {
		t.Errorf("got %q", got)
	}
	if err := os.Symlink("elsewhere", filepath.Join(dir, "later")); err != nil {
		t.Fatal(err)
	}
	s.Mkdir("r", "elsewhere")
	if got, _ := r.Rel(filepath.Join(dir, "later", "f")); got != "elsewhere/f" {
		t.Errorf("got %q", got)
	}
}

func TestValidPathRefusesWhatGitRefuses(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	blob := s.Git(dir, "rev-parse", "HEAD:a")
	for _, path := range testkit.ShortOf([]string{
		"x", "x/y", " x ", "-x", "a\nb", "\"q\"", "t\tb", "\xff\xfe", "...", "..x", ".gitx", ".gitignore", "git",
		"g", "ä", "x:y", "x\\y", ".git_x", "gits", "\u200c",
		"", "/x", "x/", "x//y", ".", "..", "x/../y", "./x", ".git", "x/.git/y", ".GIT", ".Git/x",
		".git ", ".git.", ".git...", ".git::$INDEX_ALLOCATION", "git~1", "GIT~1", "git~1.", ".git\\x",
		".g\u200cit", ".git\u200d", "\u206f.git", "\ufeff.giT",
	}, 12) {
		_, err := s.Try(dir, "", "-c", "core.protectHFS=true", "-c", "core.protectNTFS=true",
			"update-index", "--add", "--cacheinfo", "100644,"+blob+","+path)
		if got, want := git.ValidPath(path), err == nil; got != want {
			t.Errorf("ValidPath(%q) = %v, git says %v", path, got, want)
		}
		s.Git(dir, "read-tree", "HEAD")
	}
}
