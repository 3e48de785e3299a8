package transcript_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session/transcript"
)

// place creates a session's transcript and files below its folder.
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

func TestAgentFilesAreRegular(t *testing.T) {
	t.Parallel()
	path := place(t, map[string]string{
		"s1/subagents/agent-b.jsonl": "{}\n", "s1/subagents/agent-a.jsonl": "{}\n", "s1/subagents/agent-a.meta.json": "{}",
		"s1/subagents/notes.jsonl": "", "s1/subagents/agent-d.jsonl/x": "", "agent-c.jsonl": "{}\n", "elsewhere": "{}\n",
	})
	if err := os.Symlink(filepath.Join(filepath.Dir(path), "elsewhere"), filepath.Join(transcript.SubagentDir(path), "agent-l.jsonl")); err != nil {
		t.Fatal(err)
	}
	files, err := transcript.SubagentFiles(path)
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
		if f, found := transcript.FindSubagent(path, id); found != (want != "") || f.Name != want {
			t.Errorf("%q: %q, %v", id, f.Name, found)
		}
	}
	if files, err := transcript.SubagentFiles(filepath.Join(t.TempDir(), "none.jsonl")); len(files) > 0 || err != nil {
		t.Error(files, err)
	}
}

func TestAgentFileIsRead(t *testing.T) {
	t.Parallel()
	path := place(t, map[string]string{"s1/subagents/agent-a.jsonl": "{}\n"})
	f, _ := transcript.FindSubagent(path, "a")
	if f.IsRead(transcript.Cursor{}) {
		t.Error("nothing is read yet")
	}
	s, err := transcript.Read(t.Context(), f.Path, transcript.Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	if !f.IsRead(s.Cursor) {
		t.Error("the file is read to its end")
	}
}

// TestSubagentsOfOtherAgents: Gemini CLI stores subagents in a folder by the session's id, Codex
// among all sessions.
func TestSubagentsOfOtherAgents(t *testing.T) {
	t.Parallel()
	const id = "a1b2c3d4-0000-4000-8000-000000000000"
	dir := filepath.Dir(place(t, map[string]string{
		"chats/session-2026-11-22T13-18-034e00e6.jsonl":                                              "{}\n",
		"chats/034e00e6-3d17-4041-925f-49a69d6ce94b/" + id + ".jsonl":                                "{}\n",
		"sessions/2026/11/22/rollout-2026-11-22T23-59-27-01a20362-0f15-7670-a931-d4d4e2432364.jsonl": "{}\n",
		"sessions/2026/11/23/rollout-2026-11-23T00-00-12-" + id + ".jsonl":                           "{}\n",
	}))
	chat := filepath.Join(dir, "chats", "session-2026-11-22T13-18-034e00e6.jsonl")
	rollout := filepath.Join(dir, "sessions", "2026", "11", "22", "rollout-2026-11-22T23-59-27-01a20362-0f15-7670-a931-d4d4e2432364.jsonl")
	for _, path := range []string{chat, rollout} {
		f, found := transcript.FindSubagent(path, id)
		if !found || transcript.SubagentID(f.Name) != id {
			t.Errorf("%s: %+v, %v", path, f, found)
		}
		if f, found := transcript.FindSubagent(path, "b1b2c3d4-0000-4000-8000-000000000000"); found {
			t.Errorf("%s: another one is %+v", path, f)
		}
	}
	if files, err := transcript.SubagentFiles(chat); len(files) != 1 || err != nil {
		t.Errorf("Gemini CLI has %+v, %v", files, err)
	}
	if files, err := transcript.SubagentFiles(rollout); len(files) != 0 || err != nil {
		t.Errorf("Codex has %+v, %v", files, err)
	}
	if path := transcript.SubagentPath(rollout, id); path != "" {
		t.Errorf("Codex would have %s", path)
	}
}

// TestNoAgentMetaOfWorkingDirectory: Codex has no such record, and none is read from the
// working directory instead.
func TestNoAgentMetaOfWorkingDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("agent-a.meta.json", []byte(`{"toolUseId":"toolu_1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, ok := transcript.ReadSubagentMeta("/x/rollout-1.jsonl", "a"); ok {
		t.Errorf("%+v", got)
	}
}

func TestAgentMetaIsCheckedOnRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want transcript.SubagentMeta
	}{
		"whole":      {`{"agentType":"dev","description":"d","toolUseId":"toolu_1","spawnDepth":2}`, transcript.SubagentMeta{Type: "dev", Description: "d", ToolUse: "toolu_1"}},
		"no call":    {`{"agentType":"dev"}`, transcript.SubagentMeta{}},
		"leads out":  {`{"toolUseId":"../../x"}`, transcript.SubagentMeta{}},
		"other type": {`{"toolUseId":7}`, transcript.SubagentMeta{}},
		"cut":        {`{"toolUseId":"toolu_1"`, transcript.SubagentMeta{}},
		"too long":   {`{"pad":"` + strings.Repeat("x", 70<<10) + `","toolUseId":"toolu_1"}`, transcript.SubagentMeta{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := place(t, map[string]string{"s1/subagents/agent-a.meta.json": c.text})
			got, ok := transcript.ReadSubagentMeta(path, "a")
			if got != c.want || ok != (c.want.ToolUse != "") {
				t.Errorf("%+v, %v", got, ok)
			}
			if _, ok := transcript.ReadSubagentMeta(path, "../a"); ok {
				t.Error("an id that leads out")
			}
		})
	}
}
