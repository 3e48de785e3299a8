package mcpserver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	_ "github.com/seed-3aff656d/entire/internal/database/driver" // as in entire-cli
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
)

// historyIndex returns an index of turns with long prompts and many commands.
func historyIndex(t *testing.T, turns int) index.Files {
	t.Helper()
	f := index.At(t.TempDir())
	ctx := t.Context()
	w, err := index.OpenWriter(ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	row, err := w.PutSession(ctx, index.Session{Name: "s1", Agent: "Agent"})
	for n := range turns {
		if err != nil {
			break
		}
		turn := &index.Turn{Key: int64(n + 1), Line: n, End: n + 1, At: now().Add(-time.Duration(n+1) * time.Hour), Ended: now().Add(-time.Duration(n+1) * time.Hour)}
		turn.Prompt = fmt.Sprintf("limit the rate, take %d %s", n, strings.Repeat("and more ", 30))
		turn.Texts[index.Prompt] = turn.Prompt
		for i := range 40 {
			turn.Calls = append(turn.Calls, index.Call{Tool: "Bash", Text: fmt.Sprintf("go test -run %d %s", i, strings.Repeat("x", 300)), Command: true, Outcome: index.Failed, Status: 1})
		}
		_, err = w.Turns.Put(ctx, row, turn)
	}
	if err := w.Close(ctx, err); err != nil {
		t.Fatal(err)
	}
	return f
}

// found contains the fields of the tools' results that the test reads.
type found struct {
	Turns []struct {
		When, Prompt, Kind, Excerpt, Session string
		Commands                             []string
	} `json:"turns"`
	More bool `json:"more"`
}

func TestHistoryFitsItsBudget(t *testing.T) {
	f := &fake{history: historyIndex(t, 40)}
	cs := client{}.connect(t, f.server())
	for name, c := range map[string]struct {
		tool  string
		input map[string]any
		most  int // turns
	}{
		"search":         {"history_search", map[string]any{"query": "rate limit"}, 5},
		"many hits":      {"history_search", map[string]any{"query": "rate", "limit": 30}, 30},
		"log":            {"history_log", map[string]any{}, 10},
		"many turns":     {"history_log", map[string]any{"limit": 30}, 30},
		"commands":       {"history_log", map[string]any{"commands": true}, 1},
		"of three hours": {"history_log", map[string]any{"hours": 3.5}, 3},
	} {
		text, res := call(t, cs, c.tool, c.input)
		got := structured[found](t, res)
		if res.IsError || len(got.Turns) == 0 || len(got.Turns) > c.most || brief.CountTokens(text) > 1500 {
			t.Errorf("%s: %d turns, %d tokens: %.200s", name, len(got.Turns), brief.CountTokens(text), text)
			continue
		}
		first := got.Turns[0]
		if got.More != (name != "of three hours") || first.Session != "s1" || !strings.HasPrefix(first.Prompt, "limit the rate, take ") || first.When != "1 hour ago" {
			t.Errorf("%s: %+v", name, got)
		}
		if c.tool == "history_search" && (first.Kind != "prompt" || !strings.Contains(first.Excerpt, "rate")) {
			t.Errorf("%s: %+v", name, first)
		}
		if name == "commands" && !strings.HasPrefix(first.Commands[0], "exit 1: go test -run 0 ") {
			t.Errorf("%s: %+v", name, first)
		}
	}
}
