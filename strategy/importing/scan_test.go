package importing

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/sessionfile"
)

// scanned returns the scan of a transcript of Claude Code. Each line gets a time a second after the last one.
func scanned(t *testing.T, lines ...string) *past {
	t.Helper()
	var b strings.Builder
	for i, line := range lines {
		envelope := fmt.Sprintf(`{"uuid":"u%d","sessionId":"s1","cwd":"/r","timestamp":"2026-05-01T10:00:%02dZ",`, i, i)
		b.WriteString(strings.Replace(line, "{", envelope, 1) + "\n")
	}
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := sessionfile.Open(t.Context(), path, agent.ClaudeCode())
	if err != nil {
		t.Fatal(err)
	}
	p, err := scan(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func asked(text string) string {
	return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":%q}}`, text)
}

func used(id, tool, input string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":"m%s","role":"assistant","model":"claude-opus-4-6","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}}`, id, id, tool, input)
}

func result(id, text, detail string) string {
	if detail != "" {
		detail = `,"toolUseResult":` + detail
	}
	return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}%s}`, id, text, detail)
}

// texts returns which of some lines a session wrote to a file, with the index of the turn.
func written(p *past, file string, candidates ...string) (list []string) {
	for _, l := range p.texts[file] {
		i := slices.IndexFunc(candidates, func(text string) bool { return checkpoint.Print([]byte(text)) == l.print })
		text := "?"
		if i >= 0 {
			text = candidates[i]
		}
		list = append(list, fmt.Sprintf("%d %s", p.calls[l.call].turn, text))
	}
	return list
}

