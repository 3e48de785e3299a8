package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/cli"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// agentfs runs a command line of agentfs, with keys as its input.
func (d *desk) agentfs(keys string, args ...string) result {
	d.Helper()
	var out, errs bytes.Buffer
	d.input = strings.NewReader(keys)
	code := cli.MainFS(d.Context(), args, app.Env{
		Dir: d.root, Home: d.home, Environ: d.env, Getenv: d.getenv,
		Streams: ui.Streams{In: d.input, Out: &out, Err: &errs, Terminal: d.terminal},
		Now:     func() time.Time { return d.now },
		Version: "1.2.3",
	})
	hide := strings.NewReplacer(d.root, "$WORK", d.home, "$HOME")
	return result{code, hide.Replace(out.String()), hide.Replace(errs.String())}
}

// fs runs a command line that succeeds and returns what it printed on Out.
func (d *desk) fs(args ...string) string {
	d.Helper()
	r := d.agentfs("", args...)
	if r.code != 0 {
		d.Fatalf("agentfs %q: exit %d\n%s%s", args, r.code, r.out, r.err)
	}
	return r.out
}

// storeDesk returns a desk with a store of the working directory.
func storeDesk(t testing.TB) *desk {
	t.Helper()
	d := newDesk(t)
	d.fs("manage", ".", "--name", "myapp")
	return d
}

// lines sets a terminal on which questions are asked as lines of text.
func (d *desk) lines() {
	d.terminal = ui.Terminal{In: true, Out: true, Err: true, Accessible: true, Plain: true}
}

func TestFSQuestions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, keys, args string
		code             int
		question, out    string
	}{
		{"checkpoint delete, yes", "y\n", "checkpoint delete v1", 0, "Delete checkpoint v1 of $WORK? [y/N]", "Deleted v1\n"},
		{"checkpoint delete, no", "n\n", "checkpoint delete v1", 0, "Delete checkpoint v1 of $WORK? [y/N]", ""},
		{"checkpoint delete, silence is no", "\n", "checkpoint delete v1", 0, "Delete checkpoint v1 of $WORK? [y/N]", ""},
		{"checkpoint delete, nobody answers", "", "checkpoint delete v1", 130, "Delete checkpoint v1 of $WORK?", ""},
		{"delete, yes", "y\n", "delete myapp", 0, "Delete store 'myapp' of $WORK and all 2 checkpoints? [y/N]", "Deleted 'myapp'\n"},
		{"delete, no", "n\n", "delete myapp", 0, "Delete store 'myapp' of $WORK and all 2 checkpoints? [y/N]", ""},
		{"unmanage, no", "n\n", "unmanage", 0, "Delete store 'myapp' of $WORK and all 2 checkpoints? [y/N]", ""},
		{"restore, no", "n\n", "restore v1", 0, "Restore $WORK to v1? Current state will be saved as v3. [y/N]", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := storeDesk(t)
			d.write("a.txt", "one\n")
			d.fs("checkpoint", "create", "one")
			d.fs("checkpoint", "create", "two")
			d.lines()
			before := d.snapshot()
			r := d.agentfs(c.keys, strings.Fields(c.args)...)
			if r.code != c.code || !strings.Contains(r.err, c.question) || r.out != c.out {
				t.Errorf("exit %d\nout %q\nerr %q", r.code, r.out, r.err)
			}
			if c.out == "" {
				check(t, asText(before), asText(d.snapshot()))
			}
		})
	}
}

func asText(files map[string]string) string {
	text, _ := json.Marshal(files)
	return string(text)
}

func TestFSRestoreAnsweredWithYes(t *testing.T) {
	t.Parallel()
	d := storeDesk(t)
	d.write("a.txt", "one\n")
	d.fs("checkpoint", "create", "first")
	d.write("a.txt", "two\n")
	d.lines()
	r := d.agentfs("y\n", "restore", "v1")
	want := "Creating checkpoint v2 \"pre-restore\"...\nUnmounting...\nRestoring from v1...\nMounting...\nRestored to v1 \"first\" (0ms)\n"
	if r.code != 0 {
		t.Errorf("exit %d, %s", r.code, r.err)
	}
	check(t, want, r.out)
	check(t, "one\n", d.read("a.txt"))
}

