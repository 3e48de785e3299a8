package transcript_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session/transcript"
)

// TestStatesOfFile checks the contents before and after each edit, and the commands between them.
func TestStatesOfFile(t *testing.T) {
	t.Parallel()
	var w transcript.Writes
	for n, line := range []string{
		`{"type":"assistant","cwd":"/p","message":{"id":"1","content":[{"type":"tool_use","id":"w1","name":"Write","input":{"file_path":"/p/a","content":"one\ntwo\n"}}]}}`,
		`{"type":"user","cwd":"/p","message":{"content":[{"type":"tool_result","tool_use_id":"w1","content":"ok"}]},"toolUseResult":{"originalFile":null}}`,
		`{"type":"assistant","cwd":"/p","message":{"id":"2","content":[{"type":"tool_use","id":"b1","name":"Bash","input":{"command":"echo three >> a"}}]}}`,
		`{"type":"user","cwd":"/p","message":{"content":[{"type":"tool_result","tool_use_id":"b1","content":""}]}}`,
		`{"type":"assistant","cwd":"/p","message":{"id":"3","content":[{"type":"tool_use","id":"e1","name":"Edit","input":{"file_path":"/p/a","old_string":"one","new_string":"ONE"}}]}}`,
		`{"type":"user","cwd":"/p","message":{"content":[{"type":"tool_result","tool_use_id":"e1","content":"ok"}]},"toolUseResult":{"originalFile":"one\r\ntwo\r\nthree\r\n"}}`,
		`{"type":"assistant","cwd":"/p","message":{"id":"4","content":[{"type":"tool_use","id":"e2","name":"Edit","input":{"file_path":"/p/a","old_string":"t","new_string":"T"}}]}}`,
		`{"type":"user","cwd":"/p","message":{"content":[{"type":"tool_result","tool_use_id":"e2","content":"ok"}]},"toolUseResult":{"originalFile":"ONE\ntwo\nthree\n"}}`,
		`{"type":"assistant","cwd":"/p","message":{"id":"5","content":[{"type":"tool_use","id":"e3","name":"Edit","input":{"file_path":"/p/a","old_string":"two","new_string":"2"}}]}}`,
		`{"type":"user","cwd":"/p","message":{"content":[{"type":"tool_result","tool_use_id":"e3","content":"no","is_error":true}]}}`,
		`{"type":"assistant","cwd":"/p","message":{"id":"6","content":[{"type":"tool_use","id":"e4","name":"Edit","input":{"file_path":"/p/a","old_string":"two","new_string":"2"}}]}}`,
	} {
		w.AddLine([]byte(line), n)
	}
	text := func(s *string) string {
		if s == nil {
			return "?"
		}
		return *s
	}
	var got [][3]string
	states := w.States([]string{"a"}, anyCall)
	for i := range states {
		got = append(got, [3]string{states[i].Call, text(states[i].Before), text(states[i].After)})
	}
	want := [][3]string{
		{"w1", "", "one\ntwo\n"},
		{"e1", "one\ntwo\nthree\n", "ONE\ntwo\nthree\n"},
		{"e2", "ONE\ntwo\nthree\n", "?"}, // it isn't known which of the matches
		{"e4", "?", "?"},                 // it has no result
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	for _, c := range []struct {
		after, before *transcript.FileState
		want          int
	}{{nil, nil, 1}, {nil, &states[0], 0}, {&states[0], &states[1], 1}, {&states[1], nil, 0}} {
		if got := len(w.Commands(c.after, c.before, anyCall)); got != c.want {
			t.Errorf("%d commands between two states, not %d", got, c.want)
		}
	}
}
