package digest_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/digest"
)

func queued(operation, content string) string {
	return fmt.Sprintf(`{"type":"queue-operation","operation":%q,"content":%q}`, operation, content)
}

// The text that a person enters when refusing a call is a request. Only a text that limits or
// corrects the agent is a decision.
func TestRequestsOfRefusals(t *testing.T) {
	t.Parallel()
	const refused = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\n"
	d := digestOf(t, all(
		asked("please add a token refresh"), used("e", "Edit", `{"file_path":"/w/a.go"}`), failed("e", refused+"don't worry about linting for now, just continue."),
		used("f", "Edit", `{"file_path":"/w/a.go"}`), failed("f", refused+"no, use another package for it. then run the tests"),
	))
	a := d.Analysis(digest.Sources{})
	want := []recall.Request{
		{Number: 1, Text: "please add a token refresh"},
		{Number: 2, Text: "don't worry about linting for now, just continue."},
		{Number: 3, Text: "no, use another package for it. then run the tests"},
	}
	if diff := cmp.Diff(want, a.Requests); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"user: no, use another package for it."}, a.Decisions); diff != "" {
		t.Error(diff)
	}
}

// A prompt contains a pasted review between its first and its last paragraph.
func TestDecisionsOfAPastedReview(t *testing.T) {
	t.Parallel()
	d := digestOf(t, all(asked("please add a token refresh"), said("Done."), asked(
		"We should never store the token.\n\nMedium severity\n\nThe cache must not be shared. This should not return true.\n\nin cache.go\n\nI'd rather keep the cache for each user.")))
	want := []string{"rule: We should never store the token.", "decision: I'd rather keep the cache for each user."}
	if diff := cmp.Diff(want, shown(d.Analysis(digest.Sources{}).Facts)); diff != "" {
		t.Error(diff)
	}
}

// Requests are the person's prompts, verbatim; short ones include the text that they reply to.
func TestRequests(t *testing.T) {
	t.Parallel()
	d := digestOf(t, all(
		asked("please add a token refresh"), said("I could:\n\n4. write docs\n5. **add retries**\n\nWhich one?"),
		asked("5"), said("Done. Shall I commit it?"),
		asked("yes"), said("Done."),
		asked("[Request interrupted by user]"), asked("Base directory for this skill: /x"), asked("This session is being continued from another"),
		asked("<agent-notification>\n<agent-id>a1</agent-id>\n<status>completed</status>\n</agent-notification>"),
		asked("<command-name>/clear</command-name>\n<command-message>clear</command-message>"),
		asked("<command-name>/gsd:quick</command-name>\n<command-message>gsd:quick</command-message>\n<command-args>fix the upload</command-args>"),
		queued("enqueue", "and never touch the schema"), queued("remove", ""),
		queued("enqueue", "this one begins a turn"), queued("dequeue", ""), asked("this one begins a turn"), asked("this one begins a turn"),
		queued("enqueue", "taken back"), queued("popAll", ""),
		asked("Implement the following plan:\n\n# Plan: retries"),
	))
	want := []recall.Request{
		{Number: 1, Text: "please add a token refresh"},
		{Number: 2, Text: "5", RepliesTo: "5. add retries"},
		{Number: 3, Text: "yes", RepliesTo: "Shall I commit it?"},
		{Number: 4, Text: "/gsd:quick fix the upload"},
		{Number: 5, Text: "and never touch the schema"},
		{Number: 6, Text: "this one begins a turn"},
		{Number: 7, Text: "Implement the following plan: # Plan: retries"},
	}
	a := d.Analysis(digest.Sources{})
	if diff := cmp.Diff(want, a.Requests); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"rule: and never touch the schema", "decision: retries"}, shown(a.Facts)); diff != "" {
		t.Error(diff)
	}
}

// Quoted texts, orders for one step and questions are not decisions.
func TestDecisionsOfThePerson(t *testing.T) {
	t.Parallel()
	d := digestOf(t, all(
		asked("please add a token refresh"), said("Done."),
		asked("change \"Both sessions are kept. Use 'rewind' to see both of them\" to something shorter"), said("Done."),
		asked("Write the plan to a file, don't commit it"), said("Done."),
		asked("don't worry about the linter for now"), said("Done."),
		asked("To use the other session instead -> To use the other session instead, close this one"), said("Done."),
		asked("is that path no longer tested?"), said("No."),
		asked("Use \"strict\" as the default mode"), said("Done."),
		asked("go on with the next one"),
	))
	if diff := cmp.Diff([]string{"user: Use \"strict\" as the default mode"}, d.Analysis(digest.Sources{}).Decisions); diff != "" {
		t.Error(diff)
	}
}

