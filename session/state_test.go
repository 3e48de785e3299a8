package session_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// full is a state with every field that other versions write, in their order
// and with their encoder's bytes.
const full = `{
  "session_id": "0a1b2c3d-0000-4000-8000-0123456789ab",
  "cli_version": "0.4.2",
  "base_commit": "1111111111111111111111111111111111111111",
  "attribution_base_commit": "2222222222222222222222222222222222222222",
  "worktree_path": "/src/a \u0026 b",
  "worktree_id": "side",
  "started_at": "2026-02-14T10:29:00.5+01:00",
  "ended_at": "2026-02-14T12:00:00Z",
  "phase": "ended",
  "turn_id": "00ff00ff00ff",
  "turn_checkpoint_ids": [
    "abcdef123456"
  ],
  "last_interaction_time": "2026-02-14T10:31:00.123456789+01:00",
  "checkpoint_count": 2,
  "checkpoint_transcript_start": 17,
  "untracked_files_at_start": [
    "README.md",
    "notes/never-there.txt"
  ],
  "files_touched": [
    "a.txt",
    "b \u003cnew\u003e.txt"
  ],
  "last_checkpoint_id": "abcdef123456",
  "agent_type": "Claude Code",
  "token_usage": {
    "input_tokens": 30,
    "cache_creation_tokens": 2300,
    "cache_read_tokens": 31000,
    "output_tokens": 65,
    "api_call_count": 2,
    "subagent_tokens": {
      "input_tokens": 1,
      "cache_creation_tokens": 2,
      "cache_read_tokens": 3,
      "output_tokens": 4,
      "api_call_count": 1
    }
  },
  "transcript_identifier_at_start": "uuid-9",
  "transcript_path": "/home/ada/.claude/projects/-src-a/0a1b2c3d.jsonl",
  "first_prompt": "Can you write done.txt?",
  "prompt_attributions": [
    {
      "checkpoint_number": 1,
      "user_lines_added": 3,
      "user_lines_removed": 0,
      "agent_lines_added": 5,
      "agent_lines_removed": 1,
      "user_added_per_file": {
        "a.txt": 3
      }
    }
  ],
  "pending_prompt_attribution": {
    "checkpoint_number": 2,
    "user_lines_added": 0,
    "user_lines_removed": 0,
    "agent_lines_added": 0,
    "agent_lines_removed": 0
  }
}
`

// least is the state that the auto-commit strategy of other versions writes.
const least = `{
  "session_id": "least",
  "base_commit": "",
  "started_at": "2026-02-14T09:30:00Z",
  "checkpoint_count": 0
}
`

