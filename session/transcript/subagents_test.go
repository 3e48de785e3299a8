package transcript_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session/transcript"
)

// place makes a session's transcript and files below its folder.
func place(tb testing.TB, files map[string]string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "s1.jsonl")
	for name, text := range files {
		file := filepath.Join(filepath.Dir(path), filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return path
}

func TestAgentFilesAreRegularOnes(t *testing.T) {
	t.Parallel()
	path := place(t, map[string]string{
		"s1/subagents/agent-b.jsonl": "{}\n", "s1/subagents/agent-a.jsonl": "{}\n", "s1/subagents/agent-a.meta.json": "{}",
		"s1/subagents/notes.jsonl": "", "s1/subagents/agent-d.jsonl/x": "", "agent-c.jsonl": "{}\n", "elsewhere": "{}\n",
	})
	if err := os.Symlink(filepath.Join(filepath.Dir(path), "elsewhere"), filepath.Join(transcript.AgentDir(path), "agent-l.jsonl")); err != nil {
		t.Fatal(err)
	}
	files, err := transcript.AgentFiles(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
	}
	if diff := cmp.Diff([]string{"agent-a.jsonl", "agent-b.jsonl"}, names); diff != "" {
		t.Error(diff)
	}
	for id, want := range map[string]string{"a": "agent-a.jsonl", "c": "agent-c.jsonl", "l": "", "d": "", "none": "", "../s1": "", "": ""} {
		if f, found := transcript.FindAgent(path, id); found != (want != "") || f.Name != want {
			t.Errorf("%q: %q, %v", id, f.Name, found)
		}
	}
	if files, err := transcript.AgentFiles(filepath.Join(t.TempDir(), "none.jsonl")); len(files) > 0 || err != nil {
		t.Error(files, err)
	}
}

func TestAgentFileKnowsItsEnd(t *testing.T) {
	t.Parallel()
	path := place(t, map[string]string{"s1/subagents/agent-a.jsonl": lines(asked("Do it"), used("1", "Write", `{"file_path":"/a"}`))})
	f, _ := transcript.FindAgent(path, "a")
	if f.Behind(transcript.Cursor{}) {
		t.Error("nothing is read yet")
	}
	s := scan(t, f.Path, transcript.Cursor{})
	if !f.Behind(s.Cursor) || len(s.Edits) != 1 {
		t.Errorf("read to %+v, %d edits", s.Cursor, len(s.Edits))
	}
	extend(t, f.Path, lines(asked("More")))
	if f, _ = transcript.FindAgent(path, "a"); f.Behind(s.Cursor) {
		t.Error("something came behind it")
	}
}

func TestAgentMetaIsCheckedOnRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want transcript.AgentMeta
	}{
		"whole":      {`{"agentType":"dev","description":"d","toolUseId":"toolu_1","spawnDepth":2}`, transcript.AgentMeta{Type: "dev", Description: "d", ToolUse: "toolu_1"}},
		"no call":    {`{"agentType":"dev"}`, transcript.AgentMeta{}},
		"leads out":  {`{"toolUseId":"../../x"}`, transcript.AgentMeta{}},
		"other type": {`{"toolUseId":7}`, transcript.AgentMeta{}},
		"cut":        {`{"toolUseId":"toolu_1"`, transcript.AgentMeta{}},
		"too long":   {`{"pad":"` + strings.Repeat("x", 70<<10) + `","toolUseId":"toolu_1"}`, transcript.AgentMeta{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := place(t, map[string]string{"s1/subagents/agent-a.meta.json": c.text})
			got, ok := transcript.ReadAgentMeta(path, "a")
			if got != c.want || ok != (c.want.ToolUse != "") {
				t.Errorf("%+v, %v", got, ok)
			}
			if _, ok := transcript.ReadAgentMeta(path, "../a"); ok {
				t.Error("an id that leads out")
			}
		})
	}
}

func TestReadAnswers(t *testing.T) {
	t.Parallel()
	path := write(t, lines(used("1", "Agent", `{}`), used("2", "Bash", `{}`), used("3", "Task", `{}`), answered("1", "", ""), answered("2", "", "")))
	first := scan(t, path, transcript.Cursor{})
	extend(t, path, lines(answered("3", "", "")))
	second := scan(t, path, first.Cursor)
	if diff := cmp.Diff([]string{"1"}, slices.Collect(maps.Keys(first.Answers))); diff != "" {
		t.Errorf("commands have no answers: %s", diff)
	}
	if second.Answers["3"] == "" || len(second.Answers) != 1 {
		t.Errorf("%v", second.Answers)
	}
}
