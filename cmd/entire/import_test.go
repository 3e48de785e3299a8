package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// importScene is a repository in which nothing was recorded, with sessions that made commits, a
// session without one, and one that continues another in a file of its own.
type importScene struct {
	*testkit.Repo

	root     string
	sessions []*testkit.Session
	now      time.Time
	each     func(*importScene)
}

// newImportScene makes the scene below a folder; path is its PATH. If each isn't nil, it is called after
// each step.
func newImportScene(t *testing.T, root, path string, each func(s *importScene)) *importScene {
	t.Helper()
	home := filepath.Join(root, "home")
	for _, dir := range []string{home, filepath.Join(root, "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := testkit.CleanEnv(home, filepath.Join(root, "tmp"), path).With("GIT_COMMITTER_DATE=1767000000 +0000", "GIT_AUTHOR_DATE=1767000000 +0000")
	repo, _ := testkit.NewRepo(t, filepath.Join(root, "w"), "plain", env)
	s := &importScene{Repo: repo, root: root, each: each, now: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)}
	if help := repo.TryEntire("import", "--help"); help.Code != 0 || !strings.Contains(help.Stdout, "--from") {
		t.Skip("this version doesn't import")
	}
	s.pass()
	s.Write("old.txt", numbered(20))
	s.Commit("old")
	for n := range 4 {
		one := testkit.NewSession(s.Repo, fmt.Sprintf("past session %d", n), "")
		one.Deaf = true
		one.Transcript.Now = func() time.Time { return s.now }
		s.sessions = append(s.sessions, one)
	}
	s.turn(0, "a.txt")
	s.sessions[0].Bash("git add -A && git commit -m 'By the agent'")
	s.turn(1, "b.txt")
	s.turn(0, "c.txt")
	s.commit("By the person, of two sessions")
	s.turn(2, "old.txt")
	s.turn(2, "c.txt")
	s.commit("By the person")
	s.turn(2, "not-committed.txt")
	for _, line := range s.sessions[2].Transcript.Lines() {
		s.sessions[3].Transcript.Raw(strings.ReplaceAll(line, s.sessions[2].ID, s.sessions[3].ID) + "\n")
	}
	s.turn(3, "d.txt")
	s.commit("Of the continued session")
	return s
}

// pass lets a minute pass.
func (s *importScene) pass() {
	s.now = s.now.Add(time.Minute)
	date := fmt.Sprintf("%d +0000", s.now.Unix())
	s.Env = s.Env.Without("GIT_COMMITTER_DATE", "GIT_AUTHOR_DATE").With("GIT_COMMITTER_DATE="+date, "GIT_AUTHOR_DATE="+date)
	for _, one := range s.sessions {
		one.Repo.Env = s.Env
	}
}

// turn plays a turn of a session that adds lines to a file.
func (s *importScene) turn(n int, path string) {
	s.pass()
	one := s.sessions[n]
	one.Prompt(fmt.Sprintf("Please change %s in session %d", path, n))
	text := fmt.Sprintf("a line of session %d in %s, at minute %d\nand another line of it, %[3]d\n", n, path, s.now.Minute())
	if _, err := os.Stat(s.Path(path)); err == nil {
		first, _, _ := strings.Cut(s.Read(path), "\n")
		one.Edit(path, first+"\n", text+first+"\n")
	} else {
		one.Write(path, text)
	}
	one.Stop()
	s.step()
}

// commit commits everything.
func (s *importScene) commit(subject string) {
	s.pass()
	s.Commit(subject)
	s.step()
}

func (s *importScene) step() {
	if s.each != nil {
		s.each(s)
	}
}

// imports imports, as the user today.
func (s *importScene) imports() testkit.Result {
	today := s.At(s.Dir)
	today.Env = s.Env.Without("GIT_COMMITTER_DATE", "GIT_AUTHOR_DATE")
	return today.TryEntire("import")
}

// mustImport imports, which must succeed.
func (s *importScene) mustImport() {
	if result := s.imports(); result.Code != 0 {
		s.TB.Fatalf("import: exit %d\n%s%s", result.Code, result.Stdout, result.Stderr)
	}
}

// blames returns what blame prints of every file.
func (s *importScene) blames() (list []string) {
	for _, path := range []string{"a.txt", "b.txt", "c.txt", "d.txt", "old.txt"} {
		list = append(list, s.Entire("blame", "--json", path))
	}
	return list
}

// records lists the refs of the records with their trees, and what blame prints of every file.
func (s *importScene) records() []string {
	list := s.blames()
	for ref := range strings.FieldsSeq(s.Git("for-each-ref", "--format=%(refname)", "refs/entire/", "refs/notes/", "refs/heads/entire/")) {
		list = append(list, ref+" "+s.Git("rev-parse", ref+"^{tree}"))
	}
	return list
}

// TestImportOfGrowingTranscript imports after each step of sessions, while the last line of a
// transcript is incomplete. In the end the lines have the same sessions and turns as by one import.
func TestImportOfGrowingTranscript(t *testing.T) {
	t.Parallel()
	cut := func(s *importScene, then func()) {
		one := s.sessions[0]
		one.Transcript.CutLine("It is still at work.")
		then()
		one.Transcript.Mend()
	}
	once := newImportScene(t, t.TempDir(), os.Getenv("PATH"), func(s *importScene) { cut(s, func() {}) })
	once.mustImport()
	often := newImportScene(t, t.TempDir(), os.Getenv("PATH"), func(s *importScene) { cut(s, func() { s.mustImport() }) })
	often.mustImport()
	if diff := cmp.Diff(once.blames(), often.blames()); diff != "" {
		t.Errorf("after each step (-once +often):\n%s", diff)
	}
}

// TestImportWhileTranscriptGrows imports while a session writes its transcript. Afterwards an import
// has what one import has.
func TestImportWhileTranscriptGrows(t *testing.T) {
	t.Parallel()
	s := newImportScene(t, t.TempDir(), os.Getenv("PATH"), nil)
	once := newImportScene(t, t.TempDir(), os.Getenv("PATH"), nil)
	const lines = 3000
	say := func(s *importScene) {
		for n := range lines {
			s.sessions[0].Say(fmt.Sprintf("This is number %d.", n)) // a line for the one before
		}
	}
	say(once)
	once.mustImport()
	done := make(chan struct{})
	go func() {
		say(s)
		close(done)
	}()
	for isDone := false; !isDone; {
		select {
		case <-done:
			isDone = true
		default:
		}
		s.mustImport()
	}
	if diff := cmp.Diff(once.blames(), s.blames()); diff != "" {
		t.Errorf("while it grows (-once +while it grows):\n%s", diff)
	}
}

// TestImportOfBrokenFiles imports sessions beside files that are no transcripts, or damaged ones. The
// others are imported as without them.
func TestImportOfBrokenFiles(t *testing.T) {
	t.Parallel()
	s := newImportScene(t, filepath.Join(t.TempDir(), "root"), os.Getenv("PATH"), nil)
	copyAll(t, s.root, s.root+".kept")
	s.mustImport()
	want := s.blames()
	copyAll(t, s.root+".kept", s.root)
	dir := filepath.Dir(s.sessions[0].Transcript.Path)
	line := s.sessions[0].Transcript.Lines()[3]
	for name, text := range map[string]string{
		"empty.jsonl":  "",
		"blank.jsonl":  "\n\n\n",
		"binary.jsonl": strings.Repeat("\x00\xff\xfe", 5000),
		"cut.jsonl":    line[:len(line)/2],
		"deep.jsonl":   strings.Repeat("[", 100_000) + "\n",
		"long.jsonl":   `{"type":"user","message":{"content":"` + strings.Repeat("x", 1<<20),
		"other.jsonl":  "1\n\"a\"\nnull\n[]\n{}\n",
		"path.jsonl":   `{"type":"user","sessionId":"../../x","cwd":"` + s.Dir + `","message":{"role":"user","content":"hi"},"uuid":"u","timestamp":"never"}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"loop.jsonl": "loop.jsonl", "gone.jsonl": "/no/such/file"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	result := s.imports()
	if result.Code > 1 || strings.Contains(result.Stderr, "panic") {
		t.Fatalf("import: exit %d\n%s%s", result.Code, result.Stdout, result.Stderr)
	}
	if diff := cmp.Diff(want, s.blames()); diff != "" {
		t.Errorf("with broken files (-without +with):\n%s\n%s%s", diff, result.Stdout, result.Stderr)
	}
}

// TestImportTwiceAtOnce runs imports at the same time. The records are those of one.
func TestImportTwiceAtOnce(t *testing.T) {
	t.Parallel()
	s := newImportScene(t, filepath.Join(t.TempDir(), "root"), os.Getenv("PATH"), nil)
	copyAll(t, s.root, s.root+".kept")
	s.mustImport()
	want := s.records()
	for range testkit.Rounds(1, 3) {
		copyAll(t, s.root+".kept", s.root)
		results := make([]testkit.Result, 3)
		var running sync.WaitGroup
		for i := range results {
			running.Go(func() { results[i] = s.imports() })
		}
		running.Wait()
		for _, result := range results {
			if result.Code != 0 {
				t.Errorf("import: exit %d\n%s%s", result.Code, result.Stdout, result.Stderr)
			}
		}
		if diff := cmp.Diff(want, s.records()); diff != "" {
			t.Errorf("three at once (-one +three):\n%s", diff)
		}
	}
}
