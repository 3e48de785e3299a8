package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/secretkinds"
)

// minSought is the minimum length of a part of a secret that is searched for. A shorter one may be
// anywhere.
const minSought = 8

// sought are parts of secrets, by their first bytes in each form in which a record may have them.
type sought struct {
	byPrefix map[string][]soughtForm
	// inClear are the parts that the redactor doesn't find in the place where they are.
	inClear map[string]bool
}

// soughtForm is a form of a part of a secret, and what the part is of.
type soughtForm struct{ form, part, label string }

func (s *sought) add(label string, parts []string) {
	for _, part := range parts {
		forms := []string{part, html.EscapeString(part), strings.ReplaceAll(part, "\n", "\n> ")}
		for _, escapeHTML := range []bool{false, true} {
			var b strings.Builder
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(escapeHTML)
			_ = e.Encode(part)
			forms = append(forms, strings.Trim(b.String(), "\"\n"))
		}
		slices.Sort(forms)
		for _, form := range slices.Compact(forms) {
			if len(form) >= minSought {
				s.byPrefix[form[:minSought]] = append(s.byPrefix[form[:minSought]], soughtForm{form, part, label})
			}
		}
	}
}

// in returns the parts of secrets in data, with their labels.
func (s *sought) in(data []byte) map[string]string {
	found := map[string]string{}
	for i := 0; i+minSought <= len(data); i++ {
		for _, f := range s.byPrefix[string(data[i:i+minSought])] {
			if !s.inClear[f.part] && bytes.HasPrefix(data[i:], []byte(f.form)) {
				found[f.part] = f.label
			}
		}
	}
	return found
}

// leaveOut leaves out the parts that the redactor doesn't find in the lines of a transcript.
func (s *sought) leaveOut(t *testing.T, transcript string) {
	t.Helper()
	r := redact.New()
	for line := range strings.Lines(transcript) {
		for part := range s.in(r.Line([]byte(line))) {
			s.inClear[part] = true
		}
	}
}

// checkObjects searches the objects of a repository, also those that nothing refers to, except blobs with the
// contents of files.
func (s *sought) checkObjects(t *testing.T, repo *testkit.Repo, files map[string]bool) {
	t.Helper()
	var names strings.Builder
	for line := range strings.Lines(repo.Git("cat-file", "--batch-all-objects", "--batch-check")) {
		name, kind, _ := strings.Cut(line, " ")
		if !strings.HasPrefix(kind, "tree") && !files[name] {
			names.WriteString(name + "\n")
		}
	}
	s.check(t, repo.Dir+": objects", []byte(repo.GitInput(names.String(), "cat-file", "--batch")))
}

func (s *sought) check(t *testing.T, where string, data []byte) {
	t.Helper()
	for part, label := range s.in(data) {
		at := bytes.Index(data, []byte(part[:minSought]))
		t.Errorf("%s: %s: %q in %.200q", where, label, part, data[max(0, at-100):min(len(data), at+100)])
	}
}

// checkFiles searches the files in a folder, except those for which skip is true.
func (s *sought) checkFiles(t *testing.T, dir string, skip func(path string) bool) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || skip(path) {
			return nil //nolint:nilerr // a folder that isn't there has nothing
		}
		data, err := os.ReadFile(path)
		s.check(t, path, data)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAttackRecordedSecrets plays a session with fresh secrets of many kinds in prompts, results of tools,
// edits and commands, with commits and a push. None of them is in an object of the record, here or in the
// remote repository, the index, logs, states, descriptions of snapshots, or anything that a command prints,
// unless the redactor doesn't find it in that place, which TestAttackFreshSecrets counts.
// ENTIRE_TEST_ATTACK sets the number of kinds; 2000 tries all. ENTIRE_TEST_SEED repeats a run.
func TestAttackRecordedSecrets(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "a session with many turns")
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("ENTIRE_TEST_SEED"), 10, 64); err == nil {
		seed = n
	}
	kinds := secretkinds.Kinds()
	tries := min(attackTries(80), len(kinds))
	repo := matrixRepo(t)
	repo.InProcess = inProcess
	origin := repo.At(filepath.Join(t.TempDir(), "origin.git"))
	repo.Git("init", "-q", "--bare", origin.Dir)
	repo.Git("remote", "add", "origin", origin.Dir)
	repo.Entire("config", "set", "push_remote", "origin")
	s := &sought{byPrefix: map[string][]soughtForm{}, inClear: map[string]bool{}}
	files := map[string]bool{} // the names of blobs
	const kindsOfSession, kindsOfCommit = 200, 16
	var session *testkit.Session
	total := 0
	for n := range tries {
		i := (n*len(kinds)/tries + int(seed%uint64(len(kinds)))) % len(kinds)
		kind, m := kinds[i], secretkinds.New(seed, uint64(i))
		text := func(place string) string {
			secret := kind.Make(m)
			s.add(kind.Name+" in a "+place, secret.Parts)
			total++
			return secret.Text
		}
		if n%kindsOfSession == 0 {
			session = testkit.NewSession(repo, fmt.Sprintf("secrets %d", n), filepath.Join(repo.Dir, "..", "claude"))
			session.Shared = true
			session.Start("startup")
		}
		session.Prompt(text("prompt"))
		session.Ran("cat notes", text("result"))
		name, content := fmt.Sprintf("f%d.txt", n), text("edit")
		session.Write(name, content)
		files[repo.GitInput(content, "hash-object", "--stdin")] = true
		session.Ran(text("command"), "done")
		session.Say("I did it.")
		session.Stop()
		if n%kindsOfCommit == kindsOfCommit-1 {
			repo.Git("add", "-A", ":!f"+strconv.Itoa(n)+".txt") // one stays pending
			repo.Git("commit", "-q", "-m", "c")
		}
		if last := n%kindsOfSession == kindsOfSession-1 || n == tries-1; last {
			data, err := os.ReadFile(session.Transcript.Path)
			if err != nil {
				t.Fatal(err)
			}
			s.leaveOut(t, string(data))
		}
	}
	repo.Git("push", "-q", "origin", "main")
	t.Logf("seed %d: %d kinds, %d secrets; %d parts are in clear after the redactor", seed, tries, total, len(s.inClear))
	ids := repo.Trailers("HEAD")
	if len(ids) == 0 {
		t.Fatal("the commit isn't linked")
	}
	commands, _ := readings(ids[0])
	// Commands that print contents of files, as they are, and one that keeps a transcript that it replaces.
	contents := []string{"fs", "blame", "recall show --file", "log -p", "redact check", "rewind --to"}
	for _, args := range commands {
		command := strings.Join(args, " ")
		if slices.ContainsFunc(contents, func(c string) bool { return strings.HasPrefix(command, c) }) {
			continue
		}
		got := repo.TryEntire(args...)
		s.check(t, "entire "+command, []byte(got.Stdout+got.Stderr))
	}
	next := testkit.NewSession(repo, "next", filepath.Join(repo.Dir, "..", "claude"))
	s.check(t, "the start of the next session", []byte(next.Start("startup").Stdout+next.Prompt("continue").Stdout))
	s.check(t, "MCP", []byte(readMCP(t, repo).Stdout))
	s.checkObjects(t, repo, files)
	s.checkObjects(t, origin, files)
	isContent := func(path string) bool { return bandFile.MatchString(path) || strings.Contains(path, "/.git/objects/") }
	s.checkFiles(t, repo.GitDir(), isContent)
	s.checkFiles(t, repo.Path(".entire"), isContent)
	s.checkFiles(t, repo.Env.Get("HOME"), isContent)
}