func TestFSRelativeTimes(t *testing.T) {
	t.Parallel()
	d := storeDesk(t)
	d.now = time.Date(2026, 1, 27, 8, 32, 15, 0, time.UTC)
	d.fs("checkpoint", "create", "initial setup")
	d.now = d.now.Add(time.Hour)
	d.fs("checkpoint", "create", "added authentication")
	d.now = d.now.Add(time.Hour)
	d.fs("checkpoint", "create", "before risky refactor")
	d.now = d.now.Add(2 * time.Minute)
	check(t, `VERSION   MESSAGE                  CREATED
v3        before risky refactor    2m ago
v2        added authentication     1h ago
v1        initial setup            2h ago
`, d.fs("checkpoint", "list"))
	check(t, `Checkpoint:  v3
Store:       myapp
Message:     before risky refactor
Created:     2026-01-27 10:32:15
`, d.fs("checkpoint", "info", "v3"))
	var list []struct {
		Version   string `json:"version"`
		Message   string `json:"message"`
		CreatedAt string `json:"created_at"`
	}
	if err := json.Unmarshal([]byte(d.fs("checkpoint", "list", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	if list[0].Version != "v3" || list[0].CreatedAt != "2026-01-27T10:32:15Z" {
		t.Errorf("%+v", list[0])
	}
	if out := d.fs("status"); !strings.Contains(out, "Checkpoints: 3\nLatest:      v3 \"before risky refactor\" (2m ago)\n") {
		t.Error(out)
	}
}

// TestFSDocumented checks that the page names every key that --json prints.
func TestFSDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "formats", "agentfs.md"))
	if err != nil {
		t.Fatal(err)
	}
	d := storeDesk(t)
	d.write("a.txt", "one\n")
	d.write("b.txt", "one\ntwo\n")
	d.fs("checkpoint", "create", "one", "--agent", "a", "--action", "b", "--session", "c", "--prompt", "d")
	d.fs("checkpoint", "create", "two")
	d.write("b.txt", "two\nthree\n")
	keys := map[string]bool{}
	for _, args := range []string{
		"list", "status", "checkpoint list", "checkpoint info v1", "checkpoint create three", "diff v1", "verify", "du",
		"prune --dry-run", "restore v1 --dry-run", "restore v1 -f", "export v1 out --ignored", "doctor", "close", "open", "use myapp",
		"checkpoint delete v2 -f", "delete myapp -f",
	} {
		var v any
		out := d.fs(append(strings.Fields(args), "--json")...)
		if err := json.Unmarshal([]byte(out), &v); err != nil || strings.Count(out, "\n") != 1 {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
		collect(v, keys)
	}
	var unknown []string
	delete(keys, "schema") // docs/formats/json.md describes it
	for key := range keys {
		if !strings.Contains(string(page), "`"+key+"`") && !strings.Contains(string(page), `"`+key+`"`) {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 {
		t.Errorf("not in docs/formats/agentfs.md: %q", unknown)
	}
}

func collect(v any, keys map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			keys[key] = true
			collect(value, keys)
		}
	case []any:
		for _, value := range v {
			collect(value, keys)
		}
	}
}

func TestFSHelpNamesTheProgram(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if out := d.fs("help", "checkpoint"); !strings.Contains(out, "agentfs checkpoint --auto") || !strings.Contains(out, "EXIT STATUS") {
		t.Error(out)
	}
	if out := d.must("help", "fs"); !strings.Contains(out, "entire fs init myapp") {
		t.Error(out)
	}
	if out := d.must("fs", "restore", "--help"); !strings.Contains(out, "entire fs restore v3") {
		t.Error(out)
	}
}

func TestFSErrorsAsJSON(t *testing.T) {
	t.Parallel()
	d := storeDesk(t)
	for _, c := range []struct {
		args string
		code int
		want map[string]any
	}{
		{"checkpoint info v7", 4, map[string]any{"code": 4.0, "hint": "`agentfs checkpoint list` lists the versions"}},
		{"status --store other", 3, map[string]any{"code": 3.0, "hint": "`agentfs list` lists the stores"}},
		{"checkpoint delete", 2, map[string]any{"hint": "type agentfs checkpoint delete <version>..."}},
	} {
		r := d.agentfs("", append([]string{"--json"}, strings.Fields(c.args)...)...)
		var got map[string]any
		if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != c.code || got["error"] == "" || strings.Count(r.out, "\n") != 1 {
			t.Errorf("%s: exit %d, %v\n%s", c.args, r.code, err, r.out)
		}
		delete(got, "error")
		delete(got, "schema")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.args, diff)
		}
	}
}
