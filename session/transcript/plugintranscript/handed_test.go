package plugintranscript_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/session/transcript/plugintranscript"
)

// messages returns messages with these ids; an id that ends in "..." is of an incomplete
// message.
func messages(ids ...string) []json.RawMessage {
	list := make([]json.RawMessage, len(ids))
	for i, id := range ids {
		name, isOpen := strings.CutSuffix(id, "...")
		completed := 2
		if isOpen {
			completed = 0
		}
		list[i] = json.RawMessage(fmt.Sprintf(`{"info":{"id":%q,"role":"assistant","time":{"created":1,"completed":%d}},"parts":[]}`, name, completed))
	}
	return list
}

func add(t *testing.T, path string, m plugintranscript.Messages) string {
	t.Helper()
	m.Session = "s1"
	last, err := plugintranscript.Append(t.Context(), path, m, redact.New())
	if err != nil {
		t.Fatal(err)
	}
	return last
}

// written returns the ids of a transcript's messages.
func written(t *testing.T, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for line := range strings.Lines(string(data)) {
		var l struct {
			Message struct {
				Info struct {
					ID string `json:"id"`
				} `json:"info"`
			} `json:"message"`
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		ids = append(ids, l.Message.Info.ID)
	}
	return ids
}

func TestAppendWritesEachMessageOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sub", "s1.jsonl")
	steps := []struct {
		add  plugintranscript.Messages
		last string
		want []string
	}{
		{plugintranscript.Messages{List: messages("a", "b...", "c")}, "a", []string{"a"}},
		{plugintranscript.Messages{List: messages("a", "b", "c...")}, "b", []string{"a", "b"}},
		{plugintranscript.Messages{List: messages("c...", "d"), Ended: true}, "d", []string{"a", "b", "c", "d"}},
		{plugintranscript.Messages{List: messages("c", "d"), Ended: true}, "d", []string{"a", "b", "c", "d"}},
		{plugintranscript.Messages{}, "d", []string{"a", "b", "c", "d"}},
		{plugintranscript.Messages{List: []json.RawMessage{json.RawMessage(`{"info":1}`), json.RawMessage(`[]`)}, Ended: true}, "d", []string{"a", "b", "c", "d"}},
	}
	for i, step := range steps {
		if got := add(t, path, step.add); got != step.last {
			t.Errorf("step %d: the last is %q, want %q", i, got, step.last)
		}
		if diff := cmp.Diff(step.want, written(t, path)); diff != "" {
			t.Errorf("step %d: %s", i, diff)
		}
	}
}

// TestAppendAfterAStoppedWriter: a partial line of a stopped writer is replaced, wherever it
// ends.
func TestAppendAfterAStoppedWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.jsonl")
	add(t, whole, plugintranscript.Messages{List: messages("a", "b"), Ended: true})
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	for end := 0; end < len(data); end += 7 {
		path := filepath.Join(dir, "s1.jsonl")
		if err := os.WriteFile(path, data[:end], 0o600); err != nil {
			t.Fatal(err)
		}
		add(t, path, plugintranscript.Messages{List: messages("a", "b", "c"), Ended: true})
		if diff := cmp.Diff([]string{"a", "b", "c"}, written(t, path)); diff != "" {
			t.Fatalf("after %d bytes: %s", end, diff)
		}
	}
}

type failing struct{}

func (failing) LineContext(context.Context, []byte) ([]byte, error) {
	return nil, errors.New("no time")
}

func TestAppendWritesOnlyRedactedText(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	if _, err := plugintranscript.Append(t.Context(), path, plugintranscript.Messages{List: messages("a"), Ended: true}, failing{}); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a transcript")
	}
}

func TestDocument(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	add(t, path, plugintranscript.Messages{List: messages("a", "b"), Ended: true})
	if err := plugintranscript.WriteDocument(path, "/p"); err != nil {
		t.Fatal(err)
	}
	var c struct {
		Info     map[string]any    `json:"info"`
		Messages []json.RawMessage `json:"messages"`
	}
	data, err := os.ReadFile(plugintranscript.DocumentPath(path))
	if err != nil || json.Unmarshal(data, &c) != nil {
		t.Fatal(err)
	}
	if c.Info["id"] != "s1" || c.Info["directory"] != "/p" || !slices.EqualFunc(c.Messages, messages("a", "b"), func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
		t.Errorf("%s", data)
	}
	add(t, path, plugintranscript.Messages{List: messages("c"), Ended: true})
	if _, err := os.Stat(plugintranscript.DocumentPath(path)); err == nil {
		t.Error("the document is there after the session went on")
	}
}

