package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

func TestHashFilesTakesAnyName(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		want := map[string]git.OID{}
		r := s.Open(dir)
		for _, name := range gittest.OddNames() {
			s.Write(dir, name, "content of "+name)
			want[name] = r.Format.HashBlob([]byte("content of " + name))
		}
		s.Symlink("plain", "r/link")
		s.Symlink("/etc", "r/out")
		s.Symlink("dd", "r/to-dd")
		s.Mkdir("r", "a directory")
		paths := append(gittest.OddNames(), "link", "a directory", "out/passwd", "to-dd/-b", "absent", "../r/a", "/etc/passwd", "", "plain", ".git/config")
		got := gittest.Must[map[string]git.OID](t)(git.HashFiles(t.Context(), r, git.HashOnly, paths))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if r.Processes() != 1 {
			t.Errorf("%d processes", r.Processes())
		}
		if _, err := r.Read(t.Context(), string(want["-w"])); !errors.Is(err, git.ErrMissing) {
			t.Errorf("was stored: %v", err)
		}
		got = gittest.Must[map[string]git.OID](t)(git.HashFiles(t.Context(), r, git.HashAndStore, paths))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		for name, oid := range got {
			if o := gittest.Must[git.Object](t)(r.Read(t.Context(), string(oid))); string(o.Data) != "content of "+name {
				t.Errorf("%q: %q", name, o.Data)
			}
		}
		s.Git(dir, "fsck", "--strict", "--no-dangling")
	})
}

// TestHashFilesMatchesAdd compares with `git add` under every setting that converts contents.
func TestHashFilesMatchesAdd(t *testing.T) {
	t.Parallel()
	wide := []byte("\xff\xfe")
	for _, c := range utf16.Encode([]rune("größe\r\n")) {
		wide = append(wide, byte(c), byte(c>>8))
	}
	contents := map[string]string{
		"lf.txt": "a\nb\n", "crlf.txt": "a\r\nb\r\n", "mixed.txt": "a\r\nb\nc\r", "binary.bin": "a\r\n\x00\r\n",
		"had-crlf.txt": "a\r\nchanged\r\n", "had-mixed.txt": "new\r\n", "had-lf.txt": "a\r\nnew\r\n", "sub/had-crlf\n.txt": "x\r\n",
		"had-crlf-now-lf.txt": "a\n", "up.shout": "loud\r\n", "wide.utf16": string(wide), "id.id": "$Id: 1234 $\n", "empty.txt": "", "x.crlf": "a\r\n", "had-crlf.shout": "new\r\n",
	}
	before := map[string]string{
		"had-crlf.txt": "a\r\nb\r\n", "had-mixed.txt": "a\nb\r\n", "had-lf.txt": "a\n", "sub/had-crlf\n.txt": "y\r\n",
		"had-crlf-now-lf.txt": "a\r\n", "had-crlf.shout": "OLD\r\n",
	}
	common := "*.shout filter=shout\n*.utf16 text working-tree-encoding=UTF-16\n*.id ident\n*.crlf text eol=crlf\n"
	tests := map[string]struct {
		config     []string
		attributes string
	}{
		"nothing set":        {},
		"autocrlf true":      {config: []string{"core.autocrlf", "true"}},
		"autocrlf input":     {config: []string{"core.autocrlf", "input"}},
		"safecrlf":           {config: []string{"core.autocrlf", "true"}},
		"eol crlf":           {config: []string{"core.eol", "crlf"}, attributes: "* text=auto\n"},
		"text auto":          {attributes: "* text=auto\n"},
		"text":               {attributes: "*.txt text\n"},
		"minus text":         {config: []string{"core.autocrlf", "true"}, attributes: "*.txt -text\n"},
		"split index":        {config: []string{"core.splitIndex", "true"}, attributes: "* text=auto\n"},
		"auto eol lf":        {attributes: "* text=auto eol=lf\n"},
		"auto with encoding": {attributes: "* text=auto\n*.shout text=auto filter=shout\n"},
	}
	for name, tt := range testkit.ShortTable(tests, 2) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := gittest.New(t)
			dir := s.Init("r")
			for path, content := range before {
				s.Write(dir, path, content)
			}
			s.Git(dir, "add", ".")
			s.Git(dir, "commit", "-q", "-m", "before")
			s.Git(dir, "config", "filter.shout.clean", "tr a-z A-Z")
			s.Git(dir, "config", "filter.shout.required", "true")
			if tt.config != nil {
				s.Git(dir, append([]string{"config"}, tt.config...)...)
			}
			s.Write(dir, ".gitattributes", tt.attributes+common)
			paths := make([]string, 0, len(contents))
			for path, content := range contents {
				s.Write(dir, path, content)
				paths = append(paths, path)
			}
			r := s.Open(dir)
			before := gittest.Must[[]string](t)(filepath.Glob(filepath.Join(dir, ".git", "*")))
			only := gittest.Must[map[string]git.OID](t)(git.HashFiles(t.Context(), r, git.HashOnly, paths))
			stored := gittest.Must[map[string]git.OID](t)(git.HashFiles(t.Context(), r, git.HashAndStore, paths))
			for _, oid := range stored {
				gittest.Must[git.Object](t)(r.Read(t.Context(), string(oid)))
			}
			if diff := cmp.Diff(before, gittest.Must[[]string](t)(filepath.Glob(filepath.Join(dir, ".git", "*")))); diff != "" {
				t.Errorf("left in .git:\n%s", diff)
			}
			status := s.Git(dir, "status", "--porcelain")
			s.Git(dir, "add", ".")
			want := map[string]git.OID{}
			for _, path := range paths {
				want[path] = git.OID(s.Git(dir, "rev-parse", ":"+path))
			}
			if diff := cmp.Diff(want, only); diff != "" {
				t.Errorf("HashOnly (-git +ours):\n%s", diff)
			}
			if diff := cmp.Diff(want, stored); diff != "" {
				t.Errorf("HashAndStore (-git +ours):\n%s", diff)
			}
			if status == "" {
				t.Error("nothing to add")
			}
		})
	}
}

