package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
)

func TestBranchName(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	unborn := s.mkdir("unborn")
	s.git(unborn, "init", "-q", "-b", "topic/ä-b")
	s.git(dir, "worktree", "add", "-q", "-b", "side/x", s.path("wt"))
	detached := s.path("detached")
	s.git(dir, "worktree", "add", "-q", "--detach", detached)
	for dir, want := range map[string]string{dir: "main", unborn: "topic/ä-b", s.path("wt"): "side/x", detached: ""} {
		r := s.open(dir)
		if got := must[string](t)(r.BranchName(t.Context())); got != want {
			t.Errorf("%s: branch %q, want %q", dir, got, want)
		}
		if r.Processes() != 0 {
			t.Errorf("%s: %d processes", dir, r.Processes())
		}
	}
}

func TestInProgress(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	s.git(dir, "switch", "-q", "-c", "other")
	s.write(dir, "a", "other\n")
	s.git(dir, "commit", "-q", "-am", "other")
	s.git(dir, "switch", "-q", "main")
	s.write(dir, "a", "main\n")
	s.git(dir, "commit", "-q", "-am", "main")
	patch := s.git(dir, "format-patch", "--stdout", "-1", "other") + "\n"
	s.write(s.dir, "patch", patch)
	tests := []struct {
		args, abort []string
		want        git.Operation
	}{
		{[]string{"merge", "other"}, []string{"merge", "--abort"}, git.Operation{Merge: true}},
		{[]string{"cherry-pick", "other"}, []string{"cherry-pick", "--abort"}, git.Operation{CherryPick: true}},
		{[]string{"revert", "other"}, []string{"revert", "--abort"}, git.Operation{Revert: true}},
		{[]string{"rebase", "other"}, []string{"rebase", "--abort"}, git.Operation{Rebase: true}},
		{[]string{"rebase", "--apply", "other"}, []string{"rebase", "--abort"}, git.Operation{Rebase: true}},
		{[]string{"am", s.path("patch")}, []string{"am", "--abort"}, git.Operation{Apply: true}},
		{[]string{"merge", "--squash", "other"}, []string{"reset", "-q", "--hard"}, git.Operation{Squash: true}},
		{[]string{"status"}, []string{"status"}, git.Operation{}},
	}
	for _, tt := range tests {
		_, _ = s.try(dir, "", tt.args...)
		got := must[git.Operation](t)(s.open(dir).InProgress(t.Context()))
		got.CherryPick = got.CherryPick && !got.Rebase // a rebase picks
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.args, diff)
		}
		s.git(dir, tt.abort...)
	}
}

func TestRel(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	s.mkdir("r", "d", "e")
	s.mkdir("r-beside")
	s.symlink(dir, "link")
	s.symlink("d", "r/to-d")
	s.symlink(s.path("r-beside"), "r/out")
	s.symlink(s.path("nowhere"), "r/dangling")
	r := s.open(s.path("r", "d"))
	tests := []struct{ in, want string }{
		{filepath.Join(dir, "a"), "a"},
		{s.path("link", "a"), "a"},
		{s.path("link", "new", "deep", "f"), "new/deep/f"},
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
		{s.path("r-beside", "f"), ""},
		{"/", ""},
		{"/etc/passwd", ""},
		{filepath.Join(dir, ".git", "config"), ""},
		{filepath.Join(dir, "d", ".GIT", "config"), ""},
		{filepath.Join(dir, "a\x00b"), ""},
	}
	for _, tt := range tests {
		for range 2 { // the second time from memory
			if got, ok := r.Rel(tt.in); got != tt.want || ok != (tt.want != "") {
				t.Errorf("Rel(%q) = %q, %v, want %q", tt.in, got, ok, tt.want)
			}
		}
	}
}

func TestRelSeesADirectoryThatBecameASymlink(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	r := s.open(dir)
	if got, _ := r.Rel(filepath.Join(dir, "later", "f")); got != "later/f" {
		t.Errorf("got %q", got)
	}
	if err := os.Symlink("elsewhere", filepath.Join(dir, "later")); err != nil {
		t.Fatal(err)
	}
	s.mkdir("r", "elsewhere")
	if got, _ := r.Rel(filepath.Join(dir, "later", "f")); got != "elsewhere/f" {
		t.Errorf("got %q", got)
	}
}

func TestValidPathRefusesWhatGitRefuses(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.init("r")
	blob := s.git(dir, "rev-parse", "HEAD:a")
	for _, path := range []string{
		"x", "x/y", " x ", "-x", "a\nb", "\"q\"", "t\tb", "\xff\xfe", "...", "..x", ".gitx", ".gitignore", "git",
		"g", "ä", "x:y", "x\\y", ".git_x", "gits", "\u200c",
		"", "/x", "x/", "x//y", ".", "..", "x/../y", "./x", ".git", "x/.git/y", ".GIT", ".Git/x",
		".git ", ".git.", ".git...", ".git::$INDEX_ALLOCATION", "git~1", "GIT~1", "git~1.", ".git\\x",
		".g\u200cit", ".git\u200d", "\u206f.git", "\ufeff.giT",
	} {
		_, err := s.try(dir, "", "-c", "core.protectHFS=true", "-c", "core.protectNTFS=true",
			"update-index", "--add", "--cacheinfo", "100644,"+blob+","+path)
		if got, want := git.ValidPath(path), err == nil; got != want {
			t.Errorf("ValidPath(%q) = %v, git says %v", path, got, want)
		}
		s.git(dir, "read-tree", "HEAD")
	}
}
