package mcpserver_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/recall/memory"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

// remembered contains the fields of the results that the tests read.
type remembered struct {
	Facts []struct {
		Kind, By, Person, Text, When, Session, State string
	} `json:"facts"`
	More bool `json:"more"`
}

// factsNow returns facts of two persons in turn, with texts of the greatest length.
func factsNow(n int) []savedcontext.FactNow {
	list := make([]savedcontext.FactNow, n)
	for i := range list {
		list[i] = savedcontext.FactNow{State: savedcontext.Outdated, Fact: memory.Fact{
			Fact: recall.Fact{
				Kind: recall.Decision, By: recall.Person, Text: strings.Repeat("keep tokens opaque ", 15), Why: strings.Repeat("they are seen ", 20),
				Files: []string{"pkg/auth/token.go"}, At: now().Add(-time.Hour),
			},
			Session: "s1",
		}}
		if i%2 == 1 {
			list[i].Person = "Ana Lima"
		}
	}
	return list
}

func TestMemoryFitsItsBudget(t *testing.T) {
	f := &fake{facts: factsNow(40)}
	cs := client{}.connect(t, f.server())
	for tool, input := range map[string]map[string]any{"memory_search": {"query": "tokens", "limit": 30}, "memory_for_file": {"path": "a.go"}} {
		text, res := call(t, cs, tool, input)
		got := structured[remembered](t, res)
		if res.IsError || len(got.Facts) < 2 || !got.More || brief.CountTokens(text) > 1500 {
			t.Fatalf("%s: %d facts, more %v, %d tokens: %.200s", tool, len(got.Facts), got.More, brief.CountTokens(text), text)
		}
		first, second := got.Facts[0], got.Facts[1]
		if first.Person != "" || second.Person != "Ana Lima" || first.When != "1 hour ago" || first.State != "changed" || first.Session != "s1" {
			t.Errorf("%s: %+v", tool, got.Facts[:2])
		}
	}
	if diff := cmp.Diff(2, strings.Count(f.notes(), "\n")+1); diff != "" {
		t.Errorf("calls:\n%s", f.notes())
	}
}

func TestMemoryOfNothing(t *testing.T) {
	cs := client{}.connect(t, (&fake{}).server())
	for tool, input := range map[string]map[string]any{"memory_search": {"query": "tokens"}, "memory_for_file": {"path": "a.go"}} {
		if text, res := call(t, cs, tool, input); res.IsError || text != `{"facts":[],"more":false}` {
			t.Errorf("%s: %s", tool, text)
		}
	}
}