// Thinking aloud is not a decision, nor is a text that only refers to the agent's words.
func TestNonDecisions(t *testing.T) {
	t.Parallel()
	d := digestOf(t, all(
		asked("please add a token refresh"), said("I recommend a cache."),
		asked("Yeah let's follow through with your recommendations"), said("Done."),
		asked("but thinking aloud if there's a ctrl-C halfway we don't need a point there"), said("Done."),
		asked("we _probably_ don't need the second cache"), said("Done."),
		asked("maybe we should not store it at all"), said("No."),
		asked("yeah let's do it"), said("Done."),
		asked("we don't need the second cache"), said("Removed."),
		asked("go on with the next one"),
	))
	if diff := cmp.Diff([]string{"user: we don't need the second cache"}, d.Analysis(digest.Sources{}).Decisions); diff != "" {
		t.Error(diff)
	}
}

// A client command that was typed while the agent worked is not a request.
func TestQueuedClientCommands(t *testing.T) {
	t.Parallel()
	d := digestOf(t, all(
		asked("please add a token refresh"), queued("enqueue", "/model"), queued("enqueue", "/review the cache"), queued("remove", ""), queued("remove", ""), said("Done."),
	))
	want := []recall.Request{{Number: 1, Text: "please add a token refresh"}, {Number: 2, Text: "/review the cache"}}
	if diff := cmp.Diff(want, d.Analysis(digest.Sources{}).Requests); diff != "" {
		t.Error(diff)
	}
}

// The words about an edit are those before it, unless they are about another file.
func TestWordsAboutEdits(t *testing.T) {
	t.Parallel()
	todo := func(begun string) string {
		return used("t"+begun, "TodoWrite", `{"todos":[{"content":"write the `+begun+` first","status":"in_progress"}]}`)
	}
	d := digestOf(t, all(
		asked("please add a token refresh"),
		said("**Fix 1**: remove the explicit calls of the cache:"), edited("/w/cache.go"), edited("/w/store.go"),
		said("Now let me fix the problems in view.go:"), edited("/w/view.go"), edited("/w/list.go"), edited("/w/notes.md"),
		said("Let me update the table as view.go has it, in tree.go."), edited("/w/tree.go"),
		said("Now let me add the field to the type."), todo("field"), edited("/w/type.go"), todo("tests"), edited("/w/type_test.go"),
		said("Now let me mend the last test."), edited("/w/last_test.go"),
		said("Now, I also need to wire the command."), edited("/w/root.go"),
		said("First, let's run the tests of it."), edited("/w/run.go"),
		said("Let me do them one after another."), edited("/w/order.go"),
		said("I need to check whether the mapping needs it."), edited("/w/mapping.go"),
		said("I just need to update the query of the row."), edited("/w/query.go"),
	))
	why := map[string]string{}
	for _, n := range d.Context(digest.Sources{Root: "/w"}).FileNotes {
		why[n.Path] = n.Why
	}
	want := map[string]string{
		"cache.go": "Fix 1: remove the explicit calls of the cache", "store.go": "Fix 1: remove the explicit calls of the cache",
		"view.go": "fix the problems in view.go", "list.go": "", "notes.md": "", "tree.go": "update the table as view.go has it, in tree.go",
		"type.go": "add the field to the type", "type_test.go": "write the tests first", "last_test.go": "mend the last test",
		"root.go": "I also need to wire the command", "run.go": "", "order.go": "", "mapping.go": "", "query.go": "update the query of the row",
	}
	if diff := cmp.Diff(want, why); diff != "" {
		t.Error(diff)
	}
}