func decode(t testing.TB, text string) *session.State {
	t.Helper()
	s, err := session.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func encode(t testing.TB, s *session.State) string {
	t.Helper()
	data, err := session.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestStateOfOtherVersionsKeepsItsBytes(t *testing.T) {
	t.Parallel()
	if d := cmp.Diff(full, encode(t, decode(t, full))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	// Only the phase is made explicit.
	want := strings.Replace(least, `  "checkpoint_count"`, "  \"phase\": \"idle\",\n  \"checkpoint_count\"", 1)
	if d := cmp.Diff(want, encode(t, decode(t, least))); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestStateFields(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		v, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	ended, last := at("2026-02-14T12:00:00Z"), at("2026-02-14T10:31:00.123456789+01:00")
	want := &session.State{
		ID: "0a1b2c3d-0000-4000-8000-0123456789ab", CLIVersion: "0.4.2",
		BaseCommit: strings.Repeat("1", 40), AttributionBase: strings.Repeat("2", 40),
		WorktreePath: "/src/a & b", WorktreeID: "side",
		StartedAt: at("2026-02-14T10:29:00.5+01:00"), EndedAt: &ended, LastInteraction: &last,
		Phase: session.Ended, TurnID: "00ff00ff00ff", TurnCheckpointIDs: []string{"abcdef123456"},
		CheckpointCount: 2, TranscriptStart: 17,
		UntrackedAtStart: []string{"README.md", "notes/never-there.txt"},
		FilesTouched:     []string{"a.txt", "b <new>.txt"},
		LastCheckpointID: "abcdef123456", AgentType: "Claude Code",
		TokenUsage: &session.Tokens{
			Input: 30, CacheCreation: 2300, CacheRead: 31000, Output: 65, Calls: 2,
			Subagents: &session.Tokens{Input: 1, CacheCreation: 2, CacheRead: 3, Output: 4, Calls: 1},
		},
		TranscriptIDAtStart: "uuid-9", TranscriptPath: "/home/ada/.claude/projects/-src-a/0a1b2c3d.jsonl",
		FirstPrompt: "Can you write done.txt?",
	}
	got := decode(t, full)
	ignore := cmpopts.IgnoreFields(session.State{}, "PromptAttributions", "PendingAttribution")
	if d := cmp.Diff(want, got, ignore, cmpopts.IgnoreUnexported(session.State{})); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestDeprecatedFieldsMigrate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields string
		want   int
	}{
		"condensed lines":           {`"condensed_transcript_lines": 12`, 12},
		"lines at start":            {`"transcript_lines_at_start": 9`, 9},
		"both":                      {`"condensed_transcript_lines": 9, "transcript_lines_at_start": 12`, 12},
		"the new field counts":      {`"checkpoint_transcript_start": 3, "condensed_transcript_lines": 12`, 3},
		"none":                      {`"checkpoint_count": 1`, 0},
		"of another type":           {`"condensed_transcript_lines": "12"`, 0},
		"null":                      {`"condensed_transcript_lines": null`, 0},
		"a new field that is zero":  {`"checkpoint_transcript_start": 0, "condensed_transcript_lines": 4`, 4},
		"a number that is too much": {`"condensed_transcript_lines": 1e300`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := decode(t, `{"session_id": "a", `+c.fields+`}`)
			if s.TranscriptStart != c.want {
				t.Errorf("begins at %d, want %d", s.TranscriptStart, c.want)
			}
			if text := encode(t, s); strings.Contains(text, "condensed_transcript_lines") || strings.Contains(text, "transcript_lines_at_start") {
				t.Errorf("a deprecated field survives:\n%s", text)
			}
		})
	}
}

func TestPhaseOfState(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]session.Phase{
		"active": session.Active, "active_committed": session.Active, "ended": session.Ended, "idle": session.Idle,
		"": session.Idle, "resting": session.Idle,
	} {
		if got := decode(t, `{"session_id": "a", "phase": "`+text+`"}`).Phase; got != want {
			t.Errorf("%q is read as %q", text, got)
		}
	}
}

func TestUnknownFieldsSurvive(t *testing.T) {
	t.Parallel()
	s := decode(t, `{"session_id":"a","later":{"b":[1.50,12345678901234567890],"<":null},"base_commit":"c","list":[]}`)
	s.CheckpointCount, s.FilesTouched = 7, []string{"x"}
	again := decode(t, encode(t, s))
	again.CheckpointCount = 8
	var got map[string]json.RawMessage
	if err := json.Unmarshal([]byte(encode(t, again)), &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"later": `{"b":[1.50,12345678901234567890],"<":null}`, "list": `[]`, "checkpoint_count": `8`, "files_touched": `["x"]`,
	} {
		var compact bytes.Buffer
		if err := json.Compact(&compact, got[key]); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		if text := strings.ReplaceAll(compact.String(), `\u003c`, "<"); text != want {
			t.Errorf("%s is %s, want %s", key, text, want)
		}
	}
}

// TestKnownFieldIsNotAlsoUnknown: the decoder treats a name that differs in case as the same
// field, which must not reappear with its old value.
func TestKnownFieldIsNotAlsoUnknown(t *testing.T) {
	t.Parallel()
	s := decode(t, `{"SESSION_ID": "a", "Files_Touched": ["x"], "\u212Aeep": 1}`)
	if !slices.Equal(s.FilesTouched, []string{"x"}) || s.ID != "a" {
		t.Fatalf("not read: %q %q", s.ID, s.FilesTouched)
	}
	s.Keep(nil)
	if again := decode(t, encode(t, s)); len(again.FilesTouched) > 0 {
		t.Errorf("%v came back", again.FilesTouched)
	}
}

func TestDamagedStates(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "{", "[]", `"text"`, `{"session_id": 1}`, `{"started_at": "yesterday"}`, `{"recorder": []}`, "\x00",
		`{"checkpoint_count": 1e99}`, strings.Repeat("[", 20_000), full[:len(full)/2],
	} {
		if _, err := session.Decode([]byte(text)); err == nil {
			t.Errorf("%.40q is read", text)
		}
	}
}

func TestRecorderSurvives(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 2, 14, 9, 30, 0, 123456789, time.UTC)
	s := decode(t, least)
	s.Recorder = session.Recorder{
		Agent:      session.Process{PID: 12, Start: 345},
		Background: true,
		Cursor:     transcript.Cursor{Offset: 1 << 40, Lines: 9, Device: 1, Inode: 1<<64 - 1, Tail: "0123456789abcdef"},
		Model:      "m-1",
		LastUUID:   "u",
		Turn: session.Turn{
			Start: start, Line: 3, Edits: []string{"/a"}, Timed: true, Prompts: []string{"p <q>"}, Summary: "s",
			Calls: []transcript.Call{{ID: "t", Tool: "Bash", Start: start, Open: true, Line: 4}},
		},
		Since:   map[string]int{"a": 3},
		Counted: session.Tokens{Input: 1}, CountedBefore: session.Tokens{Output: 2}, CountedIn: "abcdef123456",
		Applied: "0123456789ab", Prompts: 5, Usage: 24,
		Stored:     session.Segments{Raw: 6, Lines: 2, Closed: 1, Open: "o", OpenRaw: 4, Hash: []byte{0, 1, 255}},
		Incomplete: []string{"abcdef123456"},
	}
	got := decode(t, encode(t, s))
	if d := cmp.Diff(s.Recorder, got.Recorder); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if text := encode(t, decode(t, least)); strings.Contains(text, "recorder") {
		t.Errorf("an empty recorder is written:\n%s", text)
	}
}

