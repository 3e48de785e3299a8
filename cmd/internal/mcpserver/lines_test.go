package mcpserver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/mcpserver"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
)

// blamed contains the fields of a result of history_blame that the tests read.
type blamed struct {
	Path    string `json:"path"`
	Authors []struct {
		Lines, Kind, Name, Prompt string
	} `json:"authors"`
	Next int `json:"next"`
}

func TestBlameFitsItsBudget(t *testing.T) {
	f := &fake{}
	const runs = 4000
	for n := range runs {
		f.runs = append(f.runs, mcpserver.Run{First: 2*n + 1, Last: 2*n + 2, Writer: &mcpserver.Writer{
			Kind: "agent", Name: "Agent", Prompt: fmt.Sprintf("turn %d %s", n, strings.Repeat("and more ", 30)), Commit: "a1b2c3d", Session: "s1",
		}})
	}
	cs := client{}.connect(t, f.server())
	text, res := call(t, cs, "history_blame", map[string]any{"path": "long.go"})
	got := structured[blamed](t, res)
	if res.IsError || len(got.Authors) < 10 || brief.CountTokens(text) > 1500 {
		t.Fatalf("%d authors, %d tokens: %.200s", len(got.Authors), brief.CountTokens(text), text)
	}
	if want := 2*len(got.Authors) + 1; got.Next != want {
		t.Errorf("next is %d, want %d", got.Next, want)
	}
	if got := len(got.Authors[0].Prompt); got > 170 {
		t.Errorf("a prompt of %d bytes", got)
	}
	if want := `blame {Rev: Path:long.go First:1 Last:0}`; f.notes() != want {
		t.Errorf("asked: %s", f.notes())
	}
}

func TestBlameNamesAnAuthorOnce(t *testing.T) {
	agent, person := &mcpserver.Writer{Kind: "agent", Name: "Agent"}, &mcpserver.Writer{Kind: "person", Name: "Ada"}
	f := &fake{runs: []mcpserver.Run{{1, 4, agent}, {5, 5, person}, {6, 9, agent}}}
	_, res := call(t, client{}.connect(t, f.server()), "history_blame", map[string]any{"path": "a.go", "rev": "HEAD~1", "start": 1, "end": 9})
	got := structured[blamed](t, res)
	want := blamed{Path: "a.go"}
	want.Authors = append(want.Authors, struct{ Lines, Kind, Name, Prompt string }{"1-4, 6-9", "agent", "Agent", ""},
		struct{ Lines, Kind, Name, Prompt string }{"5", "person", "Ada", ""})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWhyFitsItsBudget(t *testing.T) {
	long := strings.Repeat(`"quoted" \ and more `, 4000)
	f := &fake{reason: mcpserver.Reason{
		Path: "long.go", Line: 7, End: 7, Text: long, Prompt: "why " + long, Said: long, Edit: &mcpserver.Act{Tool: "Bash", Text: long},
		Resume: "claude -r s1",
	}}
	for range 100 {
		f.reason.After = append(f.reason.After, mcpserver.Act{Tool: "Bash", Text: long, Failed: true})
	}
	text, res := call(t, client{}.connect(t, f.server()), "history_why", map[string]any{"file": "long.go", "line": 7})
	got := structured[mcpserver.Reason](t, res)
	if res.IsError || brief.CountTokens(text) > 1500 || brief.CountTokens(text) < 500 {
		t.Fatalf("%d tokens: %.200s", brief.CountTokens(text), text)
	}
	if !got.More || !strings.HasPrefix(got.Prompt, `why "quoted"`) || got.Said == "" || got.Edit.Text == "" || got.Resume != "claude -r s1" {
		t.Errorf("%+v", got)
	}
}