func TestScanOfWrittenLines(t *testing.T) {
	t.Parallel()
	failed := `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"no"}]}}`
	for name, test := range map[string]struct {
		lines []string
		want  []string
	}{
		"a new file": {
			[]string{used("c1", "Write", `{"file_path":"/r/f","content":"one\ntwo\n"}`), result("c1", "ok", "")},
			[]string{"0 one", "0 two"},
		},
		"a failed edit": {[]string{used("c1", "Write", `{"file_path":"/r/f","content":"one\n"}`), failed}, nil},
		"a call without a result": {
			[]string{used("c0", "Read", `{"file_path":"/r/g"}`), result("c0", "x", ""), used("c1", "Write", `{"file_path":"/r/f","content":"one\n"}`)},
			nil,
		},
		"an edit without its context": {
			[]string{used("c1", "Edit", `{"file_path":"/r/f","old_string":"one\ntwo\n","new_string":"one\nthree\n"}`), result("c1", "ok", "")},
			[]string{"0 three"},
		},
		"the recorded patch": {
			[]string{
				used("c1", "Edit", `{"file_path":"/r/f","old_string":"wo","new_string":"hree"}`),
				result("c1", "ok", `{"structuredPatch":[{"lines":[" one","-two","+three"]}]}`),
			},
			[]string{"0 three"},
		},
		"a whole file again": {
			[]string{
				used("c1", "Write", `{"file_path":"/r/f","content":"one\n"}`), result("c1", "ok", ""), asked("more"),
				used("c2", "Write", `{"file_path":"/r/f","content":"one\ntwo\n"}`), result("c2", "ok", ""),
			},
			[]string{"0 one", "1 two"},
		},
		"the former file is recorded": {
			[]string{used("c1", "Write", `{"file_path":"/r/f","content":"one\ntwo\n"}`), result("c1", "ok", `{"originalFile":"one\n"}`)},
			[]string{"0 two"},
		},
		"a message written twice": {
			[]string{used("c1", "Write", `{"file_path":"/r/f","content":"one\n"}`), used("c1", "Write", `{"file_path":"/r/f","content":"one\n"}`), result("c1", "ok", "")},
			[]string{"0 one"},
		},
		"a relative path": {
			[]string{used("c1", "Write", `{"file_path":"f","content":"one\n"}`), result("c1", "ok", "")},
			[]string{"0 one"},
		},
		"a command": {
			[]string{used("c1", "Bash", `{"command":"cat > f <<E\none\nE"}`), result("c1", "", "")},
			[]string{"0 one"},
		},
		"the recorded differences of a command": {
			[]string{used("c1", "Bash", `{"command":"make"}`), result("c1", "", `{"bashEditDiff":{"files":[{"filePath":"/r/f","hunks":[{"lines":["+one"," two"]}]}]}}`)},
			[]string{"0 one"},
		},
		"a file that a command renames": {
			[]string{
				used("c1", "Write", `{"file_path":"/r/old","content":"one\n"}`), result("c1", "ok", ""),
				used("c2", "Bash", `{"command":"git mv old f"}`), result("c2", "", ""),
			},
			[]string{"0 one"},
		},
		"a subagent in the session's transcript": {
			[]string{
				`{"type":"progress","data":{"type":"agent_progress","agentId":"a1","message":` + used("c1", "Write", `{"file_path":"/r/f","content":"one\n"}`) + `}}`,
				`{"type":"progress","data":{"type":"agent_progress","agentId":"a1","message":` + result("c1", "ok", "") + `}}`,
			},
			[]string{"0 one"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := scanned(t, append([]string{asked("Do it")}, test.lines...)...)
			if diff := cmp.Diff(test.want, written(p, "/r/f", "one", "two", "three")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestScanOfShownCommits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		command, said, detail string
		want                  []string // ids and subjects
	}{
		"a commit":            {"git commit -m x", "[main 1234567] A subject\n 1 file changed", "", []string{"1234567 A subject"}},
		"the first commit":    {"git commit -m x", "[main (root-commit) 1234567] A subject", "", []string{"1234567 A subject"}},
		"a detached HEAD":     {"cd x && git commit -m x", "[detached HEAD abcdef12] S", "", []string{"abcdef12 S"}},
		"two commits":         {"git commit -m a; git commit -m b", "[t/x 1234567] a\n[t/x 2345678] b", "", []string{"1234567 a", "2345678 b"}},
		"the client's record": {"git commit -q -m x", "", `{"stdout":"","gitOperation":{"commit":{"sha":"1234567","kind":"committed"}}}`, []string{"1234567 "}},
		"a quiet commit":      {"git commit -q -m 'A subject'", "", "", []string{" A subject"}},
		"a document":          {"git commit -m \"$(cat <<'EOF'\nA subject\n\nMore.\nEOF\n)\"", "", "", []string{" A subject"}},
		"shown after it":      {"git commit -q && git log --oneline -1", "1234567 A subject", "", []string{"1234567 "}},
		"only shown":          {"git log --oneline -1", "1234567 A subject", "", nil},
		"another command":     {"cat log.txt", "[main 1234567] A subject", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := scanned(t, asked("Commit"), used("c1", "Bash", fmt.Sprintf(`{"command":%q}`, test.command)), result("c1", test.said, test.detail))
			var got []string
			for _, s := range p.shown {
				got = append(got, s.id+" "+s.subject)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The history that a session copied from another one is the other's.
func TestCopiesBelongToTheSessionThatEndedFirst(t *testing.T) {
	t.Parallel()
	first := scanned(t, asked("One"), used("c1", "Write", `{"file_path":"/r/f","content":"one\n"}`), result("c1", "ok", ""))
	fork := scanned(t,
		asked("One"), used("c1", "Write", `{"file_path":"/r/f","content":"one\n"}`), result("c1", "ok", ""),
		asked("Two"), used("c2", "Write", `{"file_path":"/r/g","content":"two\n"}`), result("c2", "ok", ""))
	copied := scanned(t, asked("One"), used("c1", "Write", `{"file_path":"/r/f","content":"one\n"}`), result("c1", "ok", ""))
	first.ID, fork.ID, copied.ID = "a", "b", "c"
	for _, p := range []*past{first, fork, copied} {
		for i := range p.messages {
			p.messages[i].isMarked = false // each file names its own session
		}
	}
	im := importer{sessions: []*past{fork, copied, first}, states: map[string]State{}}
	im.findCopies()
	if len(im.sessions) != 2 || im.states["c"] != Empty || first.own != 0 || fork.own != 3 || len(fork.messages) != 1 {
		t.Errorf("%d sessions, states %v, the fork begins at line %d with %d messages of its own", len(im.sessions), im.states, fork.own, len(fork.messages))
	}
}

// A session that continued after it was forked keeps its history: the lines of the fork name it.
func TestMarkedCopiesBelongToTheNamedSession(t *testing.T) {
	t.Parallel()
	write := func(id string) []string {
		return []string{asked("One"), used(id, "Write", `{"file_path":"/r/f","content":"one\n"}`), result(id, "ok", "")}
	}
	first := scanned(t, slices.Concat(write("c1"), write("c2"), write("c3"))...)
	fork := scanned(t, slices.Concat(write("c1"), write("c4"))...)
	fork.ID, fork.messages[0].isMarked = "b", true
	im := importer{sessions: []*past{first, fork}, states: map[string]State{}}
	im.findCopies()
	if first.own != 0 || fork.own != 3 {
		t.Errorf("the session begins at line %d, its fork at line %d", first.own, fork.own)
	}
}
