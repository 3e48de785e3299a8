package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

// busy returns a fake with a result for every call.
func busy() *fake {
	f := fakeWith(saved(2, 50))
	f.states = []*session.State{state("s1", 4711, 0)}
	f.entries = []contextstore.Entry{{ID: "3f9a1c-77b0e2", Summary: "s"}}
	f.next = savedcontext.Recalled{Checkpoint: saved(0, 0), Brief: brief.Brief{Message: "m", Parts: []string{"p"}}}
	f.unsaved, f.wanted = savedcontext.Unsaved{ID: "3f9a1c-77b0e2", Ask: true}, true
	return f
}

// serve runs the server of a fake that refuses invalid settings.
func serve(f *fake, in string, out io.Writer) error {
	s := f.server()
	s.Configure = func(_ string, changes []settings.Change) (settings.Settings, error) {
		for _, c := range changes {
			if n, ok := c.Value.(int); ok && n > 95 {
				return settings.Settings{}, errors.New("bad")
			}
		}
		return settings.Settings{}, nil
	}
	return s.Run(context.Background(), strings.NewReader(in), out)
}

// FuzzStdio sends arbitrary bytes: the server must continue, write only JSON-RPC, and reply to the
// next message.
func FuzzStdio(f *testing.F) {
	for _, seed := range []string{
		"", "x", "{}", "[]", "[[]]", "null", "3", `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `{"jsonrpc":"2.0","id":1.5,"method":""}`, `{"jsonrpc":"2.0","id":7,"error":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":[]}}`,
		`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"checkpoint_save","arguments":[]}}`,
		`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"checkpoint_before_clear","arguments":{"session_id":"s"},"inputResponses":{"answer":{"action":"accept"}}}}`,
		`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"checkpoint_before_clear","inputResponses":{"answer":null}}}`,
		`{"jsonrpc":"2.0","id":9,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		`{"jsonrpc":"2.0","id":9,"method":"initialize","params":{}}`, `{"jsonrpc":"2.0","id":9,"method":"logging/setLevel","params":{"level":3}}`,
		`{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{"cursor":"AAAA"}}`, `{"jsonrpc":"2.0","id":9,"method":"completion/complete"}`,
		`{"jsonrpc":"2.0","id":9,"method":"subscriptions/listen","params":{}}`, `{"jsonrpc":"2.0","id":9,"method":"resources/read","params":{"uri":"x"}}`,
		"\xff\xfe\n\x00\n\r\n\"", strings.Repeat("[", 5000), strings.Repeat(`{"a":`, 5000),
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, greeted bool) {
		in := string(data) + "\n"
		if greeted {
			in = hello + in
		}
		in += `{"jsonrpc":"2.0","id":"the last","method":"ping"}` + "\n"
		var out bytes.Buffer
		if err := serve(busy(), in, &out); err != nil {
			t.Fatalf("ended with %v", err)
		}
		answered := false
		for line := range strings.Lines(out.String()) {
			var m struct {
				Version string          `json:"jsonrpc"`
				ID      json.RawMessage `json:"id"`
			}
			if json.Unmarshal([]byte(line), &m) != nil || m.Version != "2.0" {
				t.Fatalf("said %q", line)
			}
			answered = answered || string(m.ID) == `"the last"`
		}
		if !answered {
			t.Fatalf("the next message was not answered:\n%s", out.String())
		}
	})
}

// FuzzCall calls tools with any input: each call gets one reply with a text or an error message.
func FuzzCall(f *testing.F) {
	tools := []string{
		"checkpoint_save", "checkpoint_list", "checkpoint_search", "checkpoint_resume", "checkpoint_configure",
		"checkpoint_before_clear", "checkpoint_after_clear", "checkpoint_none", "history_search", "history_log",
		"history_blame", "history_why", "memory_search", "memory_for_file",
	}
	for i := range tools {
		for _, args := range []string{
			`{}`, `null`, `[]`, `{"limit":1e99}`, `{"query":"x"}`, `{"id":"3f9a","level":"full"}`, `{"level":"summary"}`,
			`{"checkpoint_threshold":96}`, `{"auto_checkpoint_on_clear":{}}`, `{"session_id":"s","prompt_id":7}`, `{"session_id":"s"}`,
			`{"session_id":"\u0000"}`, `{"tags":[null,""],"mode":"stateful"}`, `{"summary":"\ud800"}`,
			`{"path":"../a","start":2}`, `{"file":"a","line":1}`, `{"commit":"-x"}`, `{"text":"x"}`,
		} {
			f.Add(byte(i), []byte(args))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, args []byte) {
		if !json.Valid(args) {
			t.Skip("FuzzStdio's")
		}
		var line bytes.Buffer
		if err := json.Compact(&line, args); err != nil {
			t.Fatal(err)
		}
		name := tools[int(which)%len(tools)]
		in := hello + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + name + `","arguments":` + line.String() + "}}\n"
		var out bytes.Buffer
		if err := serve(busy(), in, &out); err != nil {
			t.Fatalf("ended with %v", err)
		}
		answers := 0
		for text := range strings.Lines(out.String()) {
			var m struct {
				ID     any
				Result *struct {
					Content []struct{ Text *string }
				}
				Error *struct{ Message string }
			}
			if err := json.Unmarshal([]byte(text), &m); err != nil {
				t.Fatalf("said %q", text)
			}
			if m.ID != float64(2) {
				continue
			}
			answers++
			switch {
			case m.Error != nil && m.Error.Message != "":
			case m.Result == nil || len(m.Result.Content) == 0 || m.Result.Content[0].Text == nil:
				t.Errorf("answered %s", text)
			}
		}
		if answers != 1 {
			t.Errorf("%d answers: %s", answers, out.String())
		}
	})
}
