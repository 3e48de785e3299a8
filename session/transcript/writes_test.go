package transcript_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session/transcript"
)

// written is a transcript in which edit tools write to files.
func written() []string {
	return []string{
		`{"type":"user","cwd":"/p","message":{"content":"go"}}`,
		`{"type":"assistant","cwd":"/p","message":{"id":"1","content":[{"type":"tool_use","id":"w1","name":"Write","input":{"file_path":"/p/a.go","content":"one\n  two\nthree\n"}}]}}`,
		`{"type":"user","cwd":"/p","message":{"content":[{"type":"tool_result","tool_use_id":"w1","content":"ok"}]}}`,
		`{"type":"assistant","cwd":"/p","message":{"id":"2","content":[{"type":"tool_use","id":"e1","name":"Edit","input":{"file_path":"/p/a.go","old_string":"two\nthree","new_string":"two\nTHREE\nfour"}}]}}`,
		`{"type":"user","cwd":"/p","message":{"content":[{"type":"tool_result","tool_use_id":"e1","content":"ok"}]}}`,
		`{"type":"assistant","cwd":"/p","message":{"id":"3","content":[{"type":"tool_use","id":"e2","name":"Edit","input":{"file_path":"/p/a.go","old_string":"four","new_string":"failed"}}]}}`,
		`{"type":"user","cwd":"/p","message":{"content":[{"type":"tool_result","tool_use_id":"e2","is_error":true,"content":"no"}]}}`,
		`{"type":"assistant","cwd":"/p","message":{"id":"4","content":[{"type":"tool_use","id":"w2","name":"Write","input":{"file_path":"/p/x/a.go","content":"one\n"}}]}}`,
	}
}

func anyCall(transcript.Write) bool { return true }

// TestWritesFindTheCallOfALine holds which call wrote a line.
func TestWritesFindTheCallOfALine(t *testing.T) {
	t.Parallel()
	var w transcript.Writes
	for n, line := range written() {
		w.Line([]byte(line), n)
	}
	cases := []struct {
		file, text, want string
		among            func(transcript.Write) bool
	}{
		{"a.go", "one", "w1", anyCall},
		{"a.go", "two\n", "w1", anyCall}, // the edit only repeats it
		{"a.go", "\tTHREE", "e1", anyCall},
		{"a.go", "three", "w1", anyCall},
		{"a.go", "failed", "", anyCall},
		{"a.go", "nobody", "", anyCall},
		{"x/a.go", "one", "w2", anyCall},
		{"b.go", "one", "", anyCall},
		{"a.go", "four", "", func(w transcript.Write) bool { return w.Line < 3 }},
	}
	for _, c := range cases {
		if got, _ := w.Find([]string{c.file}, c.text, c.among); got.Call != c.want {
			t.Errorf("%s %q: call %q, not %q", c.file, c.text, got.Call, c.want)
		}
	}
	w.Line([]byte(`{"type":"assistant","cwd":"/p","message":{"id":"5","content":[{"type":"tool_use","id":"e3","name":"Edit","input":{"file_path":"/p/a.go","old_string":"o","new_string":"ooo"}}]}}`), 9)
	if got, _ := w.FindPart([]string{"a.go"}, "twooo times", anyCall); got.Call != "e3" {
		t.Errorf("a part of a line: call %q", got.Call)
	}
	if _, found := w.Find([]string{"a.go"}, "twooo times", anyCall); found {
		t.Error("a part counts as a line")
	}
	if got, found := w.FindPart([]string{"a.go"}, "two of them", anyCall); found {
		t.Errorf("call %q put a line there that it only repeats", got.Call)
	}
}

// TestWritesOfAnotherMachine finds files by the end of their paths where the transcript
// names no directory.
func TestWritesOfAnotherMachine(t *testing.T) {
	t.Parallel()
	var w transcript.Writes
	for n, line := range written() {
		w.Line([]byte(strings.ReplaceAll(line, `"cwd":"/p",`, "")), n)
	}
	if got, _ := w.Find([]string{"b.go", "x/a.go"}, "one", anyCall); got.Call != "w2" {
		t.Errorf("call %q", got.Call)
	}
}

// TestWritesReadTheEnd reads a part of a transcript, and numbers its lines as the whole.
func TestWritesReadTheEnd(t *testing.T) {
	t.Parallel()
	lines := written()
	text := strings.Join(lines, "\n") + "\n"
	name := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		first int
		limit int64
		want  map[string]int
	}{
		{0, 1 << 20, map[string]int{"one": 1, "THREE": 3}},
		{2, 1 << 20, map[string]int{"one": -1, "THREE": 3}},
		{0, int64(len(strings.Join(lines[3:], "\n")) + 3), map[string]int{"one": -1, "THREE": 3}},
		{8, 1 << 20, map[string]int{"one": -1, "THREE": -1}},
	} {
		var w transcript.Writes
		to := transcript.Cursor{Offset: int64(len(text)), Lines: len(lines)}
		if c.first == 0 && c.limit == 1<<20 {
			to.Lines = 0 // it counts them itself
		}
		if err := w.ReadEnd(t.Context(), name, to, c.first, c.limit); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for text := range c.want {
			got[text] = -1
			if call, found := w.Find([]string{"a.go"}, text, anyCall); found {
				got[text] = call.Line
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("from line %d, %d bytes: %s", c.first, c.limit, diff)
		}
	}
}
