package transcript_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session/transcript"
)

// written returns a transcript in which edit tools write to files.
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

// TestWritesFindCallOfLine checks which call wrote a line.
func TestWritesFindCallOfLine(t *testing.T) {
	t.Parallel()
	var w transcript.Writes
	for n, line := range written() {
		w.AddLine([]byte(line), n)
	}
	cases := []struct {
		file, text, want string
		among            func(transcript.Write) bool
	}{
		{"a.go", "one", "w1", anyCall},
		{"a.go", "two\n", "w1", anyCall}, // the edit only repeats the line
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
	w.AddLine([]byte(`{"type":"assistant","cwd":"/p","message":{"id":"5","content":[{"type":"tool_use","id":"e3","name":"Edit","input":{"file_path":"/p/a.go","old_string":"o","new_string":"ooo"}}]}}`), 9)
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

// TestWritesOfAnotherMachine finds files by the end of their paths if the transcript names no
// directory.
func TestWritesOfAnotherMachine(t *testing.T) {
	t.Parallel()
	var w transcript.Writes
	for n, line := range written() {
		w.AddLine([]byte(strings.ReplaceAll(line, `"cwd":"/p",`, "")), n)
	}
	if got, _ := w.Find([]string{"b.go", "x/a.go"}, "one", anyCall); got.Call != "w2" {
		t.Errorf("call %q", got.Call)
	}
}

// TestWritesReadEnd reads a part of a transcript, with the line numbers of the whole.
func TestWritesReadEnd(t *testing.T) {
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
			to.Lines = 0 // ReadEnd counts them itself
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

// TestPartReachesEndOfLine checks that a line that was extended later isn't attributed
// to an edit that wrote whole lines.
func TestPartReachesEndOfLine(t *testing.T) {
	t.Parallel()
	var w transcript.Writes
	w.AddLine([]byte(`{"type":"assistant","cwd":"/p","message":{"id":"1","content":[{"type":"tool_use","id":"e1","name":"Edit","input":{"file_path":"/p/a.go","old_string":"old()\nkept","new_string":"first()\nkept\nlast()"}}]}}`), 1)
	for text, want := range map[string]string{
		"x = first()":  "e1", // its beginning was there
		"first();":     "",
		"last() + one": "e1", // its end was there
		"x = last()":   "",
	} {
		if got, _ := w.FindPart([]string{"a.go"}, text, anyCall); got.Call != want {
			t.Errorf("%s: call %q, not %q", text, got.Call, want)
		}
	}
}

// TestWholeFileWriteHasOnlyNewLines checks that a call that wrote a whole file isn't found for
// lines that the file had before, according to its result.
func TestWholeFileWriteHasOnlyNewLines(t *testing.T) {
	t.Parallel()
	var w transcript.Writes
	for n, line := range []string{
		`{"type":"assistant","cwd":"/p","message":{"id":"1","content":[{"type":"tool_use","id":"w1","name":"Write","input":{"file_path":"/p/a.go","content":"kept\n  indented\nadded\n"}}]}}`,
		`{"type":"user","cwd":"/p","message":{"content":[{"type":"tool_result","tool_use_id":"w1","content":"ok"}]},"toolUseResult":{"type":"update","filePath":"/p/a.go","content":"kept\n  indented\nadded\n","originalFile":"kept\nindented\ngone\n"}}`,
		`{"type":"assistant","cwd":"/p","message":{"id":"2","content":[{"type":"tool_use","id":"w2","name":"Write","input":{"file_path":"/p/b.go","content":"kept\n"}}]}}`,
		`{"type":"user","cwd":"/p","message":{"content":[{"type":"tool_result","tool_use_id":"w2","content":"ok"}]},"toolUseResult":{"type":"create","filePath":"/p/b.go","content":"kept\n","originalFile":null}}`,
		`{"type":"assistant","cwd":"/p","message":{"id":"3","content":[{"type":"tool_use","id":"e1","name":"Edit","input":{"file_path":"/p/c.go","old_string":"x","new_string":"kept"}}]}}`,
		`{"type":"user","cwd":"/p","message":{"content":[{"type":"tool_result","tool_use_id":"e1","content":"ok"}]},"toolUseResult":{"filePath":"/p/c.go","originalFile":"kept\nx\n"}}`,
	} {
		w.AddLine([]byte(line), n)
	}
	for _, c := range []struct{ file, text, want string }{
		{"a.go", "added", "w1"},
		{"a.go", "kept", ""},
		{"a.go", "indented", ""},
		{"b.go", "kept", "w2"},
		{"c.go", "kept", "e1"}, // an edit adds its lines there, whatever the rest of the file has
	} {
		if got, _ := w.Find([]string{c.file}, c.text, anyCall); got.Call != c.want {
			t.Errorf("%s %q: call %q, not %q", c.file, c.text, got.Call, c.want)
		}
	}
}

// TestPredates checks which lines a file had before the calls can have written them.
func TestPredates(t *testing.T) {
	t.Parallel()
	const (
		edit   = `{"type":"assistant","cwd":"/p","message":{"id":"e","content":[{"type":"tool_use","id":"e","name":"Edit","input":{"file_path":"/p/a.go","old_string":"former","new_string":"former\nnew"}}]}}`
		edited = `{"type":"user","cwd":"/p","message":{"content":[{"type":"tool_result","tool_use_id":"e","content":"ok"}]},"toolUseResult":{"filePath":"/p/a.go","originalFile":"whole\nformer\n"}}`
		read   = `{"type":"user","cwd":"/p","message":{"content":[{"type":"tool_result","tool_use_id":"r","content":"1\tshown"}]},"toolUseResult":{"type":"text","file":{"filePath":"/p/a.go","content":"shown\nnew\n"}}}`
		bash   = `{"type":"assistant","cwd":"/p","message":{"id":"b","content":[{"type":"tool_use","id":"b","name":"Bash","input":{"command":"make gen"}}]}}`
		cat    = `{"type":"assistant","cwd":"/p","message":{"id":"c","content":[{"type":"tool_use","id":"c","name":"Bash","input":{"command":"cat a.go"}}]}}`
	)
	for name, c := range map[string]struct {
		lines []string
		text  string
		want  bool
	}{
		"replaced text":                 {[]string{edit}, "former", true},
		"the file before the edit":      {[]string{edit, edited}, "whole", true},
		"written by the edit":           {[]string{edit, edited, read}, "new", false},
		"read before the edit":          {[]string{read, edit}, "new", true},
		"read":                          {[]string{read}, "shown", true},
		"not shown":                     {[]string{edit, edited, read}, "other", false},
		"a command may have written":    {[]string{bash, edit, edited}, "whole", false},
		"a command that can't write it": {[]string{cat, edit, edited}, "whole", true},
		"a command after it was shown":  {[]string{edit, edited, bash}, "whole", true},
	} {
		var w transcript.Writes
		for n, line := range c.lines {
			w.AddLine([]byte(line), n)
		}
		if got := w.Predates([]string{"a.go"}, c.text, anyCall, func(command string) bool { return command == "make gen" }); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestEvidenceEndsAtNextPrompt checks which calls belong to a turn if only its beginning is
// known.
func TestEvidenceEndsAtNextPrompt(t *testing.T) {
	t.Parallel()
	const prompt = `{"type":"user","cwd":"/p","message":{"content":"go on"}}`
	var w transcript.Writes
	for _, n := range []int{4, 9} {
		w.AddLine([]byte(prompt), n)
	}
	w.Subagent = "helper"
	w.AddLine([]byte(prompt), 6) // a subagent's prompt begins no turn
	w.Subagent = ""
	w.AddLine([]byte(`{"type":"user","cwd":"/p","message":{"content":[{"type":"tool_result","tool_use_id":"w1","content":"ok"}]}}`), 7)
	for _, c := range []struct {
		begin, call int
		want        bool
	}{
		{3, 5, false}, // the turn begins with the lines before its prompt
		{4, 5, false},
		{4, 8, false},
		{4, 9, true},
		{4, 20, true},
		{9, 20, false},
		{10, 20, false},
	} {
		if got := w.IsBehindNextPrompt(c.begin, c.call); got != c.want {
			t.Errorf("a call at %d in the turn that begins at %d: %v", c.call, c.begin, got)
		}
	}
}

// TestMovedLineKeepsItsAgent checks the author of a line that a subagent wrote and the main
// agent moved to another file later.
func TestMovedLineKeepsItsAgent(t *testing.T) {
	t.Parallel()
	const moved, short = "a line that the subagent wrote", "return err"
	use := func(call, tool, input string) []byte {
		second := map[string]string{"s1": "1", "e1": "2", "e2": "3", "e3": "4"}[call]
		return []byte(`{"type":"assistant","cwd":"/p","timestamp":"2026-01-02T03:04:0` + second + `Z","message":{"id":"` + call + `","content":[{"type":"tool_use","id":"` + call + `","name":"` + tool + `","input":{` + input + `}}]}}`)
	}
	for name, remove := range map[string][][]byte{
		"by an edit": {use("e1", "Edit", `"file_path":"/p/from.go","old_string":"kept\n`+moved+`\n`+short+`\n","new_string":"kept\n"`)},
		"by writing the whole file": {
			use("e1", "Write", `"file_path":"/p/from.go","content":"kept\n"`),
			[]byte(`{"type":"user","cwd":"/p","message":{"content":[{"type":"tool_result","tool_use_id":"e1","content":"ok"}]},"toolUseResult":{"originalFile":"kept\n` + moved + `\n` + short + `\n"}}`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w transcript.Writes
			for n, line := range append(remove, use("e2", "Edit", `"file_path":"/p/to.go","old_string":"x","new_string":"x\n`+moved+`\n`+short+`\nown line of the main agent"`)) {
				w.AddLine(line, n)
			}
			w.Subagent = "helper"
			w.AddLine(use("s1", "Write", `"file_path":"/p/from.go","content":"kept\n`+moved+`\n`+short+`\n"`), 0)
			for text, want := range map[string]string{moved: "s1", short: "e2", "own line of the main agent": "e2"} {
				if got, _ := w.FindWriter([]string{"to.go"}, text, anyCall); got.Call != want {
					t.Errorf("%s: call %q, not %q", text, got.Call, want)
				}
			}
			if got, _ := w.FindWriter([]string{"to.go"}, moved, func(c transcript.Write) bool { return c.Subagent == "" }); got.Call != "e2" {
				t.Errorf("of the main agent's calls: %q", got.Call)
			}
			w.Subagent = ""
			w.AddLine(use("e3", "Edit", `"file_path":"/p/from.go","old_string":"kept","new_string":"kept\n`+moved+`"`), 9)
			if got, _ := w.FindWriter([]string{"from.go"}, moved, anyCall); got.Call != "s1" {
				t.Errorf("moved within its file: call %q", got.Call)
			}
			w.AddLine(bytes.Replace(use("e4", "Edit", `"file_path":"/p/from.go","old_string":"other","new_string":"another"`), []byte("timestamp"), []byte("no_time"), 1), 10)
			if got, found := w.FindWriter([]string{"from.go"}, moved, anyCall); found {
				t.Errorf("it isn't known who was first: call %q", got.Call)
			}
		})
	}
}

// TestWritesReadBackToFirstLine has more lines than are read at once.
func TestWritesReadBackToFirstLine(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	const lines = 2000
	for n := range lines {
		text.WriteString(`{"type":"assistant","cwd":"/p","message":{"id":"m` + strconv.Itoa(n) + `","content":[{"type":"tool_use","id":"w` + strconv.Itoa(n) +
			`","name":"Write","input":{"file_path":"/p/a.go","content":"line ` + strconv.Itoa(n) + strings.Repeat(" ", 200) + `\n"}}]}}` + "\n")
	}
	name := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(name, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	size := int64(text.Len())
	each := size / lines
	for _, c := range []struct {
		first int
		limit int64
		want  int // the first line that is found
	}{
		{0, size, 0},
		{0, size + 1, 0},
		{1990, size, 1990},
		{700, size, 700},
		{0, 100 * each, 1901}, // a line is a little longer than each there
	} {
		var w transcript.Writes
		if err := w.ReadEnd(t.Context(), name, transcript.Cursor{Offset: size, Lines: lines}, c.first, c.limit); err != nil {
			t.Fatal(err)
		}
		for n := range lines {
			call, found := w.Find([]string{"a.go"}, "line "+strconv.Itoa(n), anyCall)
			if found != (n >= c.want) || found && call.Line != n {
				t.Fatalf("from %d, %d bytes: line %d: %+v, %v", c.first, c.limit, n, call, found)
			}
		}
	}
}
