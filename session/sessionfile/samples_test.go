package sessionfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/sessionfile"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// samples returns the folder of recorded sessions that ENTIRE_SAMPLES names.
func samples(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("ENTIRE_SAMPLES")
	if dir == "" {
		t.Skip("ENTIRE_SAMPLES names no recorded sessions")
	}
	return dir
}

// linesOf returns the lines of a session.
func linesOf(t *testing.T, f sessionfile.File) [][]byte {
	t.Helper()
	var lines [][]byte
	if err := f.Lines(t.Context(), func(line []byte) error {
		lines = append(lines, bytes.Clone(line))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return lines
}

// scanOf reads the lines of a session as a transcript.
func scanOf(t *testing.T, f sessionfile.File) transcript.Scan {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lines.jsonl")
	if err := os.WriteFile(path, append(bytes.Join(linesOf(t, f), []byte("\n")), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	scan, err := transcript.Read(t.Context(), path, transcript.Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	return scan
}

// summary describes a session for comparison.
func summary(t *testing.T, f sessionfile.File) string {
	t.Helper()
	scan := scanOf(t, f)
	prompts := make([]string, len(scan.Prompts))
	for i, p := range scan.Prompts {
		prompts[i] = p.Text
	}
	edits := make([]string, len(scan.Edits))
	for i, e := range scan.Edits {
		edits[i] = filepath.Base(e.Path)
	}
	var tokens int64
	for _, m := range scan.Messages {
		tokens += m.Usage.Input + m.Usage.CacheRead + m.Usage.CacheCreation + m.Usage.Output
	}
	return fmt.Sprintf("%q, %q, %d tokens, %d bad", prompts, edits, tokens, scan.Bad)
}

// TestRecordedStores finds the recorded sessions of the genuine clients in their stores.
func TestRecordedStores(t *testing.T) {
	t.Parallel()
	dir := samples(t)
	pages := []string{
		`["Write two pages in docs and name them in the readme" "Add one more line to made.txt and commit"], ["start.md" "end.md" "README.md"], 8540 tokens, 0 bad`,
		`["Write the first page"], ["first.md"], `, `["Write the second page"], ["second.md"], 2440 tokens, 0 bad`,
	}
	const delegated, hooks = `["Now delegate the page to a subagent"], [`, `["Write a page on hooks"`
	stores := map[string][]string{
		"codex":   {pages[0], pages[1] + "3660 tokens, 0 bad", pages[2], delegated + `], 3660 tokens, 0 bad`, `+01a20362-bc35-7910-987e-906a3cedd7b2 [], ["sub.md"], 3660 tokens, 0 bad`, hooks + `], ["hooks.md"], 3660 tokens, 0 bad`},
		"copilot": {pages[0], pages[1] + "2440 tokens, 0 bad", pages[2], delegated + `"sub.md"], 6100 tokens, 0 bad`, hooks + ` "Please check the page"], ["hooks.md"], 3660 tokens, 0 bad`},
		"gemini":  {pages[0], pages[1] + "2440 tokens, 0 bad", pages[2], delegated + `], 2440 tokens, 0 bad`, `+730d4e22-224a-4a06-8bed-2bc02da58924 ["Please create the delegated file and report."], ["sub.md"], 3660 tokens, 0 bad`, hooks + ` "Please check the page"], ["hooks.md"], 3660 tokens, 0 bad`},
		"pi":      {pages[0], pages[1] + "2440 tokens, 0 bad", pages[2]},
		"qwen":    {pages[0], pages[1] + "2440 tokens, 0 bad", pages[2], delegated + `], 3660 tokens, 0 bad`, `+general-purpose-call_b50f1535680e4cd3b73c40ae [], ["sub.md"], 3660 tokens, 0 bad`, hooks + `], ["hooks.md"], 3660 tokens, 0 bad`},
	}
	for client, want := range stores {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			examples, err := os.ReadDir(filepath.Join(dir, client))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range examples {
				if e.IsDir() {
					copyTree(t, filepath.Join(dir, client, e.Name(), "session", client), filepath.Join(home, "."+client))
				}
			}
			if client == "gemini" {
				write(t, filepath.Join(home, ".gemini", "projects.json"), `{"projects":{"/home/dev/project":"repo"}}`)
			}
			files, skipped, err := sessionfile.Find(t.Context(), query(home, "/home/dev/project"))
			if err != nil || len(skipped) > 0 {
				t.Fatal(skipped, err)
			}
			var got []string
			for _, f := range files {
				if f.Agent.Name != client || f.Dir != "/home/dev/project" || f.Start.Year() != 2026 || f.End.Sub(f.Start) > time.Minute || !f.End.After(f.Start) || f.Size == 0 {
					t.Errorf("%+v", f)
				}
				got = append(got, summary(t, f))
				subs, err := f.Subagents(t.Context())
				if err != nil {
					t.Error(err)
				}
				for _, s := range subs {
					got = append(got, "+"+s.ID+" "+summary(t, s))
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func query(home string, roots ...string) sessionfile.Query {
	return sessionfile.Query{Getenv: func(string) string { return "" }, Home: home, Roots: roots}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// TestRecordedFiles opens each recorded session as a file of a person. The agent, the id and the
// conversation come from the lines alone.
func TestRecordedFiles(t *testing.T) {
	t.Parallel()
	dir := samples(t)
	without := map[string]bool{ // the client wrote this file while it resumed the session, and no message to it
		"gemini/1-write-shell/session/gemini/tmp/repo/chats/session-2026-11-22T13-19-034e00e6.jsonl": true,
	}
	agents := map[string]int{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" || strings.Contains(path, "payloads") || strings.HasSuffix(path, ".db.jsonl") {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		f, err := sessionfile.Open(t.Context(), path, agent.Agent{})
		if without[rel] {
			if !errors.Is(err, sessionfile.ErrNoSession) {
				t.Errorf("%s: %v", rel, err)
			}
			return nil
		}
		if err != nil {
			t.Error(err)
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		agents[f.Agent.Name]++
		if !bytes.Contains([]byte(rel), []byte(f.ID)) && !bytes.Contains(data, []byte(f.ID)) || f.Start.IsZero() || !f.End.After(f.Start) {
			t.Errorf("%s: %+v", rel, f)
		}
		if d := cmp.Diff(strings.TrimRight(string(data), "\n"), string(bytes.Join(linesOf(t, f), []byte("\n")))); d != "" {
			t.Errorf("%s: the lines differ from the file: %s", rel, d[:min(len(d), 400)])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]int{"claude-code": 25, "codex": 7, "copilot": 6, "gemini": 6, "pi": 3, "qwen": 6}, agents); d != "" {
		t.Error(d)
	}
}