func TestHashFilesContinuesAfterError(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	s.Write(dir, ".gitattributes", "bad* filter=bad\n")
	s.Git(dir, "config", "filter.bad.clean", "exit 1")
	s.Git(dir, "config", "filter.bad.required", "true")
	names := []string{"1", "bad1", "2", "bad2", "3"}
	for _, name := range names {
		s.Write(dir, name, name)
	}
	r := s.Open(dir)
	got, err := git.HashFiles(t.Context(), r, git.HashAndStore, names)
	if err == nil || !strings.Contains(err.Error(), `"bad1"`) || !strings.Contains(err.Error(), `"bad2"`) {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{"1", "2", "3"} {
		if got[name] != r.Format.HashBlob([]byte(name)) {
			t.Errorf("%s: %q", name, got[name])
		}
	}
	if len(got) != 3 {
		t.Errorf("got %v", got)
	}
}

func TestHashFilesSkipsUnreadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	s := gittest.New(t)
	dir := s.Init("r")
	s.Write(dir, "secret", "x")
	if err := os.Chmod(filepath.Join(dir, "secret"), 0); err != nil {
		t.Fatal(err)
	}
	got := gittest.Must[map[string]git.OID](t)(git.HashFiles(t.Context(), s.Open(dir), git.HashOnly, []string{"secret", "a"}))
	if len(got) != 1 || got["a"] == "" {
		t.Errorf("got %v", got)
	}
}

func TestHashFilesWithoutWorkingTree(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	s.Git(s.Dir, "clone", "-q", "--bare", s.Init("r"), s.Path("b.git"))
	if got := gittest.Must[map[string]git.OID](t)(git.HashFiles(t.Context(), s.Open(s.Path("b.git")), git.HashOnly, []string{"HEAD"})); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}

