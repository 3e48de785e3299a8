package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

const (
	beginMachine = "<!-- machine: begin, generated from session.Rules -->\n"
	endMachine   = "<!-- machine: end -->\n"
)

// diagram returns the machine in the form of docs/formats/session.md.
func diagram(rules []session.Rule) string {
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> idle\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", r.From, r.Step.Next, r.Event)
	}
	b.WriteString("```\n\n| phase | event | next phase | actions, in this order |\n|---|---|---|---|\n")
	for _, r := range rules {
		names := make([]string, 0, len(r.Step.Actions))
		for _, a := range r.Step.Actions {
			names = append(names, string(a))
		}
		list := strings.Join(names, ", ")
		if list == "" {
			list = "-"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.From, r.Event, r.Step.Next, list)
	}
	return b.String()
}

// TestDiagram compares the document with the machine. With ENTIRE_UPDATE=1 it writes the
// document.
func TestDiagram(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "docs", "formats", "session.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), beginMachine)
	_, after, ends := strings.Cut(rest, endMachine)
	if !found || !ends {
		t.Fatalf("%s has no marked place for the machine", path)
	}
	want := "\n" + diagram(session.Rules()) + "\n"
	testkit.Golden(t, path, before+beginMachine+want+endMachine+after)
}

// TestDocumentNamesEveryField: the document defines the format.
func TestDocumentNamesEveryField(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "docs", "formats", "session.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []any{
		session.State{},
		session.Recorder{},
		session.Process{},
		session.Turn{},
		session.Segments{},
		session.Tokens{},
		transcript.Cursor{},
		transcript.Call{},
	} {
		kind := reflect.TypeOf(of)
		for field := range kind.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name != "" && name != "-" && !strings.Contains(string(data), "`"+name+"`") {
				t.Errorf("docs/formats/session.md doesn't name %s of %v", name, kind)
			}
		}
	}
}

// TestDocumentNamesEveryAction: the document has to explain every action.
func TestDocumentNamesEveryAction(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "docs", "formats", "session.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range actions() {
		if !strings.Contains(string(data), "| `"+string(a)+"` |") {
			t.Errorf("docs/formats/session.md doesn't explain %s", a)
		}
	}
	for _, e := range events() {
		if !strings.Contains(string(data), "| `"+string(e)+"` |") {
			t.Errorf("docs/formats/session.md doesn't explain %s", e)
		}
	}
}