// The progress of the last request contains only facts that the transcript shows.
func TestProgress(t *testing.T) {
	t.Parallel()
	first := asked("please add a token refresh for PR 12")
	const message = "git add a.go && git commit -m 'auth: refresh'"
	for name, test := range map[string]struct {
		lines []string
		want  recall.Progress
	}{
		"nothing":                         {},
		"not begun":                       {lines: all(first), want: recall.Progress{Stopped: recall.Unstarted}},
		"a last call":                     {lines: all(first, used("b", "Bash", `{"command":"make deploy"}`)), want: recall.Progress{Stopped: recall.Midway, LastCall: "Bash make deploy"}},
		"interrupted":                     {lines: all(first, ran("make deploy", "x"), asked("[Request interrupted by user]")), want: recall.Progress{Stopped: recall.ByPerson, LastCall: "Bash make deploy"}},
		"ended":                           {lines: all(first, said("All done.")), want: recall.Progress{Reported: "All done."}},
		"committed":                       {lines: all(first, edited("/w/a.go"), ran(message, "[main abc1234] auth: refresh\n 1 file changed"), said("Done.")), want: recall.Progress{Reported: "Done.", Commits: []recall.Commit{{Hash: "abc1234", Subject: "auth: refresh", Request: 1}}}},
		"in a repository of its own":      {lines: all(first, edited("/w/a.go"), ran("cd /tmp && mkdir t && cd t && git init && git add . && git commit -m initial", "[main (root-commit) abc1234] initial\n 1 file changed"), said("Done.")), want: recall.Progress{Reported: "Done."}},
		"in a folder above the session's": {lines: all(first, edited("/w/a.go"), ran("cd /w/.. && git commit -m later", "[main abc1234] later\n 1 file changed"), said("Done.")), want: recall.Progress{Reported: "Done.", Commits: []recall.Commit{{Hash: "abc1234", Subject: "later", Request: 1}}}},
		"in a folder of an edited file":   {lines: all(first, edited("/v/b.go"), ran("git -C /v commit -m other", "[main abc1234] other\n 1 file changed"), said("Done.")), want: recall.Progress{Reported: "Done.", Commits: []recall.Commit{{Hash: "abc1234", Subject: "other", Request: 1}}}},
		"a quiet one":                     {lines: all(first, ran(message, "ok"), said("Done.")), want: recall.Progress{Reported: "Done.", Commits: []recall.Commit{{Subject: "auth: refresh", Request: 1}}}},
		"a hidden failure":                {lines: all(first, ran("rtk "+message, "ok 1 file changed\nFAILED: git commit\nno changes added to commit"), said("Hm.")), want: recall.Progress{Reported: "Hm."}},
		"an announcement":                 {lines: all(first, said("I have all the information I need. Now let me write the plan."))},
		"no announcement":                 {lines: all(first, said("Done. Let me know what you think.")), want: recall.Progress{Reported: "Done. Let me know what you think."}},
		"one that failed":                 {lines: all(first, ran(message, "Exit code 1\nhook failed"), said("Hm.")), want: recall.Progress{Reported: "Hm."}},
		"amended": {
			lines: all(first, ran(message, "[main abc1234] auth: refresh"), ran("git commit --amend --no-edit", "[main def5678] auth: refresh"), said("Done.")),
			want:  recall.Progress{Reported: "Done.", Commits: []recall.Commit{{Hash: "def5678", Subject: "auth: refresh", Request: 1}}},
		},
		"pushed": {
			lines: all(first, ran(message, "[main abc1234] auth: refresh"), ran("git push", "   1111111..2222222  main -> main"), said("Done.")),
			want:  recall.Progress{Reported: "Done.", Pushed: true, Commits: []recall.Commit{{Hash: "abc1234", Subject: "auth: refresh", Request: 1}}},
		},
		"a push that was refused": {
			lines: all(first, ran(message, "[main abc1234] auth: refresh"), ran("git push | tail -3", " ! [rejected] main -> main"), said("Done.")),
			want:  recall.Progress{Reported: "Done.", Commits: []recall.Commit{{Hash: "abc1234", Subject: "auth: refresh", Request: 1}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := digestOf(t, test.lines).Analysis(digest.Sources{Root: "/w"}).Progress
			if diff := cmp.Diff(test.want, got, cmpopts.IgnoreFields(recall.Progress{}, "PullRequests")); diff != "" {
				t.Error(diff)
			}
		})
	}
	d := digestOf(t, all(first, used("p", "Bash", `{"command":"gh pr create --fill"}`), done("p", "https://github.com/o/r/pull/34\n", `null`), ran("gh pr view 12", "x")))
	if diff := cmp.Diff([]string{"12", "https://github.com/o/r/pull/34"}, d.Analysis(digest.Sources{}).Progress.PullRequests); diff != "" {
		t.Error(diff)
	}
}

// A note contains the agent's words before the last edit, and whether the edit is committed.
func TestFileNotes(t *testing.T) {
	t.Parallel()
	d := digestOf(t, all(asked("please add a token refresh"), said("I see.\nNow let me write the token handler:"), edited("/w/a.go"),
		ran("git add a.go && git commit -m x", "[main abc1234] x"), said("Next, I'll add tests for the handler."), edited("/w/a_test.go")))
	want := []recall.FileNote{
		{Path: "a_test.go", Why: "add tests for the handler", Request: 1},
		{Path: "a.go", Why: "write the token handler", Request: 1, Tracked: recall.Committed},
	}
	if diff := cmp.Diff(want, d.Context(digest.Sources{Root: "/w"}).FileNotes); diff != "" {
		t.Error(diff)
	}
}

// The test runner's count decides whether tests failed, not the tests' own output.
func TestBlockersByCount(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lines []string
		want  []string
	}{
		"a log of a failure":    {lines: all(ran("bun test | tail -5", "Task 2 failed: x\nDatabase connection failed\n 1274 pass\n 0 fail")), want: []string{}},
		"a count of failures":   {lines: all(ran("bun test | tail -5", " 12 pass\n 3 fail")), want: []string{"failed and did not pass since: bun test | tail -5: 3 fail"}},
		"nothing to commit":     {lines: all(ran("git commit -m x", "Exit code 1\nno changes added to commit")), want: []string{}},
		"a commit, then status": {lines: all(ran("git commit -m x", "Exit code 1\nhook failed"), ran("git status", "clean")), want: []string{}},
		"tests, then a commit":  {lines: all(ran("go test", "Exit code 1\nFAIL\tx"), ran("git commit -m x", "[main abc1234] x")), want: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := digestOf(t, append(all(asked("please make the tests pass")), test.lines...)).Analysis(digest.Sources{}).Blockers
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