// TestManyFilesAreStoredInAPack checks that of many files those stored unchanged go into one pack.
// The others, with line ends or contents that git converts, are stored as git stores them.
func TestManyFilesAreStoredInAPack(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		s.Write(dir, ".gitattributes", "*.txt text\n*.up filter=up\n")
		s.Git(dir, "config", "filter.up.clean", "tr a-z A-Z")
		s.Write(dir, "kept", "crlf\r\n")
		s.Git(dir, "add", "kept")
		s.Git(dir, "config", "core.autocrlf", "input")
		s.Write(dir, "kept", "more crlf\r\n")
		paths := []string{"kept", "a.txt", "b.up", "absent", "a"}
		s.Write(dir, "a.txt", "line\r\n")
		s.Write(dir, "b.up", "up\n")
		for i := range 600 {
			name := "many/" + strconv.Itoa(i)
			s.Write(dir, name, strconv.Itoa(i%500)+"\n")
			paths = append(paths, name)
		}
		r := s.Open(dir)
		oids := gittest.Must[map[string]git.OID](t)(git.HashFiles(t.Context(), r, git.HashAndStore, paths))
		if err := r.SyncObjects(); err != nil {
			t.Fatal(err)
		}
		if len(oids) != len(paths)-1 {
			t.Errorf("%d of %d files are stored", len(oids), len(paths))
		}
		list := make([]git.OID, 0, len(oids))
		for _, oid := range oids {
			list = append(list, oid)
		}
		if absent := gittest.Must[[]git.OID](t)(git.MissingObjects(t.Context(), s.Open(dir), list)); len(absent) > 0 {
			t.Errorf("absent: %q", absent)
		}
		s.Git(dir, "add", ".")
		for line := range strings.SplitSeq(s.Git(dir, "ls-files", "-s"), "\n") {
			head, name, _ := strings.Cut(line, "\t")
			if want := git.OID(strings.Fields(head)[1]); name != ".gitattributes" && oids[name] != want {
				t.Errorf("%s is %s, git add stores %s", name, oids[name], want)
			}
		}
		if packs := gittest.Must[[]string](t)(filepath.Glob(filepath.Join(dir, ".git/objects/pack/*.pack"))); len(packs) != 1 {
			t.Errorf("packs %q", packs)
		}
		s.Git(dir, "fsck", "--strict", "--no-dangling")
	})
}

