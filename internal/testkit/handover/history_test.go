package main

import (
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
		"needed":           {gold{decisionNeed, []string{"Integer cents"}, false}, true},
		"half of it":       {gold{decisionNeed, []string{"integer cents", "strings"}, false}, false},
		"said":             {gold{openNeed, []string{"convert the report"}, true}, true},
		"said elsewhere":   {gold{decisionNeed, []string{"use tabs"}, true}, false},
		"said by no line":  {gold{openNeed, []string{"rename"}, true}, false},
		"of another class": {gold{decisionNeed, []string{"convert the report"}, true}, false},
	} {
		if got := c.gold.in(text); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
