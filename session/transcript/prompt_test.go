package transcript_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session/transcript"
)

func TestPromptsOfHumans(t *testing.T) {
	t.Parallel()
	str := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	tests := map[string]struct {
		content, more string
		want          []string
	}{
		"a string":                       {content: `" do it "`, want: []string{"do it"}},
		"text blocks":                    {content: `[{"type":"text","text":"one"},{"type":"image","source":{}},{"type":"text","text":"two"}]`, want: []string{"one\n\ntwo"}},
		"nothing":                        {content: `"  "`},
		"a tool's result":                {content: `[{"type":"tool_result","tool_use_id":"x","content":"y"},{"type":"text","text":"z"}]`},
		"a note of the agent":            {content: `"do it"`, more: `"isMeta":true,`},
		"not a note":                     {content: `"do it"`, more: `"isMeta":false,`, want: []string{"do it"}},
		"a summary by its flag":          {content: `"do it"`, more: `"isCompactSummary":true,"isVisibleInTranscriptOnly":true,`},
		"a summary by its words":         {content: `"This session is being continued from a previous conversation"`},
		"a subagent's":                   {content: `"do it"`, more: `"isSidechain":true,`},
		"a task's end":                   {content: `"<task-notification>\n<task-id>x</task-id></task-notification>\nRead the output"`},
		"a plan accepted":                {content: `"Implement the following plan:\n\n# Plan"`},
		"a plan by its origin":           {content: `"go on"`, more: `"origin":{"kind":"auto-continuation"},`},
		"a task's end by its origin":     {content: `"it ended"`, more: `"origin":{"producer":"x","kind":"task-notification"},`},
		"the same words of a human":      {content: `"Implement the following plan: sleep"`, more: `"origin":{"kind":"human"},`, want: []string{"Implement the following plan: sleep"}},
		"an origin of no kind":           {content: `"do it"`, more: `"origin":{"kind":null},`, want: []string{"do it"}},
		"the system's":                   {content: `"do it"`, more: `"promptSource":"system",`},
		"typed":                          {content: `"do it"`, more: `"promptSource":"typed",`, want: []string{"do it"}},
		"a human's says the origin":      {content: `"do it"`, more: `"promptSource":"system","origin":{"kind":"human"},`, want: []string{"do it"}},
		"an interruption":                {content: `[{"type":"text","text":"[Request interrupted by user for tool use]"}]`},
		"an interruption and a prompt":   {content: `[{"type":"text","text":"[Request interrupted by user]"},{"type":"text","text":"stop that"}]`, want: []string{"stop that"}},
		"a command":                      {content: str("<command-name>/clear</command-name>\n  <command-message>clear</command-message>\n <command-args></command-args>")},
		"a skill with arguments":         {content: str("<command-message>ckpt</command-message>\n<command-name>/ckpt</command-name>\n<command-args>now</command-args>"), more: `"origin":{"kind":"human"},`},
		"a command with more":            {content: str("<command-name>/x</command-name><skill-format>true</skill-format>")},
		"a command's output":             {content: str("<local-command-stdout>Bye!</local-command-stdout>")},
		"a command's errors":             {content: str("<local-command-stderr>no</local-command-stderr>")},
		"a shell command":                {content: str("<bash-input>ls</bash-input>")},
		"a shell command's output":       {content: str("<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>")},
		"a caveat alone":                 {content: str("<local-command-caveat>Caveat: x</local-command-caveat>")},
		"a caveat and a prompt":          {content: str("<local-command-caveat>Caveat: x</local-command-caveat>\ndo it"), want: []string{"do it"}},
		"a caveat and a command":         {content: str("<local-command-caveat>x</local-command-caveat><command-name>/x</command-name> y")},
		"what the editor adds":           {content: str("<ide_opened_file>The user opened a.go</ide_opened_file>do it<ide_selection>\nx\n</ide_selection>"), want: []string{"do it"}},
		"what the editor adds, in parts": {content: `[{"type":"text","text":"<ide_opened_file>a</ide_opened_file>"},{"type":"text","text":"do it"}]`, want: []string{"do it"}},
		"a reminder":                     {content: str("do <system-reminder>no</system-reminder>it"), want: []string{"do it"}},
		"a reminder alone":               {content: str("<system-reminder>\nx\n</system-reminder>")},
		"tags in the middle":             {content: str("why does <command-name>/x</command-name> fail"), want: []string{"why does  fail"}},
		"a tag never closed":             {content: str("what is <system-reminder>, and <b>?"), want: []string{"what is <system-reminder>, and <b>?"}},
		"other tags":                     {content: str("if a<b { <p>x</p> }"), want: []string{"if a<b { <p>x</p> }"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, line := range []string{
				fmt.Sprintf(`{%s"type":"user","message":{"role":"user","content":%s},"uuid":"u"}`, tt.more, tt.content),
				fmt.Sprintf(`{"message":{"content":%s},"type":"user",%s"uuid":"u"}`, tt.content, tt.more),
			} {
				got := scan(t, write(t, line), transcript.Cursor{})
				if diff := cmp.Diff(tt.want, texts(got)); diff != "" || got.Bad > 0 {
					t.Error(line, got.Bad, diff)
				}
			}
		})
	}
}

func TestIsHuman(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"do it":      true,
		"/review 12": true,
		"":           false,
		" \n":        false,
		"<task-notification>\n<task-id>x</task-id>":                    false,
		"This session is being continued from a previous conversation": false,
		"Implement the following plan:\n\n# Plan":                      false,
		"[Request interrupted by user]":                                false,
		"<command-name>/x</command-name>":                              false,
		"<bash-input>ls</bash-input>":                                  false,
		"<system-reminder>x</system-reminder>":                         false,
		"<ide_selection>x</ide_selection> explain":                     true,
		"\xff\x00<": true,
	}
	for prompt, want := range tests {
		if got := transcript.IsHuman(prompt); got != want {
			t.Errorf("IsHuman(%q) = %t", prompt, got)
		}
	}
}

func TestStripIsLinear(t *testing.T) {
	t.Parallel()
	// Millions of unclosed tags: quadratic work would take hours.
	if !transcript.IsHuman(strings.Repeat("<system-reminder><ide_x>", 1<<19)) {
		t.Error("text is not human")
	}
}
