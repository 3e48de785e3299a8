package git_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

func TestConfig(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	s.Write(dir, ".git/more", "[entire]\n\tlines = \"a\\nb=c\"\n")
	s.Git(dir, "config", "include.path", "more")
	s.Git(dir, "config", "--add", "entire.two", "1")
	s.Git(dir, "config", "--add", "entire.two", "2")
	s.Git(dir, "config", "entire.Sub Part.Key", "x")
	f := gittest.Must[*os.File](t)(os.OpenFile(filepath.Join(dir, ".git/config"), os.O_APPEND|os.O_WRONLY, 0))
	if _, err := f.WriteString("[entire]\n\tflag\n\tempty =\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	r := s.Open(dir)
	want := map[string]string{
		"entire.lines": "a\nb=c", "entire.two": "2", "entire.Sub Part.key": "x",
		"entire.flag": "true", "entire.empty": "",
	}
	if diff := cmp.Diff(want, gittest.Must[map[string]string](t)(r.Config.Match(t.Context(), `^entire\.`))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := gittest.Must[map[string]string](t)(r.Config.Match(t.Context(), `^nothing\.`)); len(got) != 0 {
		t.Errorf("got %v", got)
	}
	if _, err := r.Config.Match(t.Context(), `(`); err == nil {
		t.Error("a bad expression was taken")
	}
}

// TestConfigFileMatchesGit compares the reader with git on files that git accepts.
func TestConfigFileMatchesGit(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	quiet := *s
	rapid.Check(t, func(t *rapid.T) {
		pieces := []string{
			"[core]", "[Core]", "[core \"x\"]", "[core \"]\\\"\"]", "[a.b]", "[other]", "\n", "\r\n", " ", "\t",
			"key", "Key2", "=", "value", "\"", "\\\"", "\\\\", "\\n", "\\t", "\\b", "\\\n", "\\\r\n", "#c", ";c", "ä", "[", "]", ".",
		}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(t, "pieces"), "")
		if rapid.Bool().Draw(t, "bom") {
			text = "\xef\xbb\xbf" + text
		}
		quiet.T = discard{s.T}
		quiet.Write(s.Dir, "config", text)
		out, err := quiet.Try(s.Dir, "", "config", "--file", "config", "--no-includes", "-z", "--list")
		if err != nil {
			t.Skip("git refuses it")
		}
		var want []string
		for entry := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
			key, value, ok := strings.Cut(entry, "\n")
			if strings.Count(key, ".") != 1 {
				continue // a subsection
			}
			if !ok {
				value = "true"
			}
			want = append(want, key+"="+value)
		}
		var got []string
		git.ParseConfig([]byte(text), func(e git.ConfigEntry) {
			if section, key, value, plain := e.Fields(); plain && !strings.Contains(section, ".") {
				got = append(got, section+"."+key+"="+value)
			}
		})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-git +ours):\n%s", text, diff)
		}
	})
}

// discard is a testing.TB that discards its log.
type discard struct{ testing.TB }

func (discard) Logf(string, ...any) {}
func (discard) Helper()             {}