func TestTouchedAndKeep(t *testing.T) {
	t.Parallel()
	s := &session.State{ID: "a"}
	s.Touch(nil)
	if s.FilesTouched != nil || s.Recorder.Since != nil {
		t.Errorf("nothing became %v %v", s.FilesTouched, s.Recorder.Since)
	}
	s.Recorder.Turn.Line = 3
	s.Touch([]string{"b", "a", "b"})
	s.Recorder.Turn.Line = 9
	s.Touch([]string{"c", "b"})
	want := &session.State{ID: "a", FilesTouched: []string{"a", "b", "c"}}
	want.Recorder.Turn.Line, want.Recorder.Since = 9, map[string]int{"a": 3, "b": 9, "c": 9}
	same := func(what string) {
		t.Helper()
		if d := cmp.Diff(want, s, cmpopts.IgnoreUnexported(session.State{}), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-want +got)\n%s", what, d)
		}
	}
	same("touched")
	s.Keep([]string{"never", "c", "a", "a"})
	want.FilesTouched, want.Recorder.Since = []string{"a", "c"}, map[string]int{"a": 3, "c": 9}
	same("keep")
	s.Keep(nil)
	want.FilesTouched, want.Recorder.Since = nil, nil
	same("keep nothing")
}

func TestRename(t *testing.T) {
	t.Parallel()
	var s session.State
	s.Recorder.Turn.Line = 7
	s.Touch([]string{"a", "m"})
	s.Rename("a", "z")
	s.Rename("none", "y")
	if want := []string{"m", "z"}; !slices.Equal(s.FilesTouched, want) {
		t.Errorf("got %v, want %v", s.FilesTouched, want)
	}
	if line, ok := s.Recorder.Since["z"]; !ok || line != 7 || len(s.Recorder.Since) != 2 {
		t.Errorf("since: %v", s.Recorder.Since)
	}
	s.Rename("z", "m")
	if want := []string{"m"}; !slices.Equal(s.FilesTouched, want) || len(s.Recorder.Since) != 1 {
		t.Errorf("got %v, want %v; since %v", s.FilesTouched, want, s.Recorder.Since)
	}
}

func TestPending(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state session.State
		want  bool
	}{
		"idle":                            {session.State{Phase: session.Idle}, true},
		"active":                          {session.State{Phase: session.Active}, true},
		"ended":                           {session.State{Phase: session.Ended}, false},
		"ended, with a file":              {session.State{Phase: session.Ended, FilesTouched: []string{"a"}}, true},
		"ended, with a checkpoint to end": {session.State{Phase: session.Ended, TurnCheckpointIDs: []string{"a"}}, true},
		"ended, with a transcript to store": {
			session.State{Phase: session.Ended, Recorder: session.Recorder{Incomplete: []string{"a"}}}, true,
		},
	} {
		if got := c.state.Pending(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	a := session.Tokens{Input: 1, CacheCreation: 2, CacheRead: 3, Output: 4, Calls: 5}
	b := session.Tokens{Input: 10, CacheCreation: 20, CacheRead: 30, Output: 40, Calls: 50}
	if d := cmp.Diff(session.Tokens{Input: 11, CacheCreation: 22, CacheRead: 33, Output: 44, Calls: 55}, a.Plus(b)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(b, a.Plus(b).Minus(a)); d != "" {
		t.Error(d)
	}
	if got := (&session.State{}).Total(); got != (session.Tokens{}) {
		t.Errorf("total of nothing: %+v", got)
	}
}

// FuzzDecode decodes any data: a decoded state is encoded and decoded to the same state.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		full, least, `{}`, `null`, `{"SESSION_ID":"a","x":1,"recorder":{"turn":{"edits":[]}}}`,
		`{"session_id":"\ud800","files_touched":["b","a","b",null],"prompt_attributions":null,"later":{"\u2028":-0.0}}`,
		`{"started_at":"9999-12-31T23:59:59.999999999-23:59","recorder":{"stored":{"hash":"AAEC"}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := session.Decode(data)
		if err != nil {
			return
		}
		once, err := session.Encode(s)
		if err != nil {
			t.Fatalf("read but not written: %v", err)
		}
		again, err := session.Decode(once)
		if err != nil {
			t.Fatalf("written but not read: %v\n%s", err, once)
		}
		twice, err := session.Encode(again)
		if err != nil {
			t.Fatal(err)
		}
		raw := cmpopts.IgnoreFields(session.State{}, "PromptAttributions", "PendingAttribution") // only their white space changes
		if d := cmp.Diff(s, again, cmpopts.IgnoreUnexported(session.State{}), cmpopts.EquateEmpty(), raw); d != "" {
			t.Fatalf("changed by a write and a read:\n%s", d)
		}
		settled, err := session.Encode(decode(t, string(twice)))
		if err != nil || !bytes.Equal(twice, settled) {
			t.Fatalf("never settles: %v\n%s\n%s", err, twice, settled)
		}
		for _, p := range again.FilesTouched {
			again.Touch([]string{p})
		}
		again.Keep(again.FilesTouched[:len(again.FilesTouched)/2])
		_ = again.Pending()
	})
}
