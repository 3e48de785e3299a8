package cli_test

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/cli"
)

// listsOfOtherTools are the commands whose JSON is a list without an envelope.
var listsOfOtherTools = []string{
	"entire rewind", "agentfs list", "agentfs checkpoint list", "agentfs diff",
	"entire fs list", "entire fs checkpoint list", "entire fs diff",
}

// notJSON are the commands that inherit the flag from agentfs and print something else:
// a file, a script, the version.
var notJSON = []string{"agentfs version", "agentfs show", "entire fs show", "agentfs completion", "agentfs completion install", "agentfs completion uninstall"}

// Every command with --json prints one value, an object that begins with "schema": in a
// repository with snapshots, and as an error in a folder without anything.
func TestJSONOfEveryCommand(t *testing.T) {
	t.Parallel()
	commands := cli.JSONCommandPaths()
	if len(commands) < 30 { //nolint:mnd // about as many as there are
		t.Fatalf("commands with --json: %q", commands)
	}
	for _, name := range commands {
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
		})
	}
}

func checkEnvelope(t *testing.T, d *desk, name string) {
	t.Helper()
	words := strings.Fields(name + " --json " + attackArgs()[name])
	run := d.entire
	if words[0] == "agentfs" {
		run = func(args ...string) result { return d.agentfs("", args...) }
	}
	out := run(words[1:]...).out
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