// TestFork: a fork has the beginning of the conversation under other ids.
func TestFork(t *testing.T) {
	t.Parallel()
	const id = "ses_dfc9ac3f3ffeYweV3CMAQR21rX"
	path := filepath.Join(t.TempDir(), id+".jsonl")
	say := func(number, text string) {
		message := `{"info":{"id":"msg_NBqfX0j25Kx6To7","sessionID":"` + id + `","role":"user","time":{"created":1}},` +
			`"parts":[{"id":"prt_NBqfX0j25Kx6To7","messageID":"msg_NBqfX0j25Kx6To7","type":"text","text":"` + text + `"}]}`
		list := []json.RawMessage{json.RawMessage(strings.ReplaceAll(message, "_N", "_"+number))}
		if _, err := plugintranscript.Append(t.Context(), path, plugintranscript.Messages{Session: id, List: list, Ended: true}, redact.New()); err != nil {
			t.Fatal(err)
		}
	}
	say("21a44dd60001", "one")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	say("21a44dd70001", "two")
	session, document, err := plugintranscript.WriteFork(path, info.Size(), "/p", strings.NewReader("\x01\x02\x03\x04"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "ses_dfc9ac3f3ffeYweV3C01020304"; session != want || document != filepath.Join(filepath.Dir(path), want+".import.json") {
		t.Errorf("the fork is %s in %s", session, document)
	}
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	for text, isThere := range map[string]bool{
		`"one"`: true, `"two"`: false, `"id":"` + session + `"`: true, `"sessionID":"` + session + `"`: true,
		`"messageID":"msg_21a44dd60001BqfX0j01020304"`: true, `"prt_21a44dd60001BqfX0j01020304"`: true, "25Kx6To7": false, id: false,
	} {
		if strings.Contains(string(data), text) != isThere {
			t.Errorf("%s: want %v in %s", text, isThere, data)
		}
	}
	if _, _, err := plugintranscript.WriteFork(path, 0, "/p", strings.NewReader("1234")); err == nil {
		t.Error("a fork without messages")
	}
}

// TestRecorded hands over the content of the genuine client's database; ENTIRE_SAMPLES names
// the folder of its records.
func TestRecorded(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(os.Getenv("ENTIRE_SAMPLES"), "opencode", "1-write-shell", "session", "opencode.db.jsonl"))
	if err != nil {
		t.Skip("ENTIRE_SAMPLES names no recorded sessions")
	}
	type row struct {
		Table   string         `json:"table"`
		ID      string         `json:"id"`
		Message string         `json:"message_id"`
		Session string         `json:"session_id"`
		Data    map[string]any `json:"data"`
	}
	m := plugintranscript.Messages{Dir: "/home/dev/project", Ended: true}
	parts := map[string][]any{}
	var infos []row
	for line := range bytes.Lines(data) {
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		switch r.Table {
		case "message":
			r.Data["id"], r.Data["sessionID"], m.Session = r.ID, r.Session, r.Session
			infos = append(infos, r)
		case "part":
			r.Data["id"], r.Data["messageID"] = r.ID, r.Message
			parts[r.Message] = append(parts[r.Message], r.Data)
		}
	}
	for _, info := range infos {
		raw, err := json.Marshal(map[string]any{"info": info.Data, "parts": parts[info.ID]})
		if err != nil {
			t.Fatal(err)
		}
		m.List = append(m.List, raw)
	}
	path := filepath.Join(t.TempDir(), m.Session+".jsonl")
	add(t, path, m)
	scan, err := transcript.Read(t.Context(), path, transcript.Cursor{})
	if err != nil || scan.Bad != 0 {
		t.Fatalf("%d lines are bad, %v", scan.Bad, err)
	}
	var got []string
	for _, p := range scan.Prompts {
		got = append(got, p.Text)
	}
	for _, e := range scan.Edits {
		got = append(got, e.Path)
	}
	want := []string{
		"Write two pages in docs and name them in the readme", "Add one more line to made.txt and commit",
		"/home/dev/project/docs/start.md", "/home/dev/project/docs/end.md", "/home/dev/project/README.md",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	var input, cached, output int64
	for _, m := range scan.Messages {
		input, cached, output = input+m.Usage.Input, cached+m.Usage.CacheRead, output+m.Usage.Output
	}
	if input != 1400 || cached != 7000 || output != 140 {
		t.Errorf("%d, %d and %d tokens", input, cached, output)
	}
}
