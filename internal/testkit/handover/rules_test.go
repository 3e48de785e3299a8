package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// Lines of a transcript, as the client writes them.

func user(text string) map[string]any {
	return map[string]any{"type": "user", "sessionId": "s", "cwd": "/r", "gitBranch": "topic", "message": map[string]any{"content": text}}
}

func agent(text string) map[string]any {
	return map[string]any{"type": "assistant", "message": map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}}
}

func use(id, name string, input map[string]any) map[string]any {
	return map[string]any{"type": "assistant", "message": map[string]any{"content": []any{map[string]any{"type": "tool_use", "id": id, "name": name, "input": input}}}}
}

func answer(id, output string, failed bool) map[string]any {
	return map[string]any{"type": "user", "message": map[string]any{"content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}}}}
}

func bash(command, output string, failed bool) []map[string]any {
	return []map[string]any{use("b"+command, "Bash", map[string]any{"command": command}), answer("b"+command, output, failed)}
}

func edit() []map[string]any {
	const path = "/r/a.go"
	return []map[string]any{use("e"+path, "Edit", map[string]any{"file_path": path}), answer("e"+path, "updated", false)}
}

// session returns the transcript of lines, and of lists of lines.
func session(t *testing.T, parts ...any) *transcript {
	t.Helper()
	var list [][]byte
	add := func(line map[string]any) {
		data, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, data)
	}
	for _, part := range parts {
		switch part := part.(type) {
		case map[string]any:
			add(part)
		case []map[string]any:
			for _, line := range part {
				add(line)
			}
		default:
			t.Fatalf("%T", part)
		}
	}
	return read(list)
}

// Each rule accepts a true statement about a transcript, and finds a false one.
func TestEachRuleFindsAFalseStatement(t *testing.T) {
	t.Parallel()
	test := bash("go test ./...", "--- FAIL: TestDates\nFAIL\nExit code 1", true)
	for name, c := range map[string]struct {
		lines []any
		brief string
		wrong string // a part of the reason, or empty if the brief is true
	}{
		"request as typed":              {[]any{user("Mend the dates, please")}, "**Requests** (x):\n1. Mend the dates, please\n", ""},
		"request that nobody typed":     {[]any{user("Mend the dates")}, "**Requests** (x):\n1. Mend the clocks\n", "not in the person's words"},
		"request that the agent wrote":  {[]any{user("Mend it"), agent("Shall I mend the clocks?")}, "**Requests** (x):\n1. Shall I mend the clocks?\n", "not in the person's words"},
		"command of the client":         {[]any{user("/model")}, "**Requests** (x):\n1. /model\n", "of the client"},
		"boilerplate as request":        {[]any{user("[Request interrupted by user]")}, "**Requests** (x):\n1. [Request interrupted by user]\n", "own wording"},
		"reply resolved":                {[]any{user("Ideas?"), agent("5. Sort the list"), user("5")}, "**Requests** (x):\n2. \"5\", in reply to: Sort the list\n", ""},
		"reply resolved to an invented": {[]any{user("Ideas?"), agent("5. Sort the list"), user("5")}, "**Requests** (x):\n2. \"5\", in reply to: Drop the list\n", "what it replies to"},
		"task of the older form":        {[]any{user("Mend the dates")}, "**Current Task**: Mend the clocks\n", "not in the person's"},

		"step that is left":  {[]any{user("Go"), agent("Next I would add the flag.")}, "**Next Steps**:\n1. Next I would add the flag.\n", ""},
		"unannounced step":   {[]any{user("Go"), agent("Next I would add the flag.")}, "**Next Steps**:\n1. Remove the flag\n", "neither the person nor the agent said it"},
		"step replied to":    {[]any{user("Go"), agent("Shall I add the flag?"), user("No, leave it"), agent("Left.")}, "**Next Steps**:\n1. Shall I add the flag?\n", "went on"},
		"step that was done": {[]any{user("Go"), agent("Next I add the flag."), edit(), agent("Done.")}, "**Next Steps**:\n1. Next I add the flag.\n", "worked on after it"},
		"item that is completed": {[]any{
			user("Go"), use("1", "TodoWrite", map[string]any{"todos": []any{map[string]any{"content": "Add the flag", "status": "completed"}}}), answer("1", "ok", false),
		}, "**Next Steps**:\n1. Add the flag\n", "completed"},
		"item in progress": {[]any{
			user("Go"), use("1", "TodoWrite", map[string]any{"todos": []any{map[string]any{"content": "Add the flag", "status": "in_progress"}}}), answer("1", "ok", false),
		}, "**Next Steps**:\n1. Add the flag (in progress)\n", ""},
		"task that is completed": {[]any{
			user("Go"), use("1", "TaskCreate", map[string]any{"subject": "Add the flag"}), answer("1", "Task #7 created successfully", false),
			use("2", "TaskUpdate", map[string]any{"taskId": "7", "status": "completed"}), answer("2", "ok", false),
		}, "**Next Steps**:\n1. Add the flag\n", "completed"},
		"question that is open":     {[]any{user("Go"), agent("Which of the two?")}, "**Open Question** (x):\n- Which of the two?\n", ""},
		"question with a reply":     {[]any{user("Go"), agent("Which of the two?"), user("The first"), agent("Done.")}, "**Open Question** (x):\n- Which of the two?\n", "replied"},
		"question that is invented": {[]any{user("Go"), agent("Done.")}, "**Open Question** (x):\n- Which of the two?\n", "didn't ask"},

		"blocker":                              {[]any{user("Go"), test}, "**Blockers**:\n- go test ./... failed and did not pass since: FAIL\n", ""},
		"blocker that passed later":            {[]any{user("Go"), test, bash("cd /r && go test ./... 2>&1 | tail -3", "ok  \tr\t0.1s", false)}, "**Blockers**:\n- go test ./... failed and did not pass since: FAIL\n", "succeeded later"},
		"blocker of a run without failures":    {[]any{user("Go"), bash("bun run test", "error: Database connection failed\n 12 pass\n 0 fail", false)}, "**Blockers**:\n- bun run test failed and did not pass since: Database connection failed\n", "no call of it failed"},
		"blocker with a quoted command":        {[]any{user("Go"), bash("make", "ok", false)}, "**Blockers**:\n- `make` failed and did not pass since\n", "no call of it failed"},
		"edit that was refused, and then done": {[]any{user("Go"), use("1", "Edit", map[string]any{"file_path": "/r/a.go"}), answer("1", "File has not been read yet", true), edit()}, "**Blockers**:\n- Edit /r/a.go failed and did not pass since: File has not been read yet\n", "succeeded later"},

		"decision":                   {[]any{user("Never change the schema")}, "**Decisions**:\n- user: Never change the schema\n", ""},
		"decision with a wrong name": {[]any{user("Go"), agent("I chose the parser")}, "**Decisions**:\n- user: I chose the parser\n", "not in the person's words"},
		"boilerplate as decision":    {[]any{user("Go")}, "**Decisions**:\n- user: The user wants to clarify these questions\n", "own wording"},

		"decision with its reason":   {[]any{user("Go"), agent("I chose the parser because the lexer is slow")}, "**Decisions**:\n- agent: I chose the parser (because the lexer is slow)\n", ""},
		"decision of that session":   {[]any{user("Never change the schema")}, "**Decisions**:\n- user: Never change the schema, session abcd1234\n", "no such session"},
		"decision of a plan":         {[]any{user("Implement the following plan:\n\n- **Format**: Markdown, not JSON")}, "**Decisions**:\n- plan: Format: Markdown, not JSON\n- … 3 other ones\n", ""},
		"attempt":                    {[]any{user("Go"), agent("The cache did not help, so I removed it")}, "**Tried and Given Up**:\n- agent: The cache did not help (so I removed it)\n", ""},
		"attempt that nobody made":   {[]any{user("Go"), agent("The cache did not help")}, "**Tried and Given Up**:\n- agent: The index did not help\n", "not in the agent's words"},
		"rule":                       {[]any{user("Never change the schema")}, "**Rules** (x):\n- person: Never change the schema (said 2 times)\n", ""},
		"rule that the agent wrote":  {[]any{user("Go"), agent("Never change the schema")}, "**Rules** (x):\n- person: Never change the schema\n", "not in the person's words"},
		"environment":                {[]any{user("Go"), bash("make check", "ok", false)}, "**Environment**:\n- tests: `make check`\n", ""},
		"environment that is new":    {[]any{user("Go"), bash("make check", "ok", false)}, "**Environment**:\n- tests: `make test`\n", "was not run"},
		"address":                    {[]any{user("The server is at port 8443")}, "**Environment**:\n- server is at port 9443\n", "not in the transcript"},
		"reference":                  {[]any{user("See https://github.com/o/r/pull/12")}, "**References**:\n- #12 (read)\n- o/r#12 (opened)\n", ""},
		"reference that is invented": {[]any{user("See https://github.com/o/r/pull/12")}, "**References**:\n- #13\n", "not in the transcript"},
		"earlier session":            {[]any{user("Mend the dates"), bash("git commit -m x", "[topic abc1234] Mend them", false)}, "**Branch** (x):\n- session s000, just now: Mend the dates; committed: Mend them\n", "another session"},
		"begin of the branch":        {[]any{user("Mend the dates")}, "**Branch**: begun 2 sessions ago with: Mend the clocks\n", "not in the person's words"},

		"commit":                         {[]any{user("Go"), bash("git commit -m x", "[topic abc1234] Mend dates\n 1 file changed", false)}, "**State**:\n- committed as `abc1234`: Mend dates\n", ""},
		"commit that wasn't made":        {[]any{user("Go"), bash("git commit -m x", "nothing to commit", true)}, "**State**:\n- committed as `abc1234`: Mend dates\n", "no command's result"},
		"commit with another subject":    {[]any{user("Go"), bash("git commit -m x", "[topic abc1234] Mend dates", false)}, "**State**:\n- committed as `abc1234`: Mend clocks\n", "another subject"},
		"commit that was amended":        {[]any{user("Go"), bash("git commit -m x", "[topic abc1234] x", false), bash("git commit --amend", "[topic abc9999] x", false)}, "**State**:\n- committed as `abc1234`: x\n", "amended"},
		"commit before its request":      {[]any{user("First"), bash("git commit -m x", "[topic abc1234] x", false), user("Second")}, "**Requests** (x):\n1. First\n2. Second\n**State**:\n- committed as `abc1234`: x, for request 2\n", "came later"},
		"push":                           {[]any{user("Go"), bash("git commit -m x", "[topic abc1234] x", false), bash("git push", "   1..2  topic -> topic", false)}, "**State**:\n- pushed after the last commit\n", ""},
		"push that failed":               {[]any{user("Go"), bash("git commit -m x", "[topic abc1234] x", false), bash("git push", "! [rejected] topic -> topic", true)}, "**State**:\n- pushed after the last commit\n", "no push succeeded"},
		"no push, though there was one":  {[]any{user("Go"), bash("git commit -m x", "[topic abc1234] x", false), bash("git push", "   1..2  topic -> topic", false)}, "**State**:\n- no push after the last commit\n", "a push succeeded"},
		"not committed, though it is":    {[]any{user("Go"), edit(), bash("git add a.go && git commit -m x", "[topic abc1234] x", false)}, "**State**:\n- not committed: a.go\n", "is committed"},
		"not committed":                  {[]any{user("Go"), edit(), bash("git add b.go && git commit -m x", "[topic abc1234] x", false)}, "**State**:\n- not committed: a.go\n", ""},
		"interrupted":                    {[]any{user("Go"), agent("So"), user("[Request interrupted by user]")}, "**State**:\n- the person interrupted the last turn\n", ""},
		"interrupted, though it ended":   {[]any{user("Go"), agent("Done.")}, "**State**:\n- the person interrupted the last turn\n", "didn't end with"},
		"not begun, though it was":       {[]any{user("Go"), agent("Done.")}, "**State**:\n- the agent had not begun with the last request\n", "didn't end with"},
		"report that isn't the last one": {[]any{user("Go"), agent("I mended it."), user("And?"), agent("All good.")}, "**State**:\n- the agent reported at the end: I mended it.\n", "not the agent's last"},
		"state without a rule":           {[]any{user("Go")}, "**State**:\n- nearly there\n", "no rule"},
		"pull request":                   {[]any{user("Look at https://github.com/o/r/pull/12")}, "**Where**:\n- pull request #12\n", ""},
		"pull request that is invented":  {[]any{user("Look at https://github.com/o/r/pull/12")}, "**Where**:\n- pull request #13\n", "not in the transcript"},
		"another branch":                 {[]any{user("Go")}, "**Where**:\n- branch main at abc1234\n", "another branch"},

		"file":                             {[]any{user("Go"), edit()}, "**Files** (x):\n- a.go (modified, not committed)\n", ""},
		"file that is not known":           {[]any{user("Go"), edit()}, "**Files** (x):\n- zz.go (modified)\n", "not in the transcript"},
		"file said to be committed":        {[]any{user("Go"), edit()}, "**Files** (x):\n- a.go (modified, committed)\n", "no commit has"},
		"file with an invented reason":     {[]any{user("Go"), agent("Now the parser"), edit()}, "**Files** (x):\n- a.go (modified): Now the lexer\n", "reason"},
		"file read that is not known":      {[]any{user("Go"), edit()}, "**Files Read** (x):\n- a.go, zz.go\n", "zz.go"},
		"command that passed":              {[]any{user("Go"), bash("make", "done", false)}, "**Commands** (x):\n- `make`: passed\n", ""},
		"command said to have passed":      {[]any{user("Go"), test}, "**Commands** (x):\n- `go test ./...`: passed\n", "it failed"},
		"command said to have failed":      {[]any{user("Go"), bash("make", "done", false)}, "**Recent Commands** (x):\n- make: failed\n", "didn't fail"},
		"command that wasn't run":          {[]any{user("Go"), bash("make", "done", false)}, "**Commands** (x):\n- `make all`: passed\n", "not run"},
		"summary that is not the client's": {[]any{user("Go"), agent("Done.")}, "**Summary at Compaction** (x):\n> 9. Next Step: rest\n", "not in the summary"},
		"section without a rule":           {[]any{user("Go")}, "**Outlook**:\n- fine weather\n", "no rule"},
		"summary line of a command":        {[]any{user("<command-name>/beads</command-name><command-args>learn the credo</command-args>")}, "Resumed from checkpoint: /beads learn the credo (saved just now)\n", ""},
		"summary line that is invented":    {[]any{user("Go")}, "Resumed from checkpoint: Mend the clocks (1 file, +1 -0) (saved just now)\n", "not in the transcript"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			verdicts := check(c.brief, session(t, c.lines...))
			if len(verdicts) == 0 {
				t.Fatal("nothing was checked")
			}
			var found strings.Builder
			for _, v := range verdicts {
				found.WriteString(v.false)
			}
			got := found.String()
			if c.wrong == "" && got != "" || !strings.Contains(got, c.wrong) {
				t.Errorf("found %q, want %q", got, c.wrong)
			}
		})
	}
}
