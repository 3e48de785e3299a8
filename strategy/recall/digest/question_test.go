package digest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/strategy/recall/digest"
)

// TestOpenQuestion checks the alternatives of an open question: the options of the agent's tool, or
// the list that the question refers to.
func TestOpenQuestion(t *testing.T) {
	t.Parallel()
	call := used("q", "AskUserQuestion", `{"questions":[{"question":"Which storage?","options":[{"label":"Git refs","description":"no server"},{"label":"SQLite"}]}]}`)
	list := "Two ways are left:\n1. keep the table\n2. drop it\n   and its index\n\nWhich one do you prefer?"
	for name, test := range map[string]struct {
		lines    []string
		question string
		options  []string
	}{
		"tool":                 {all(asked("store the tokens somewhere"), call), "Which storage?", []string{"Git refs: no server", "SQLite"}},
		"tool, and a reply":    {all(asked("store the tokens somewhere"), call, done("q", "User has answered your questions.", `{"answers":{"Which storage?":"SQLite"}}`)), "", nil},
		"tool, and a prompt":   {all(asked("store the tokens somewhere"), call, asked("use none of these, please")), "", nil},
		"list":                 {all(asked("store the tokens somewhere"), said(list)), "Which one do you prefer?", []string{"keep the table", "drop it"}},
		"named options":        {all(asked("store the tokens"), said("**Option A: refs**\ntext\n**Option B: a file**\n\nWhich option do you want?")), "Which option do you want?", []string{"Option A: refs", "Option B: a file"}},
		"list, and a prompt":   {all(asked("store the tokens somewhere"), said(list), asked("the second one of these")), "", nil},
		"list of what is done": {all(asked("store the tokens somewhere"), said("Changes:\n- a table\n- an index\n\nShould I commit these changes?")), "Should I commit these changes?", nil},
		"headed options": {
			all(asked("store the tokens"), said("### Option 1: refs\n```sh\ngit gc\n```\n### Option 2: a file\n\n### How it works\n1. Reads it\n2. Writes it\n\nBoth work. Which do you prefer?")),
			"Which do you prefer?",
			[]string{"Option 1: refs", "Option 2: a file"},
		},
		"ways in the text": {
			all(asked("store the tokens"), said("The path could have the session:\n```\nab/session\n```\n\nOr the metadata has a list of sessions. Which approach would you prefer?")),
			"Or the metadata has a list of sessions. Which approach would you prefer?", nil,
		},
		"no choice": {all(asked("store the tokens somewhere"), said("1. a table\n2. an index\n\nShall I commit it now?")), "Shall I commit it now?", nil},
	} {
		a := digestOf(t, test.lines).Analysis(digest.Sources{})
		if a.OpenQuestion != test.question {
			t.Errorf("%s: question %q, want %q", name, a.OpenQuestion, test.question)
		}
		if diff := cmp.Diff(test.options, a.OpenOptions); diff != "" {
			t.Errorf("%s: options (-want +got):\n%s", name, diff)
		}
	}
}