// TestHashFilesStartsGitOnlyToConvert checks that files without a conversion are stored without git
// once its variables are read. If an attribute or setting may apply to a file, the blob is still
// that of `git add`.
func TestHashFilesStartsGitOnlyToConvert(t *testing.T) {
	t.Parallel()
	const crlf = "a\r\nb\r\n"
	tests := map[string]struct {
		set func(s *gittest.Sandbox, dir string)
		git bool // whether git is started for sub/a.txt
	}{
		"nothing":        {set: func(*gittest.Sandbox, string) {}},
		"autocrlf false": {set: func(s *gittest.Sandbox, dir string) { s.Git(dir, "config", "core.autocrlf", "false") }},
		"autocrlf true":  {set: func(s *gittest.Sandbox, dir string) { s.Git(dir, "config", "core.autocrlf", "true") }, git: true},
		"no value":       {set: func(s *gittest.Sandbox, _ string) { appendTo(s, ".gitconfig", "[core]\n\tautocrlf\n") }, git: true},
		"included": {set: func(s *gittest.Sandbox, _ string) {
			appendTo(s, ".gitconfig", "[include]\n\tpath = other\n")
			s.Write(s.Path("home"), "other", "[core]\n\tautocrlf = input\n")
		}, git: true},
		"environment": {set: func(s *gittest.Sandbox, _ string) {
			s.Env = append(s.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.autocrlf", "GIT_CONFIG_VALUE_0=input")
		}, git: true},
		"root":    {set: func(s *gittest.Sandbox, dir string) { s.Write(dir, ".gitattributes", "*.txt text\n") }, git: true},
		"folder":  {set: func(s *gittest.Sandbox, dir string) { s.Write(dir, "sub/.gitattributes", "*.txt text\n") }, git: true},
		"another": {set: func(s *gittest.Sandbox, dir string) { s.Write(dir, "other/.gitattributes", "*.txt text\n") }},
		"info":    {set: func(s *gittest.Sandbox, dir string) { s.Write(dir, ".git/info/attributes", "*.txt text\n") }, git: true},
		"user":    {set: func(s *gittest.Sandbox, _ string) { s.Write(s.Path("home"), ".config/git/attributes", "*.txt text\n") }, git: true},
		"XDG": {set: func(s *gittest.Sandbox, _ string) {
			s.Env = append(s.Env, "XDG_CONFIG_HOME="+s.Path("xdg"))
			s.Write(s.Path("xdg"), "git/attributes", "*.txt text\n")
		}, git: true},
		"named": {set: func(s *gittest.Sandbox, dir string) {
			s.Write(s.Path("home"), "mine", "*.txt text\n")
			s.Git(dir, "config", "core.attributesFile", "~/mine")
		}, git: true},
		"named, absent": {set: func(s *gittest.Sandbox, dir string) { s.Git(dir, "config", "core.attributesFile", "~/mine") }},
	}
	for name, tt := range testkit.ShortTable(tests, 4) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := gittest.New(t)
			dir := s.Init("r")
			tt.set(s, dir)
			s.Write(dir, "sub/a.txt", crlf)
			r := s.Open(dir)
			gittest.Must[git.Signature](t)(git.Identity(t.Context(), r))
			before := r.Processes()
			got := gittest.Must[map[string]git.OID](t)(git.HashFiles(t.Context(), r, git.HashAndStore, []string{"sub/a.txt"}))
			started := r.Processes() - before
			if err := r.SyncObjects(); err != nil {
				t.Fatal(err)
			}
			s.Git(dir, "add", "sub/a.txt")
			if want := git.OID(s.Git(dir, "rev-parse", ":sub/a.txt")); got["sub/a.txt"] != want {
				t.Errorf("stored %s, git adds %s", got["sub/a.txt"], want)
			}
			s.Git(dir, "cat-file", "-e", string(got["sub/a.txt"]))
			if tt.git != (started > 0) {
				t.Errorf("%d processes", started)
			}
			if tt.git == (got["sub/a.txt"] == r.Format.HashBlob([]byte(crlf))) {
				t.Error("the setting has no effect, or one that it should not have")
			}
		})
	}
}

// appendTo appends lines to a file in the home directory.
func appendTo(s *gittest.Sandbox, name, lines string) {
	s.T.Helper()
	before, err := os.ReadFile(s.Path("home", name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.T.Fatal(err)
	}
	s.Write(s.Path("home"), name, string(before)+lines)
}

// TestHashFilesLeavesLargeFilesToGit checks that this process doesn't read large files into memory.
func TestHashFilesLeavesLargeFilesToGit(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	s.Write(dir, "small", "x")
	s.Write(dir, "large", strings.Repeat("x", 2<<20))
	r := s.Open(dir)
	gittest.Must[map[string][]string](t)(r.Config.Variables(t.Context()))
	before := r.Processes()
	got := gittest.Must[map[string]git.OID](t)(git.HashFiles(t.Context(), r, git.HashAndStore, []string{"small", "large"}))
	if n := r.Processes() - before; n != 1 || len(got) != 2 {
		t.Errorf("%d processes, got %v", n, got)
	}
	if want := r.Format.HashBlob([]byte(strings.Repeat("x", 2<<20))); got["large"] != want {
		t.Errorf("got %s, want %s", got["large"], want)
	}
}
