package mcpserver_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

func says(answer string) func(string) string { return func(string) string { return answer } }

func TestBeforeClear(t *testing.T) {
	asks := savedcontext.Unsaved{ID: "3f9a1c-77b0e2", Ask: true, Files: 3, Added: 127, Last: now().Add(-45 * time.Minute)}
	first := asks
	first.Last = time.Time{}
	const before = `before "s1" "p1"`
	tests := map[string]struct {
		unsaved  savedcontext.Unsaved
		always   bool // verify_before_clear is off
		after    time.Duration
		answer   func(string) string
		question string
		want     []string
	}{
		"nothing changed":            {unsaved: savedcontext.Unsaved{}, answer: says("accept"), want: []string{before}},
		"saved without asking":       {unsaved: savedcontext.Unsaved{ID: "3f9a1c-77b0e2"}, answer: says("accept"), want: []string{before}},
		"a client that can't":        {unsaved: asks, want: []string{before}},
		"yes":                        {unsaved: asks, answer: says("accept"), question: "Save this session's context before clearing?\n3 files changed, +127 lines. Last saved: 45 minutes ago", want: []string{before, `answer "s1" 1`}},
		"no":                         {unsaved: asks, answer: says("decline"), question: "Save this session's context before clearing?\n3 files changed, +127 lines. Last saved: 45 minutes ago", want: []string{before, `answer "s1" 2`}},
		"cancelled":                  {unsaved: first, answer: says("cancel"), question: "Save this session's context before clearing?\n3 files changed, +127 lines. Not saved before.", want: []string{before, `answer "s1" 2`}},
		"no answer in time":          {unsaved: first, answer: says("cancel"), after: 45 * time.Second, question: "Save this session's context before clearing?\n3 files changed, +127 lines. Not saved before.", want: []string{before, `answer "s1" 0`}},
		"asked at every clear":       {unsaved: first, always: true, answer: says("accept"), question: "Save this session's context before clearing?\n3 files changed, +127 lines. Not saved before.", want: []string{before, `answer "s1" 1`}},
		"an answer of no known kind": {unsaved: first, answer: says("maybe"), question: "Save this session's context before clearing?\n3 files changed, +127 lines. Not saved before.", want: []string{before, `answer "s1" 0`}},
	}
	for name, test := range tests {
		for _, version := range versions() {
			t.Run(name+" "+version, func(t *testing.T) {
				f := &fake{unsaved: test.unsaved}
				f.settings.VerifyBeforeClear = !test.always
				var question string
				c := client{version: version}
				if test.answer != nil {
					c.answer = func(q string) string { question = q; f.wait(test.after); return test.answer(q) }
				}
				text, res := call(t, c.connect(t, f.server()), "checkpoint_before_clear", map[string]any{
					"session_id": "s1", "prompt_id": "p1", "transcript_path": "/home/t.jsonl", "cwd": "${cwd}", "later": 1,
				})
				if text != "" || res.IsError {
					t.Errorf("answered %q", text)
				}
				if diff := cmp.Diff(test.question, question); diff != "" {
					t.Errorf("question (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(strings.Join(test.want, "\n"), f.notes()); diff != "" {
					t.Errorf("asked for (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestAfterClear(t *testing.T) {
	next := savedcontext.Recalled{
		Checkpoint: recall.Checkpoint{ID: "3f9a1c-77b0e2", Summary: "parser <done>", CreatedAt: now().Add(-time.Minute)},
		Brief:      brief.Brief{Message: "Resumed from checkpoint: parser <done> (saved 1 minute ago)", Parts: []string{"the brief", "files"}},
	}
	const printed = `{"hookSpecificOutput":{"additionalContext":"the brief","hookEventName":"SessionStart"},` +
		`"systemMessage":"Resumed from checkpoint: parser <done> (saved 1 minute ago)"}`
	tests := map[string]struct {
		next   savedcontext.Recalled
		wanted bool
		answer func(string) string
		asked  bool
		want   string
	}{
		"not asked":           {next: next, answer: says("accept")},
		"a client that can't": {next: next, wanted: true},
		"yes":                 {next: next, wanted: true, answer: says("accept"), asked: true, want: printed},
		"no":                  {next: next, wanted: true, answer: says("decline"), asked: true},
		"cancelled":           {next: next, wanted: true, answer: says("cancel"), asked: true},
		"nothing to say":      {next: savedcontext.Recalled{Checkpoint: next.Checkpoint}, wanted: true, answer: says("accept"), asked: true},
	}
	for name, test := range tests {
		for _, version := range versions() {
			t.Run(name+" "+version, func(t *testing.T) {
				var question string
				c := client{version: version}
				if test.answer != nil {
					c.answer = func(q string) string { question = q; return test.answer(q) }
				}
				f := &fake{next: test.next, wanted: test.wanted}
				text, _ := call(t, c.connect(t, f.server()), "checkpoint_after_clear", map[string]string{"session_id": "s2"})
				if text != test.want {
					t.Errorf("answered %q, want %q", text, test.want)
				}
				if !strings.HasPrefix(f.notes(), `after "s2" [{4711 1}]`) {
					t.Errorf("noted %q", f.notes())
				}
				if test.asked != (question == "Resume from checkpoint: parser <done> (saved 1 minute ago)?") {
					t.Errorf("asked %q", question)
				}
			})
		}
	}
}

// TestHookToolsHideErrors checks that no error is shown as a failure of the clear.
func TestHookToolsHideErrors(t *testing.T) {
	tests := map[string]struct {
		args  any
		setup func(*fake)
		log   string
	}{
		"no session":            {args: map[string]string{}, log: `"error":"session_id: `},
		"an unreplaced session": {args: map[string]string{"session_id": "${session_id}"}, log: `"error":"session_id: `},
		"a session's path":      {args: map[string]string{"session_id": "../x"}, log: `"error":"session_id: `},
		"wrong types":           {args: map[string]any{"session_id": 3}},
		"no repository":         {args: map[string]string{"session_id": "s", "cwd": "/elsewhere"}},
		"a failure":             {args: map[string]string{"session_id": "s"}, setup: func(f *fake) { f.err = errors.New("disk full") }, log: `"error":"disk full"`},
		"a panic":               {args: map[string]string{"session_id": "s"}, setup: func(f *fake) { f.panics = true }, log: `"error":"internal error: `},
		"none there":            {args: map[string]string{"session_id": "s"}, setup: func(f *fake) { f.err = recall.ErrNotFound }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			if test.setup != nil {
				test.setup(f)
			}
			cs := client{answer: says("accept")}.connect(t, f.server())
			for _, tool := range []string{"checkpoint_before_clear", "checkpoint_after_clear"} {
				if text, res := call(t, cs, tool, test.args); text != "" || res.IsError {
					t.Errorf("%s answered %q", tool, text)
				}
			}
			if !strings.Contains(f.logged(), test.log) || strings.Contains(f.notes(), "passwd") {
				t.Errorf("log: %s\nasked: %s", f.logged(), f.notes())
			}
		})
	}
}
