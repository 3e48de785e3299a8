package digest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/digest"
)

// The lines of a transcript, as the agent writes them.

func asked(text string) string {
	return fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"promptId":"p-%d","type":"user","message":{"role":"user","content":%s},"uuid":"u","cwd":"/w","promptSource":"typed"}`,
		len(text), quote(text))
}

func said(text string) string {
	return answer("m-said", fmt.Sprintf(`{"type":"text","text":%s}`, quote(text)))
}

func used(id, tool, input string) string {
	return answer("m-"+id, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, tool, input))
}

func answer(id, block string) string {
	return fmt.Sprintf(`{"parentUuid":"x","isSidechain":false,"message":{"id":%q,"model":"claude-opus-5-5","content":[%s],"usage":{"input_tokens":10,"cache_read_input_tokens":1000,"cache_creation_input_tokens":90,"output_tokens":5}},"type":"assistant","uuid":"a","cwd":"/w"}`,
		id, block)
}

func done(id, content, detail string) string {
	return fmt.Sprintf(`{"parentUuid":"x","isSidechain":false,"promptId":"p","type":"user","message":{"role":"user","content":[{"tool_use_id":%q,"type":"tool_result","content":%s}]},"uuid":"r","toolUseResult":%s,"cwd":"/w"}`,
		id, quote(content), detail)
}

func failed(id, content string) string {
	return fmt.Sprintf(`{"parentUuid":"x","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":%s,"is_error":true,"tool_use_id":%q}]},"uuid":"r","toolUseResult":%s,"cwd":"/w"}`,
		quote(content), id, quote("Error: "+content))
}

// ran returns the lines of a command and its result. A content that begins with "Exit code" is a
// failure.
func ran(command, content string) []string {
	id := fmt.Sprintf("b%d%d", len(command), len(content))
	call := used(id, "Bash", fmt.Sprintf(`{"command":%s,"description":"d"}`, quote(command)))
	if strings.HasPrefix(content, "Exit code") {
		return []string{call, failed(id, content)}
	}
	return []string{call, done(id, content, fmt.Sprintf(`{"stdout":%s,"stderr":"","interrupted":false}`, quote(content)))}
}

func edited(path string) []string {
	return []string{
		used("e"+path, "Edit", fmt.Sprintf(`{"replace_all":false,"file_path":%q,"old_string":"a","new_string":"b"}`, path)),
		done("e"+path, "ok", `{"filePath":"x","originalFile":"a"}`),
	}
}

func read(path string) []string {
	return []string{used("r"+path, "Read", fmt.Sprintf(`{"file_path":%q}`, path)), done("r"+path, "1 x", `{"type":"text"}`)}
}

func all(parts ...any) []string {
	var lines []string
	for _, part := range parts {
		switch part := part.(type) {
		case string:
			lines = append(lines, part)
		case []string:
			lines = append(lines, part...)
		}
	}
	return lines
}

func quote(s string) string {
	b, _ := json.Marshal(s) //nolint:errchkjson // a string
	return string(b)
}

func digestOf(t *testing.T, lines []string) *digest.Digest {
	t.Helper()
	d := &digest.Digest{}
	path := written(t, []byte(strings.Join(lines, "\n")+"\n"))
	if _, err := d.Catch(t.Context(), path, redact.New(), 0); err != nil {
		t.Fatal(err)
	}
	return d
}

const (
	planInput  = `{"plan":"# Plan: add tokens\n\n## Context\nwhy\n\n## Steps\n1. write a.go\n   - not this\n2. test it\n\n## Out of scope\n- nothing","planFilePath":"/h/.claude/plans/x.md"}`
	rejected   = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
	rejectedBy = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nput it into another package please"
	questions  = `{"questions":[{"question":"Which storage?","header":"S","options":[{"label":"Git refs"}]}]}`
)

func TestAnalysis(t *testing.T) {
	t.Parallel()
	first := asked("please add a token refresh")
	todo := func(first, second string) string {
		return used("todo", "TodoWrite", fmt.Sprintf(`{"todos":[{"content":"write it","status":%q,"activeForm":"w"},{"content":"test it","status":%q}]}`, first, second))
	}
	for name, test := range map[string]struct {
		lines []string
		src   digest.Sources
		want  recall.Analysis
	}{
		"nothing":                      {},
		"a prompt":                     {lines: all(first), want: recall.Analysis{CurrentTask: "please add a token refresh"}},
		"a short one after it":         {lines: all(first, asked("yes")), want: recall.Analysis{CurrentTask: "please add a token refresh"}},
		"only a short one":             {lines: all(asked("go on")), want: recall.Analysis{CurrentTask: "go on"}},
		"a title, and a short one":     {lines: all(`{"type":"ai-title","aiTitle":"Token refresh","sessionId":"s"}`, asked("ok")), want: recall.Analysis{CurrentTask: "Token refresh"}},
		"another session's title":      {lines: all(`{"type":"summary","summary":"Other work","leafUuid":"s"}`)},
		"a skill with what it is for":  {lines: all(asked("<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>look at the last four commits</command-args>")), want: recall.Analysis{CurrentTask: "/review look at the last four commits"}},
		"a command of the agent's own": {lines: all(first, asked("<command-name>/compact</command-name>\n<command-args>keep the four important decisions</command-args>")), want: recall.Analysis{CurrentTask: "please add a token refresh"}},
		"a subagent's line":            {lines: all(first, strings.Replace(asked("a task for a subagent here"), `"isSidechain":false`, `"isSidechain":true`, 1)), want: recall.Analysis{CurrentTask: "please add a token refresh"}},
		"a branch":                     {lines: all(edited("/w/a.go")), src: digest.Sources{Branch: "tokens"}, want: recall.Analysis{CurrentTask: "work on branch tokens"}},
		"an item that is begun":        {lines: all(first, todo("in_progress", "pending")), want: recall.Analysis{CurrentTask: "write it; last asked: please add a token refresh", NextSteps: []string{"test it"}}},
		"all items done":               {lines: all(first, todo("completed", "completed")), want: recall.Analysis{CurrentTask: "please add a token refresh"}},
		"tasks": {
			lines: all(first,
				used("1", "TaskCreate", `{"subject":"write it"}`), done("1", "Task #1 created successfully: write it", `{"task":{"id":"1","subject":"write it"}}`),
				used("2", "TaskCreate", `{"subject":"test it"}`), done("2", "Task #2 created successfully: test it", `null`),
				used("3", "TaskCreate", `{"subject":"drop it"}`), done("3", "", `{"task":{"id":"3"}}`),
				used("4", "TaskUpdate", `{"taskId":"1","status":"in_progress"}`), used("5", "TaskUpdate", `{"taskId":"3","status":"deleted"}`), used("6", "TaskUpdate", `{"taskId":"9","status":"completed"}`)),
			want: recall.Analysis{CurrentTask: "write it; last asked: please add a token refresh", NextSteps: []string{"test it"}},
		},
		"a plan that is offered": {lines: all(first, used("p", "ExitPlanMode", planInput)), want: recall.Analysis{CurrentTask: "plan offered: add tokens"}},
		"a plan that is offered, and an answer like a refusal": {
			lines: all(first, used("p", "ExitPlanMode", planInput), failed("p", rejected), asked("[Request interrupted by user for tool use]")),
			want:  recall.Analysis{CurrentTask: "plan offered: add tokens"},
		},
		"a plan that is refused, and work": {
			lines: all(first, used("p", "ExitPlanMode", planInput), failed("p", rejected), asked("no, use the other library"), said("Good.")),
			want:  recall.Analysis{CurrentTask: "no, use the other library", Decisions: []string{"user: no, use the other library"}},
		},
		"a plan that is accepted": {
			lines: all(first, used("p", "ExitPlanMode", planInput), done("p", "User has approved your plan.", `{"plan":"# Plan: add tokens\n\n## Steps\n- write b.go"}`)),
			want:  recall.Analysis{CurrentTask: "add tokens", NextSteps: []string{"write b.go"}, Decisions: []string{"plan accepted: add tokens"}},
		},
		"a plan that is begun": {
			lines: all(asked("Implement the following plan:\n\n# Plan: add tokens\n\n## Steps\n1. write a.go\n2. test it"), edited("/w/a.go"), asked("and then commit all of it")),
			want:  recall.Analysis{CurrentTask: "add tokens; last asked: and then commit all of it", Decisions: []string{"plan accepted: add tokens"}},
		},
		"a plan that another session made": {
			lines: all(`{"parentUuid":"x","isSidechain":false,"type":"user","message":{"role":"user","content":"Implement the following plan: x"},"planContent":"# Plan: add tokens\n\n## Steps\n1. write a.go","origin":{"kind":"auto-continuation"}}`),
			want:  recall.Analysis{CurrentTask: "add tokens", NextSteps: []string{"write a.go"}, Decisions: []string{"plan accepted: add tokens"}},
		},
		"steps that the agent lists": {
			lines: all(first, said("Done. Next steps:\n1. add tests\n2. update docs\n\nAnything else I can do here?")),
			want:  recall.Analysis{CurrentTask: "please add a token refresh", NextSteps: []string{"add tests", "update docs"}},
		},
		"steps, and an answer to them": {lines: all(first, said("Done. Next steps:\n1. add tests"), asked("no")), want: recall.Analysis{CurrentTask: "please add a token refresh"}},
		"what a hook heard last": {
			lines: all(first), src: digest.Sources{Said: "## Remaining\n- [ ] one\n- [x] two"},
			want: recall.Analysis{CurrentTask: "please add a token refresh", NextSteps: []string{"one"}},
		},
		"an answer to a question": {
			lines: all(first, used("q", "AskUserQuestion", questions), done("q", "Your questions have been answered.", `{"questions":[{"question":"Which storage?"}],"answers":{"Which storage?":"Git refs"},"annotations":{}}`)),
			want:  recall.Analysis{CurrentTask: "please add a token refresh", Decisions: []string{"user: Which storage? -> Git refs"}},
		},
		"a correction, and another prompt": {
			lines: all(first, asked("no, use RS256 for the tokens"), asked("now write tests for it all")),
			want:  recall.Analysis{CurrentTask: "now write tests for it all", Decisions: []string{"user: no, use RS256 for the tokens"}},
		},
		"an instruction that holds": {
			lines: all(asked("please add tokens. Use HS256 for now."), asked("now write tests for it all")),
			want:  recall.Analysis{CurrentTask: "now write tests for it all", Decisions: []string{"user: Use HS256 for now."}},
		},
		"a refusal with a reason": {
			lines: all(first, used("e", "Edit", `{"file_path":"/w/a.go"}`), failed("e", rejectedBy)), src: digest.Sources{Root: "/w"},
			want: recall.Analysis{CurrentTask: "please add a token refresh"},
		},
		"what the agent decided": {
			lines: all(first, said("I decided to use HS256 for now. Should we use RS256 rather than HS256?\n```\nwe decided to leave this out here\n```")),
			want:  recall.Analysis{CurrentTask: "please add a token refresh", Decisions: []string{"agent: I decided to use HS256 for now."}},
		},
		"a test that failed": {
			lines: all(first, ran("cd /w && go test ./...", "Exit code 1\n--- FAIL: TestA (0.00s)\nFAIL")), src: digest.Sources{Root: "/w"},
			want: recall.Analysis{CurrentTask: "please add a token refresh", Blockers: []string{"failed and did not pass since: go test ./...: --- FAIL: TestA (0.00s)"}},
		},
		"a test that passed then": {
			lines: all(first, ran("go test ./...", "Exit code 1\nFAIL"), ran("go test ./a", "ok  \ta\t0.1s")),
			want:  recall.Analysis{CurrentTask: "please add a token refresh"},
		},
		"a test that may have passed then": {
			lines: all(first, ran("go test ./...", "Exit code 1\nFAIL"), ran("go test ./a | head -1", "a")),
			want:  recall.Analysis{CurrentTask: "please add a token refresh"},
		},
		"a test that failed, and a build": {
			lines: all(first, ran("make test", "Exit code 2\nError: x"), ran("make build", "")),
			want:  recall.Analysis{CurrentTask: "please add a token refresh", Blockers: []string{"failed and did not pass since: make test: Error: x"}},
		},
		"a test whose end a pipe hides": {
			lines: all(first, ran("go test ./... | tail -5", "FAIL\ta\t0.1s")),
			want:  recall.Analysis{CurrentTask: "please add a token refresh", Blockers: []string{"failed and did not pass since: go test ./... | tail -5: FAIL\ta\t0.1s"}},
		},
		"an edit that failed": {
			lines: all(first, used("e", "Edit", `{"file_path":"/w/a.go"}`), failed("e", "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>")), src: digest.Sources{Root: "/w"},
			want: recall.Analysis{CurrentTask: "please add a token refresh"},
		},
		"an edit that worked then": {
			lines: all(first, used("e", "Edit", `{"file_path":"/w/a.go"}`), failed("e", "<tool_use_error>no</tool_use_error>"), edited("/w/a.go")),
			want:  recall.Analysis{CurrentTask: "please add a token refresh"},
		},
		"an interrupted turn":       {lines: all(first, said("Well"), asked("[Request interrupted by user]")), want: recall.Analysis{CurrentTask: "please add a token refresh"}},
		"an interruption, and more": {lines: all(first, asked("[Request interrupted by user]"), asked("go on")), want: recall.Analysis{CurrentTask: "please add a token refresh"}},
		"a turn that failed": {
			lines: all(first, `{"isSidechain":false,"type":"assistant","message":{"id":"x","model":"<synthetic>","content":[{"type":"text","text":"API Error: 529 overloaded"}]},"isApiErrorMessage":true}`),
			want:  recall.Analysis{CurrentTask: "please add a token refresh", Blockers: []string{"the last turn ended with an error: API Error: 529 overloaded"}},
		},
		"a rule that forbids": {
			lines: all(first, used("b", "Bash", `{"command":"git push --force"}`), failed("b", "Permission to use Bash with command git push --force has been denied.")),
			want:  recall.Analysis{CurrentTask: "please add a token refresh", Blockers: []string{"not allowed: Bash git push --force"}},
		},
		"documents": {
			lines: all(first, read("/w/docs/a.md"), edited("/w/README.md"), read("/h/.claude/plans/p.md"), used("f", "WebFetch", `{"url":"https://example.com/x","prompt":"y"}`), done("f", "z", `null`)),
			src:   digest.Sources{Root: "/w"},
			want:  recall.Analysis{CurrentTask: "please add a token refresh", RelevantDocs: []string{"https://example.com/x", "README.md", "docs/a.md"}},
		},
		"a secret": {lines: all(asked("use the key AKIA" + "Q3EGRZT4WV7LMN2P for the upload to the store")), want: recall.Analysis{CurrentTask: "use the key REDACTED for the upload to the store"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := digestOf(t, test.lines).Analysis(test.src)
			others := cmpopts.IgnoreFields(recall.Analysis{}, "Requests", "Progress", "Todo", "OpenQuestion", "Facts") // of TestRequests and TestProgress
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty(), others); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestContext(t *testing.T) {
	t.Parallel()
	background := used("bg", "Bash", `{"command":"go test ./slow","run_in_background":true}`)
	d := digestOf(t, all(
		read("/w/a.go"), read("/w/b.go"), read("/etc/x.conf"), edited("/w/b.go"),
		ran("ls -la", "x"), ran("go test ./a", "Exit code 1\nFAIL"), ran("cd /w && make", "done"), ran("go test ./a", "ok  \ta"),
		ran("cat go.mod; sed -n 1,20p sub/c.go", "x"), ran("cat gone.go", "Exit code 1\nno"),
		background, done("bg", "running", `{"stdout":"","backgroundTaskId":"b1"}`),
		used("cut", "Bash", `{"command":"go vet ./..."}`), done("cut", "", `{"interrupted":true}`),
		used("no", "Bash", `{"command":"make deploy"}`), failed("no", rejected),
		used("open", "Bash", `{"command":"make open"}`),
	))
	got := d.Context(digest.Sources{Root: "/w", Branch: "main", Files: []string{"b.go", "x/y.go", "x/z.go"}})
	want := recall.Context{
		WorkingDirectory: "/w", GitBranch: "main", RelevantPackages: []string{".", "x"},
		RecentCommands: []string{"go vet ./...", "go test ./slow", "go test ./a", "make"},
		Commands: []recall.Command{
			{Text: "go vet ./...", Result: recall.Unknown},
			{Text: "go test ./slow", Result: recall.Unknown},
			{Text: "go test ./a", Result: recall.Passed},
			{Text: "make", Result: recall.Passed},
		},
		FilesRead: []string{"sub/c.go", "go.mod", "/etc/x.conf", "a.go"},
		FileNotes: []recall.FileNote{{Path: "b.go"}},
		FileUses: []recall.FileUse{
			{Path: "sub/c.go", Reads: 1, Lately: true},
			{Path: "go.mod", Reads: 1, Lately: true},
			{Path: "b.go", Edits: 1, Reads: 1, Lately: true},
			{Path: "/etc/x.conf", Reads: 1, Lately: true},
			{Path: "a.go", Reads: 1, Lately: true},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	long := "please add a token refresh to the middleware, so that sessions stay open for as long as people work"
	for name, test := range map[string]struct {
		lines []string
		src   digest.Sources
		want  string
	}{
		"nothing":          {want: "a session in which nothing was asked"},
		"a prompt":         {lines: all(asked(long)), want: "please add a token refresh to the middleware, so that sessions stay open for..."},
		"figures":          {lines: all(asked("please add a token refresh")), src: digest.Sources{Files: []string{"a"}, Added: 12, Removed: 3}, want: "please add a token refresh (1 file, +12 -3)"},
		"a plan":           {lines: all(asked(long), used("p", "ExitPlanMode", planInput)), src: digest.Sources{Files: []string{"a", "b"}}, want: "add tokens (2 files)"},
		"a commit":         {lines: all(asked(long)), src: digest.Sources{Subjects: []string{"auth: refresh"}}, want: "auth: refresh"},
		"two commits":      {src: digest.Sources{Subjects: []string{"auth: refresh", "x"}}, want: "auth: refresh and another commit"},
		"three commits":    {src: digest.Sources{Subjects: []string{"auth: refresh", "x", "y"}}, want: "auth: refresh and 2 more commits"},
		"one endless word": {lines: all(asked("a b c " + strings.Repeat("x", 300) + " d")), want: "a b c " + strings.Repeat("x", 71) + "..."},
	} {
		got := digestOf(t, test.lines).Summary(test.src)
		if got != test.want {
			t.Errorf("%s: %q, not %q", name, got, test.want)
		}
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	d := digestOf(t, all(asked("please add a token refresh"), asked("go on"), said("Done.\nAll tests pass.")))
	want := "Asked: please add a token refresh\nThen: go on\nThe agent said last: Done. All tests pass."
	if got := d.Description(digest.Sources{}); got != want {
		t.Errorf("%q", got)
	}
	if got := digestOf(t, all(asked("go on"))).Description(digest.Sources{Said: "Later."}); got != "Asked: go on\nThe agent said last: Later." {
		t.Errorf("%q", got)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	usage := func(id string, tokens int, more string) string {
		return fmt.Sprintf(`{"isSidechain":false,"message":{"id":%q,"model":"m-1","content":[],"usage":{"input_tokens":%d}},"type":"assistant"%s}`, id, tokens, more)
	}
	boundary := `{"parentUuid":null,"isSidechain":false,"type":"system","subtype":"compact_boundary","compactMetadata":{"preTokens":9}}`
	for name, test := range map[string]struct {
		lines []string
		want  int64
	}{
		"none":                        {},
		"the most of one message":     {all(usage("a", 5, ""), usage("a", 9, ""), usage("a", 1, "")), 9},
		"the last message":            {all(usage("a", 9, ""), usage("b", 5, "")), 5},
		"a placeholder":               {all(usage("a", 9, ""), usage("b", 0, "")), 9},
		"unknown after a compaction":  {all(usage("a", 9, ""), boundary), 0},
		"known by the next answer":    {all(usage("a", 9, ""), boundary, usage("a", 4, "")), 4},
		"a subagent's does not count": {all(usage("a", 9, ""), strings.Replace(usage("b", 5, ""), `"isSidechain":false`, `"isSidechain":true`, 1)), 9},
	} {
		if d := digestOf(t, test.lines); d.Tokens != test.want {
			t.Errorf("%s: %d tokens, not %d", name, d.Tokens, test.want)
		}
	}
}

func TestCompaction(t *testing.T) {
	t.Parallel()
	line := func(text string) string {
		return fmt.Sprintf(`{"isSidechain":false,"promptId":"compact","type":"user","message":{"role":"user","content":%s},"isVisibleInTranscriptOnly":true,"isCompactSummary":true}`, quote(text))
	}
	around := "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion.\n\n%s\n\nIf you need specific details from before compaction, read the file.\nContinue."
	for _, text := range []string{
		fmt.Sprintf(around, "the work"),
		fmt.Sprintf(around, "<system-reminder>\nx\n</system-reminder>\nthe work"),
		fmt.Sprintf(around, "Analysis:\n1. thoughts\n\nSummary:\nthe work"),
		"<analysis>thoughts</analysis>\n<summary>\nthe work\n</summary>",
	} {
		d := digestOf(t, all(asked("please add a token refresh"), line(text)))
		if d.Compaction != "the work" || d.Prompts != 1 || d.PromptID != "p-26" {
			t.Errorf("%q, %d prompts, the last one %s", d.Compaction, d.Prompts, d.PromptID)
		}
	}
	d := digest.Digest{}
	d.SetCompaction(strings.Repeat("<&>", 20_000), redact.New())
	if n := plain.JSONSize(d.Compaction); n > 16<<10 || n < 15<<10 {
		t.Errorf("%d bytes are kept", n)
	}
}

// TestDigestInPieces checks that a digest is the same whether a transcript is read at once, line by
// line, or in pieces with the digest stored in between.
func TestDigestInPieces(t *testing.T) {
	t.Parallel()
	small := all(
		asked("please add a token refresh"),
		said("The store comes first. Now I'll write the store of tokens so that every request finds the one that was refreshed last, however many "+
			"processes refresh theirs at the same time and whichever of them is the first to store it"),
		edited("/w/store.go"), said("It is done."), used("g", "Bash", `{"command":"git commit -am store"}`), said("It runs."))
	for _, path := range append(samples(t), written(t, typical(200<<10)), written(t, []byte(strings.Join(small, "\n")+"\n"))) {
		var once digest.Digest
		if _, err := once.Catch(t.Context(), path, redact.New(), 0); err != nil {
			t.Fatal(err)
		}
		for _, limit := range []int64{1, 7 << 10} {
			var pieces digest.Digest
			for rest := true; rest; {
				stored, err := json.Marshal(pieces)
				if err != nil {
					t.Fatal(err)
				}
				pieces = digest.Digest{}
				if err := json.Unmarshal(stored, &pieces); err != nil {
					t.Fatal(err)
				}
				if rest, err = pieces.Catch(t.Context(), path, redact.New(), limit); err != nil {
					t.Fatal(err)
				}
			}
			ignore := cmp.Options{cmpopts.IgnoreUnexported(digest.Digest{}), cmpopts.EquateEmpty()}
			if diff := cmp.Diff(once, pieces, ignore); diff != "" {
				t.Errorf("%s in pieces of %d bytes: %s", filepath.Base(path), limit, diff)
			}
		}
	}
}

func TestCatch(t *testing.T) {
	t.Parallel()
	texts := redact.New()
	var d digest.Digest
	if rest, err := d.Catch(t.Context(), filepath.Join(t.TempDir(), "none"), texts, 0); rest || err != nil {
		t.Errorf("a transcript that isn't there: %v, %v", rest, err)
	}
	path := written(t, []byte(asked("please add a token refresh")+"\n"))
	if rest, err := d.Catch(t.Context(), path, texts, 1); rest || err != nil || d.Prompts != 1 {
		t.Errorf("%v, %v, %d prompts", rest, err, d.Prompts)
	}
	if err := os.WriteFile(path, []byte(asked("another task is this here")+"\n"+asked("go")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rest, err := d.Catch(t.Context(), path, texts, 1)
	if !rest || err != nil || d.Prompts != 1 || d.Asked[0].Text != "another task is this here" {
		t.Errorf("a transcript that was replaced: %v, %v, %+v", rest, err, d)
	}
	if _, err := d.Catch(t.Context(), t.TempDir(), texts, 0); err == nil || d.Prompts != 1 {
		t.Errorf("a directory: %v, %d prompts", err, d.Prompts)
	}
}

func TestPlanOffered(t *testing.T) {
	t.Parallel()
	offered := all(asked("please add a token refresh"), used("p", "ExitPlanMode", planInput))
	for name, test := range map[string]struct {
		lines []string
		want  bool
	}{
		"offered":                  {offered, true},
		"and its answer":           {all(offered, failed("p", rejected), asked("[Request interrupted by user for tool use]")), true},
		"and the agent speaks":     {all(offered, done("p", "User has approved your plan.", `{}`), said("Then I begin.")), false},
		"and another tool is used": {all(offered, used("e", "Edit", `{"file_path":"/w/a"}`)), false},
		"and a person asks":        {all(offered, asked("go on")), false},
	} {
		if d := digestOf(t, test.lines); d.PlanOffered != test.want {
			t.Errorf("%s: %v", name, d.PlanOffered)
		}
	}
}

// TestDigestIsBounded checks that a digest and its JSON are bounded for any transcript.
func TestDigestIsBounded(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 150 {
		long := fmt.Sprintf("%d ", i) + strings.Repeat("<a>&\" ", 400)
		path := fmt.Sprintf("/w/%d", i) + strings.Repeat("<&>/", 40) + "x.md"
		lines = append(lines, asked("no, use "+long[:300]), said("I decided to go there "+long[:300]+".\n# Next steps\n- "+long),
			used(fmt.Sprint("t", i), "TaskCreate", fmt.Sprintf(`{"subject":%s}`, quote(long))), done(fmt.Sprint("t", i), "", fmt.Sprintf(`{"task":{"id":"%d"}}`, i)),
			used(fmt.Sprint("o", i), "Bash", fmt.Sprintf(`{"command":%s}`, quote("make "+long))),
			used(fmt.Sprint("w", i), "WebFetch", fmt.Sprintf(`{"url":%s}`, quote(long))), done(fmt.Sprint("w", i), "", `null`))
		lines = append(lines, all(edited(path), read(path+"x"), ran("make test "+long, "Exit code 1\nerror: "+long))...)
	}
	lines = append(lines, used("p", "ExitPlanMode", fmt.Sprintf(`{"plan":%s}`, quote("# "+strings.Repeat("<", 9000)+"\n## Steps\n"+strings.Repeat("- <<<<<<<<<<<<<<\n", 9000)))))
	d := digestOf(t, lines)
	d.SetCompaction(strings.Repeat("<", 1<<20), redact.New())
	stored, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if len(stored) > 140<<10 {
		t.Errorf("%d bytes", len(stored))
	}
	a := d.Analysis(digest.Sources{Root: "/w"})
	if len(a.NextSteps) == 0 || len(a.Decisions) < 5 || len(a.Blockers) == 0 || len(a.RelevantDocs) == 0 {
		t.Errorf("something is gone: %+v", a)
	}
	if s := d.Summary(digest.Sources{Files: []string{"a"}}); len([]rune(s)) > 80+len(" (1 file, +0 -0)") {
		t.Errorf("%s", s)
	}
}

// samples returns the real transcripts below the directory ENTIRE_SAMPLES, if it is set.
func samples(tb testing.TB) []string {
	tb.Helper()
	dir := os.Getenv("ENTIRE_SAMPLES")
	if dir == "" {
		tb.Log("ENTIRE_SAMPLES names no directory of transcripts")
		return nil
	}
	var found []string
	for _, pattern := range []string{"*.jsonl", "*/*.jsonl", "*/*/*.jsonl"} {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			tb.Fatal(err)
		}
		found = append(found, paths...)
	}
	return found
}

func written(tb testing.TB, text []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

func extend(tb testing.TB, path string, text []byte) {
	tb.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := f.Write(text); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
}

// joined returns the contents of files, each followed by a newline.
func joined(tb testing.TB, paths []string) []byte {
	tb.Helper()
	var text []byte
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		text = append(append(text, data...), '\n')
	}
	return text
}
