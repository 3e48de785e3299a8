package transcript_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/session/transcript"
)

// write creates a transcript with the text and returns its path.
func write(tb testing.TB, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// extend appends to a file in place.
func extend(tb testing.TB, path, text string) {
	tb.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
}

// scan reads a transcript, or fails the test.
func scan(tb testing.TB, path string, from transcript.Cursor) transcript.Scan {
	tb.Helper()
	s, err := transcript.Read(tb.Context(), path, from)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// lines joins lines with newlines and ends with one.
func lines(s ...string) string { return strings.Join(s, "\n") + "\n" }

// asked returns a user's line with a prompt.
func asked(text string) string {
	return fmt.Sprintf(`{"parentUuid":null,"type":"user","message":{"role":"user","content":%q},"uuid":"u-%s","timestamp":"2026-01-02T03:04:05.678Z"}`, text, text)
}

// used returns an assistant's line with a tool use.
func used(id, tool, input string) string {
	return fmt.Sprintf(`{"parentUuid":null,"message":{"id":"m-%s","model":"x","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]},"type":"assistant","uuid":"a-%s","timestamp":"2026-01-02T03:04:06.000Z"}`,
		id, id, tool, input, id)
}

// answered returns a user's line with a tool result; more are further envelope keys.
func answered(id, block, more string) string {
	return fmt.Sprintf(`{"parentUuid":null,"type":"user","message":{"role":"user","content":[{"tool_use_id":%q,"type":"tool_result","content":"out"%s}]},"uuid":"r-%s","timestamp":"2026-01-02T03:04:07.000Z"%s}`,
		id, block, id, more)
}

// texts returns the prompts of a scan.
func texts(s transcript.Scan) []string {
	if s.Prompts == nil {
		return nil
	}
	out := make([]string, len(s.Prompts))
	for i, p := range s.Prompts {
		out[i] = p.Text
	}
	return out
}

// paths returns the edited files of a scan.
func paths(s transcript.Scan) []string {
	if s.Edits == nil {
		return nil
	}
	out := make([]string, len(s.Edits))
	for i, e := range s.Edits {
		out[i] = e.Path
	}
	return out
}

// typical returns about size bytes of a typical session: program text with quotes and newlines
// in prompts, results and patches.
func typical(size int) []byte {
	code := strings.Repeat(`\tif err := run(ctx, \"name\", opts); err != nil {\n\t\treturn fmt.Errorf(\"run %s: %w\", name, err)\n\t}\n`, 30)
	patch := strings.TrimSuffix(strings.Repeat(`" \tvalue := compute(\"a\", 12)","+\tother := compute(\"b\", 13)",`, 20), ",")
	env := `"userType":"external","entrypoint":"cli","cwd":"/home/u/project","sessionId":"9340300c-5c3a-4579-93bb-9edea25d332e","version":"2.1.328","gitBranch":"main"}`
	var b bytes.Buffer
	for n := 0; b.Len() < size; n++ {
		when := fmt.Sprintf("2026-01-02T%02d:%02d:%02d.%03dZ", n/3600%24, n/60%60, n%60, n%1000)
		chain := fmt.Sprintf(`{"parentUuid":"%08d-b6e2-40d3-974c-16f470ebbf2a","isSidechain":false,`, n)
		tail := fmt.Sprintf(`"uuid":"%08d-b6e2-40d3-974c-16f470ebbf2a","timestamp":%q,%s`+"\n", n+1, when, env)
		usage := `"usage":{"input_tokens":10,"cache_creation_input_tokens":2000,"cache_read_input_tokens":15000,"output_tokens":42,"server_tool_use":{"web_search_requests":0},"service_tier":"standard"}`
		head := fmt.Sprintf(`"message":{"id":"msg_%d","type":"message","role":"assistant","model":"claude-opus-5-5","content":[`, n/2)
		switch n % 8 {
		case 0:
			fmt.Fprintf(&b, `%s"type":"user","message":{"role":"user","content":"please do step %d"},%s`, chain, n, tail)
		case 1:
			fmt.Fprintf(&b, `%s%s{"type":"text","text":"%s"}],%s},"type":"assistant",%s`, chain, head, code[:800], usage, tail)
		case 2:
			fmt.Fprintf(&b, `%s%s{"type":"tool_use","id":"toolu_%d","name":"Read","input":{"file_path":"/home/u/project/f%d.go"}}],%s},"type":"assistant",%s`, chain, head, n, n%50, usage, tail)
		case 3:
			fmt.Fprintf(&b, `%s"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":"%s"}]},"toolUseResult":{"type":"text","file":{"filePath":"/home/u/project/f%d.go","content":"%s","numLines":90}},%s`, chain, n-1, code, n%50, code, tail)
		case 4:
			fmt.Fprintf(&b, `%s%s{"type":"tool_use","id":"toolu_%d","name":"Edit","input":{"file_path":"/home/u/project/f%d.go","old_string":"%s","new_string":"%s"}}],%s},"type":"assistant",%s`, chain, head, n, n%50, code[:600], code[:700], usage, tail)
		case 5:
			fmt.Fprintf(&b, `%s"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":"ok"}]},"toolUseResult":{"filePath":"/f.go","originalFile":"%s","structuredPatch":[{"oldStart":1,"lines":[%s]}]},%s`, chain, n-1, code, patch, tail)
		case 6:
			fmt.Fprintf(&b, `%s%s{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"go test ./...","description":"run"}}],%s},"type":"assistant",%s`, chain, head, n, usage, tail)
		case 7:
			fmt.Fprintf(&b, `%s"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_%d","type":"tool_result","content":"%s","is_error":false}]},"toolUseResult":{"stdout":"%s","stderr":"","interrupted":false},%s`, chain, n-1, code[:1500], code[:1500], tail)
			b.WriteString(`{"type":"file-history-snapshot","messageId":"x","snapshot":{"trackedFileBackups":{}},"isSnapshotUpdate":false}` + "\n")
		}
	}
	return b.Bytes()
}
