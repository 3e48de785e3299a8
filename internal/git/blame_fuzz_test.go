package git_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// FuzzParseBlame checks that any output of git results in line numbers from 1 and at most maxLines
// lines.
func FuzzParseBlame(f *testing.F) {
	const oid = "0123456789abcdef0123456789abcdef01234567"
	for _, seed := range []string{
		oid + " 1 2 3\nauthor x\nsummary y\nfilename a.txt\n",
		oid + " 1 1 1\nfilename \"a\\tb\"\n" + oid + " 2 2 1\nfilename a\n",
		strings.Repeat("0", len(oid)) + " 1 1 1\nfilename a\n",
		oid + " -1 0 9999999999\nfilename a\n",
		oid + "\nfilename\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, out string) {
		lines, err := git.ParseBlame(bufio.NewReader(strings.NewReader(out)), git.SHA1)
		if err != nil {
			return
		}
		if len(lines) > git.MaxBlameLines {
			t.Fatalf("%d lines", len(lines))
		}
		for _, l := range lines {
			if l.Final < 1 || l.Orig < 1 || l.Commit == git.SHA1.Zero() || l.Commit != "" && !git.SHA1.Valid(l.Commit) {
				t.Fatalf("%+v", l)
			}
		}
	})
}

// FuzzBlameRange checks with git that any value of -L is treated as a range and not as an option:
// the result is lines of the file in order, each once, or an error, and no file is created.
func FuzzBlameRange(f *testing.F) {
	s := gittest.New(f)
	dir := s.Init("repo")
	s.Write(dir, "a.c", "int one(void)\n{\n\treturn 1;\n}\n")
	s.Git(dir, "add", "a.c")
	s.Git(dir, "commit", "-q", "-m", "one")
	r := s.Open(dir)
	before, err := os.ReadDir(dir)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"1,2", "2,+1", "3,-2", "4,1", ":one", "/return/", "^/one/,+1", "/(/", "", "+", "-1", "--contents=/etc/passwd", "1,2,3", "$", "9,", ":.*", "--output=made"} {
		f.Add(seed)
	}
	const longest = 40
	f.Fuzz(func(t *testing.T, asked string) {
		if len(asked) > longest || strings.ContainsRune(asked, 0) {
			return
		}
		lines, err := git.Blame(t.Context(), r, git.BlameRequest{Path: "a.c", Ranges: []string{asked}})
		for i, l := range lines {
			if err != nil || l.Final < 1 || l.Final > 4 || l.Path != "a.c" || i > 0 && l.Final <= lines[i-1].Final {
				t.Fatalf("%q: %+v, %v", asked, lines, err)
			}
		}
		if err == nil && len(lines) == 0 {
			t.Fatalf("%q: nothing and no error", asked)
		}
		if made, err := os.ReadDir(dir); err != nil || len(made) != len(before) {
			t.Fatalf("%q: the directory has %v, %v", asked, made, err)
		}
	})
}
