package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every history can be read, its edits apply, and its needs are in the earlier sessions, except those
// that a command or path only begins with.
func TestHistoriesHaveWhatTheyNeed(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/histories/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d histories: %v", len(names), err)
	}
	for _, name := range names {
		h, err := readHistory(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(h.sessions) != len(h.kinds) || len(h.sessions) < 3 {
			t.Fatalf("%s: %d sessions, %d starts", name, len(h.sessions), len(h.kinds))
		}
		var texts strings.Builder
		for _, s := range h.sessions[:len(h.sessions)-1] {
			if !s.ended.Before(h.sessions[len(h.sessions)-1].began) {
				t.Errorf("%s: a session ends after the last begins", name)
			}
			texts.WriteString(s.all())
			for _, data := range s.agents {
				texts.WriteString(letters(string(data)))
			}
		}
		for _, g := range h.gold {
			for _, p := range g.phrases {
				if !has(texts.String(), p) {
					t.Errorf("%s: no earlier session has %q", name, p)
				}
			}
		}
		if h.expect != "full" && h.expect != "short" {
			t.Errorf("%s: expects %q", name, h.expect)
		}
	}
}

// A need is fulfilled by all of its phrases, and a line of another section says nothing.
func TestGoldIsFoundInItsSection(t *testing.T) {
	t.Parallel()
	const text = "**Requests** (x):\n1. use tabs\n**Decisions**:\n- person: integer cents\n**Next Steps**:\n1. Convert the report\n"
	for name, c := range map[string]struct {
		gold gold
		want bool
	}{
		"needed":           {gold{kind: decisionNeed, phrases: []string{"Integer cents"}}, true},
		"half of it":       {gold{kind: decisionNeed, phrases: []string{"integer cents", "strings"}}, false},
		"said":             {gold{kind: openNeed, phrases: []string{"convert the report"}, never: true}, true},
		"said elsewhere":   {gold{kind: decisionNeed, phrases: []string{"use tabs"}, never: true}, false},
		"said by no line":  {gold{kind: openNeed, phrases: []string{"rename"}, never: true}, false},
		"of another class": {gold{kind: decisionNeed, phrases: []string{"convert the report"}, never: true}, false},
	} {
		if got := c.gold.in(text); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A dialogue of MemoryCode becomes a history: instructions that hold are needed, and those that were
// replaced must not be said.
func TestDialogueOfMemoryCode(t *testing.T) {
	t.Parallel()
	const data = `{"context": {"mentor": "Ada", "mentee": "Bo"}, "sessions": [
		{"type": ["pivot-add", "filler-add"], "topic": ["always start method names with 'p_'", "lunch at 'noon'"],
		 "session_regex": [["method", "^p_.*"]], "cumulative_regex": [["method", "^p_.*"]], "cumulative_eval_query": ["class with a method"],
		 "text": "Ada: Hello Bo. Always start method names with 'p_'.\n\nBo: I will."},
		{"type": ["pivot-update"], "topic": ["always start method names with 'w_'"],
		 "session_regex": [["method", "^w_.*"]], "cumulative_regex": [["method","^w_.*"]], "cumulative_eval_query": ["class with a method"],
		 "text": "Ada: From now on, start method names with 'w_'.\n\nBo: All right."}]}`
	name := filepath.Join(t.TempDir(), "conversation_1.json")
	if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := readDialogue(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.sessions) != 3 || h.sessions[1].requests()[0] != "From now on, start method names with 'w_'." || h.sessions[2].requests()[0] != "Write a class with a method" {
		t.Errorf("%d sessions, the second begins with %q, the last with %q", len(h.sessions), h.sessions[1].requests(), h.sessions[2].requests())
	}
	if len(h.gold) != 2 || h.gold[0].phrases[0] != "p_" || !h.gold[0].never || h.gold[1].phrases[0] != "w_" || h.gold[1].never {
		t.Errorf("%+v", h.gold)
	}
}
