package cli_test

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/cli"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/schemas"
)

// listsOfOtherTools are the commands whose JSON is a list without an envelope.
var listsOfOtherTools = []string{
	"entire rewind", "agentfs list", "agentfs checkpoint list", "agentfs diff",
	"entire fs list", "entire fs checkpoint list", "entire fs diff",
}

// notJSON are the commands that inherit the flag from agentfs and print something else:
// a file, a script, the version, help.
var notJSON = []string{"agentfs bisect", "entire fs bisect", "agentfs version", "agentfs show", "entire fs show", "agentfs completion", "agentfs completion install", "agentfs completion uninstall"}

// Every command with --json prints one value, an object that begins with "schema", in a repository
// with snapshots, and as an error in an empty directory. With --jsonl each line is such an object.
func TestJSONOfEveryCommand(t *testing.T) {
	t.Parallel()
	commands := cli.JSONCommandPaths()
	if len(commands) < 30 { //nolint:mnd // about as many as there are
		t.Fatalf("commands with --json: %q", commands)
	}
	lines := cli.LinesCommandPaths()
	if len(lines) < 20 { //nolint:mnd // about as many as there are
		t.Fatalf("commands with --jsonl: %q", lines)
	}
	for _, name := range testkit.ShortOf(commands, 8) {
		if slices.Contains(notJSON, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := repoDesk(t)
			d.write("a.txt", "1\n")
			d.git("add", ".")
			d.git("commit", "-qm", "one")
			d.must("enable", "--agent", "claude-code")
			d.fs("manage", ".", "--name", "myapp")
			d.fs("checkpoint", "create", "first")
			checkEnvelope(t, d, name)
			checkEnvelope(t, newDesk(t), name)
			if slices.Contains(lines, name) {
				checkLines(t, d, name)
				checkLines(t, newDesk(t), name)
			}
		})
	}
}

// onFirstWrite is an output that calls do before the first write.
type onFirstWrite struct {
	bytes.Buffer

	do func()
}

func (w *onFirstWrite) Write(p []byte) (int, error) {
	if do := w.do; do != nil {
		w.do = nil
		do()
	}
	return w.Buffer.Write(p)
}

// A list is printed while it is read: an entry removed when the first one is printed is missing,
// and the other entries are those of a list printed before.
func TestJSONCheckpointListStreams(t *testing.T) {
	t.Parallel()
	d := storeDesk(t)
	for _, name := range []string{"one", "two", "three"} {
		d.write("a.txt", name)
		d.fs("checkpoint", "create", name)
	}
	messages := func(out []byte) (list []string) {
		t.Helper()
		var entries []struct{ Message string }
		fine(t, json.Unmarshal(out, &entries))
		for _, e := range entries {
			list = append(list, e.Message)
		}
		return list
	}
	before := messages([]byte(d.fs("checkpoint", "list", "--json")))
	out := &onFirstWrite{do: func() { d.fs("checkpoint", "delete", "v2", "--force") }}
	code := cli.MainFS(t.Context(), []string{"checkpoint", "list", "--json"}, app.Env{
		Dir: d.root, Home: d.home, Environ: d.env, Getenv: d.getenv,
		Streams: ui.Streams{In: d.input, Out: out, Err: io.Discard}, Now: func() time.Time { return d.now },
	})
	if code != 0 || len(before) < 3 {
		t.Fatalf("exit %d, before %q", code, before)
	}
	want := slices.DeleteFunc(slices.Clone(before), func(message string) bool { return message == before[len(before)-2] })
	if diff := cmp.Diff(want, messages(out.Bytes())); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// printed runs a command with a flag, compares what it prints with its schema, and returns it.
func printed(t *testing.T, d *desk, name, flag string) (words []string, out string) {
	t.Helper()
	words = strings.Fields(name + " " + flag + " " + attackArgs()[name])
	run := d.entire
	if words[0] == "agentfs" {
		run = func(args ...string) result { return d.agentfs("", args...) }
	}
	done := run(words[1:]...)
	args := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "entire" })
	if err := schemas.Check(schemas.Output{Args: args, Stdout: []byte(done.out), Code: done.code}); err != nil {
		t.Errorf("%q printed %s: %v", words, done.out, err)
	}
	return words, done.out
}

// checkLines checks that each line is an object, and that only the last one has "end", or is an error.
func checkLines(t *testing.T, d *desk, name string) {
	t.Helper()
	words, out := printed(t, d, name, "--jsonl")
	list := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	for i, line := range list {
		_, rest, hasSchema := strings.Cut(line, `{"schema":1,`)
		isEnd := strings.HasPrefix(rest, `"end":true`) || strings.HasPrefix(rest, `"error":`)
		if !hasSchema || isEnd != (i == len(list)-1) {
			t.Errorf("%q: line %d of %d: %s", words, i+1, len(list), line)
		}
	}
}

func checkEnvelope(t *testing.T, d *desk, name string) {
	t.Helper()
	words, out := printed(t, d, name, "--json")
	values := json.NewDecoder(strings.NewReader(out))
	var value json.RawMessage
	if err := values.Decode(&value); err != nil {
		t.Fatalf("%q printed %q: %v", words, out, err)
	}
	if err := values.Decode(new(json.RawMessage)); err != io.EOF {
		t.Errorf("%q printed more than one value: %s", words, out)
	}
	compact := new(bytes.Buffer)
	fine(t, json.Compact(compact, value))
	isList := slices.Contains(listsOfOtherTools, name) && bytes.HasPrefix(compact.Bytes(), []byte("["))
	if !isList && !bytes.HasPrefix(compact.Bytes(), []byte(`{"schema":1`)) {
		t.Errorf("%q printed %.200s", words, compact)
	}
	if n := bytes.Count(compact.Bytes(), []byte(`"schema":`)); !isList && n != 1 {
		t.Errorf("%q printed schema %d times: %s", words, n, compact)
	}
}
