package sessionfile_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/sessionfile"
)

const (
	idA = "11111111-1111-4111-8111-111111111111"
	idB = "22222222-2222-4222-8222-222222222222"
)

// claude returns the lines of a session of Claude Code with one prompt.
func claude(id, dir string) string {
	return fmt.Sprintf(`{"type":"file-history-snapshot","messageId":"m","snapshot":{}}
{"type":"user","uuid":"u1-%[1]s","parentUuid":null,"sessionId":"%[1]s","cwd":"%[2]s","timestamp":"2026-03-01T10:00:00.000Z","message":{"role":"user","content":"Write it"}}
{"type":"assistant","uuid":"u2-%[1]s","sessionId":"%[1]s","cwd":"%[2]s","timestamp":"2026-03-01T10:05:00.000Z","message":{"id":"msg_1","model":"m","role":"assistant","content":[{"type":"text","text":"Done."}],"usage":{"input_tokens":7,"output_tokens":3}}}
`, id, dir)
}

func codex(id, dir string) string { return instructed(id, dir, 4000) }

// instructed returns the lines of a session of Codex with instructions of a length.
func instructed(id, dir string, instructions int) string {
	return fmt.Sprintf(`{"timestamp":"2026-03-01T10:00:00.000Z","type":"session_meta","payload":{"id":"%s","timestamp":"2026-03-01T10:00:00.000Z","cwd":"%s","originator":"codex-tui","cli_version":"0.140.0","source":"cli","base_instructions":{"text":"%s"}}}
{"timestamp":"2026-03-01T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Write it"}]}}
{"timestamp":"2026-03-01T10:00:01.000Z","type":"event_msg","payload":{"type":"user_message","message":"Write it"}}
{"timestamp":"2026-03-01T10:05:00.000Z","type":"event_msg","payload":{"type":"agent_message","message":"Done."}}
`, id, dir, strings.Repeat("You are an agent. ", instructions))
}

func copilot(id, dir string) string {
	return fmt.Sprintf(`{"type":"session.start","data":{"sessionId":"%s","version":1,"startTime":"2026-03-01T10:00:00.000Z","context":{"cwd":"%s"}},"id":"e1","timestamp":"2026-03-01T10:00:00.000Z","parentId":null}
{"type":"user.message","data":{"content":"Write it"},"id":"e2","timestamp":"2026-03-01T10:05:00.000Z","parentId":"e1"}
`, id, dir)
}

func gemini(id string) string {
	return fmt.Sprintf(`{"sessionId":"%s","projectHash":"h","startTime":"2026-03-01T10:00:00.000Z","lastUpdated":"2026-03-01T10:00:00.000Z","kind":"main"}
{"id":"g1","timestamp":"2026-03-01T10:05:00.000Z","type":"user","content":[{"text":"Write it"}]}
`, id)
}

func pi(id, dir string) string {
	return fmt.Sprintf(`{"type":"session","version":3,"id":"%s","timestamp":"2026-03-01T10:00:00.000Z","cwd":"%s"}
{"type":"message","id":"p1","parentId":null,"timestamp":"2026-03-01T10:05:00.000Z","message":{"role":"user","content":[{"type":"text","text":"Write it"}]}}
`, id, dir)
}

func qwen(id, dir string) string {
	return fmt.Sprintf(`{"uuid":"q1","parentUuid":null,"sessionId":"%[1]s","timestamp":"2026-03-01T10:00:00.000Z","type":"user","cwd":"%[2]s","message":{"role":"user","parts":[{"text":"Write it"}]}}
{"uuid":"q2","parentUuid":"q1","sessionId":"%[1]s","timestamp":"2026-03-01T10:05:00.000Z","type":"assistant","cwd":"%[2]s","message":{"role":"model","parts":[{"text":"Done."}]}}
`, id, dir)
}

const cursor = `{"role":"user","message":{"content":[{"type":"text","text":"<user_query>Write it</user_query>"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"Done."}]}}
`

func hashOf(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:])
}

// find returns the sessions as "agent id dir", and the skipped files as "name: reason".
func find(t *testing.T, q sessionfile.Query) (found, skipped []string) {
	t.Helper()
	files, skips, err := sessionfile.Find(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		found = append(found, strings.TrimSpace(f.Agent.Name+" "+f.ID+" "+f.Dir))
	}
	for _, s := range skips {
		skipped = append(skipped, filepath.Base(s.Path)+": "+s.Reason)
	}
	return found, skipped
}

func TestFind(t *testing.T) {
	t.Parallel()
	long := "/" + strings.Repeat("long/", 50) + "p"
	tests := map[string]struct {
		files         map[string]string // by their paths in the home directory
		roots         []string          // /p if it is empty
		want, skipped []string
	}{
		"Claude Code": {
			files: map[string]string{
				".claude/projects/-p/" + idA + ".jsonl":                           claude(idA, "/p"),
				".claude/projects/-p/" + idA + "/subagents/agent-1.jsonl":         claude(idA, "/p"),
				".claude/projects/-p/notes.md":                                    "x",
				".claude/projects/-p-sub-dir/" + idB + ".jsonl":                   claude(idB, "/p/sub/dir"),
				".claude/projects/-p-other/33333333.jsonl":                        claude("33333333", "/p-other"),
				".claude/projects/-q/44444444.jsonl":                              claude("44444444", "/p"), // never opened
				".claude/projects/-p/agent-5.jsonl":                               claude(idA, "/p"),
				".claude/projects/-p/66666666-6666-4666-8666-666666666666.jsonl":  `{"type":"summary","summary":"Of an earlier session","leafUuid":"x"}` + "\n",
				".claude/projects/-p/77777777-7777-4777-8777-777777777777.jsonl":  `{"type":"user","isMeta":true,"uuid":"u","sessionId":"7","cwd":"/p","timestamp":"2026-03-01T10:00:00Z","message":{"role":"user","content":"Caveat"}}` + "\n",
				".claude/projects/-p/a copy.jsonl":                                claude(idA, "/p"),
				".claude/projects/-p/.hidden.jsonl":                               claude(idA, "/p"),
				".claude/projects/-p/88888888-8888-4888-8888-888888888888.jsonl~": claude(idA, "/p"),
			},
			want: []string{"claude-code " + idA + " /p", "claude-code " + idA + " /p", "claude-code " + idB + " /p/sub/dir"},
		},
		"Claude Code, a folder with the same slug": {
			files: map[string]string{
				".claude/projects/-my-p/" + idA + ".jsonl": claude(idA, "/my/p"),
				".claude/projects/-my-p/" + idB + ".jsonl": claude(idB, "/my-p"),
			},
			roots: []string{"/my-p"},
			want:  []string{"claude-code " + idB + " /my-p"},
		},
		"Claude Code, a session that was continued here": {
			files: map[string]string{
				".claude/projects/-p/" + idB + ".jsonl": claude(idA, "/old") + claude(idB, "/p"),
				".claude/projects/-p/" + idA + ".jsonl": claude(idA, "/old"),
			},
			want: []string{"claude-code " + idB + " /old"},
		},
		"Claude Code, a long path": {
			files: map[string]string{
				".claude/projects/" + agent.ProjectSlug(long) + "/" + idA + ".jsonl":        claude(idA, long),
				".claude/projects/" + agent.ProjectSlug(long+"/sub") + "/" + idB + ".jsonl": claude(idB, long+"/sub"),
				".claude/projects/" + agent.ProjectSlug(long+"ue") + "/33333333.jsonl":      claude("33333333", long+"ue"),
			},
			roots: []string{long},
			want:  []string{"claude-code " + idA + " " + long, "claude-code " + idB + " " + long + "/sub"},
		},
		"Claude Code, no folder in the lines": {
			files: map[string]string{
				".claude/projects/-p/" + idA + ".jsonl":     claude(idA, ""),
				".claude/projects/-p-sub/" + idB + ".jsonl": claude(idB, ""),
			},
			want: []string{"claude-code " + idA},
		},
		"Codex": {
			files: map[string]string{
				".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-" + idA + ".jsonl": codex(idA, "/p/sub"),
				".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-01-other.jsonl":       codex("other", "/p-other"),
				".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-02-child.jsonl":       strings.Replace(codex("child", "/p"), `"source":"cli"`, `"source":{"subagent":{"thread_spawn":{"parent_thread_id":"`+idA+`"}}}`, 1),
				".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-03-guard.jsonl":       strings.Replace(codex("guard", "/p"), `"source":"cli"`, `"source":{"subagent":"review"}`, 1),
				".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-04-fork.jsonl":        codex("fork", "/p") + codex(idA, "/p/sub"),
				".codex/archived_sessions/rollout-2026-02-01T10-00-00-" + idB + ".jsonl":   codex(idB, "/p"),
				".codex/sessions/2026/03/01/session.jsonl":                                 codex("unnamed", "/p"),
				".codex/history.jsonl": codex("unnamed", "/p"),
			},
			want: []string{"codex " + idA + " /p/sub", "codex " + idB + " /p", "codex fork /p"},
		},
		"Codex, without envelopes": {
			files: map[string]string{
				".codex/sessions/2025/08/18/rollout-2025-08-18T01-16-13-" + idA + ".jsonl": bare(idA, "/p"),
				".codex/sessions/2025/08/18/rollout-2025-08-18T01-16-14-" + idB + ".jsonl": bare(idB, "/q"),
			},
			want: []string{"codex " + idA + " /p"},
		},
		"Copilot CLI": {
			files: map[string]string{
				".copilot/session-state/" + idA + "/events.jsonl":     copilot(idA, "/p"),
				".copilot/session-state/" + idB + ".jsonl":            copilot(idB, "/p/sub"),
				".copilot/session-state/other/events.jsonl":           copilot("other", "/q"),
				".copilot/session-state/" + idA + "/files/made.jsonl": copilot("made", "/p"),
				".copilot/session-state/named/events.jsonl":           copilot("named", ""),
				".copilot/session-state/named/workspace.yaml":         "id: named\ncwd: /p\n",
			},
			want: []string{"copilot " + idA + " /p", "copilot " + idB + " /p/sub", "copilot named /p"},
		},
		"Cursor": {
			files: map[string]string{
				".cursor/projects/p/agent-transcripts/" + idA + ".jsonl":               cursor,
				".cursor/projects/p/agent-transcripts/" + idB + "/" + idB + ".jsonl":   cursor,
				".cursor/projects/p/agent-transcripts/" + idB + "/subagents/sub.jsonl": cursor,
				".cursor/projects/p-other/agent-transcripts/other.jsonl":               cursor,
			},
			want: []string{"cursor " + idA, "cursor " + idB},
		},
		"Gemini CLI": {
			files: map[string]string{
				".gemini/projects.json": `{"projects":{"/p":"name","/p/sub":"name-1","/q":"name-2"}}`,
				".gemini/tmp/name/chats/session-2026-03-01T10-00-11111111.jsonl":                gemini(idA),
				".gemini/tmp/name-1/chats/session-2026-03-01T10-00-22222222.jsonl":              gemini(idB),
				".gemini/tmp/name-2/chats/session-2026-03-01T10-00-33333333.jsonl":              gemini("other"),
				".gemini/tmp/name-3/chats/session-2026-03-01T10-00-33333333.jsonl":              gemini("named"),
				".gemini/tmp/name-3/.project_root":                                              "/p\n",
				".gemini/tmp/" + hashOf("/p") + "/chats/session-2025-09-01T10-00-44444444.json": geminiDocument("early"),
				".gemini/tmp/" + hashOf("/q") + "/chats/session-2025-09-01T10-00-44444444.json": geminiDocument("other"),
				".gemini/tmp/name/chats/session-2026-03-01T10-00-11111111.json":                 geminiDocument("copied"),
				".gemini/tmp/name/logs.json":                                                    `[]`,
				".gemini/tmp/name/chats/" + idA + "/sub.jsonl":                                  strings.Replace(gemini("sub"), "main", "subagent", 1),
				".gemini/tmp/name/chats/session-2026-03-01T10-01-55555555.jsonl":                strings.Replace(gemini("sub"), "main", "subagent", 1),
			},
			want: []string{"gemini early /p", "gemini " + idA + " /p", "gemini " + idB + " /p/sub", "gemini named /p"},
		},
		"Pi": {
			files: map[string]string{
				".pi/agent/sessions/--my-p--/2026-03-01T10-00-00-000Z_" + idA + ".jsonl":     pi(idA, "/my/p"),
				".pi/agent/sessions/--my-p-sub--/2026-03-01T10-00-00-000Z_" + idB + ".jsonl": pi(idB, "/my/p/sub"),
				".pi/agent/sessions/--my-p--/2026-03-01T10-00-00-000Z_same.jsonl":            pi("same", "/my-p"),
				".pi/agent/sessions/--my-p-q--/2026-03-01T10-00-00-000Z_other.jsonl":         pi("other", "/my/p-q"),
			},
			roots: []string{"/my/p"},
			want:  []string{"pi " + idA + " /my/p", "pi " + idB + " /my/p/sub"},
		},
		"Qwen Code": {
			files: map[string]string{
				".qwen/projects/-p/chats/" + idA + ".jsonl":                    qwen(idA, "/p"),
				".qwen/projects/-p-sub/chats/" + idB + ".jsonl":                qwen(idB, "/p/sub"),
				".qwen/projects/-p/subagents/" + idA + "/agent-1.jsonl":        qwen(idA, "/p"),
				".qwen/projects/-p/chats/33333333.jsonl":                       qwen("33333333", "/q"),
				".qwen/projects/-p/chats/44444444.jsonl/a folder of that name": "x",
			},
			want: []string{"qwen " + idA + " /p", "qwen " + idB + " /p/sub"},
		},
		"several roots": {
			files: map[string]string{
				".claude/projects/-p/" + idA + ".jsonl": claude(idA, "/p"),
				".claude/projects/-q/" + idB + ".jsonl": claude(idB, "/q"),
			},
			roots: []string{"/q", "/p", "/p/sub/", "/p"},
			want:  []string{"claude-code " + idA + " /p", "claude-code " + idB + " /q"},
		},
		"files that can't be read": {
			files: map[string]string{
				".claude/projects/-p/" + idA + ".jsonl":                              claude(idA, "/p"),
				".claude/projects/-p/empty.jsonl":                                    "",
				".claude/projects/-p/no JSON.jsonl":                                  "some text\nof two lines\n",
				".claude/projects/-p/cut.jsonl":                                      `{"type":"user","uu`,
				".claude/projects/-p/zeros.jsonl":                                    strings.Repeat("\x00", 5000),
				".claude/projects/-p/no gzip.jsonl.gz":                               claude(idA, "/p"),
				".claude/projects/-p/no zstd.jsonl.zst":                              claude(idA, "/p"),
				".claude/projects/-p/cut 1.jsonl.gz":                                 gzipped(claude(idA, "/p"))[:100],
				".claude/projects/-p/cut 2.jsonl.zst":                                zstandard(claude(idA, "/p"))[:50],
				".claude/projects/-p/array.jsonl":                                    "[1, 2]\n",
				".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-empty.jsonl": "",
			},
			want: []string{"claude-code " + idA + " /p"},
			skipped: []string{
				"array.jsonl: none of its lines is a JSON object",
				"cut 1.jsonl.gz: its compressed content is cut off",
				"cut 2.jsonl.zst: its compressed content is cut off",
				"cut.jsonl: none of its lines is a JSON object",
				"empty.jsonl: it is empty",
				"no JSON.jsonl: none of its lines is a JSON object",
				"no gzip.jsonl.gz: its compressed content is damaged: gzip: invalid header",
				"no zstd.jsonl.zst: its compressed content is damaged: invalid input: magic number mismatch",
				"zeros.jsonl: none of its lines is a JSON object",
				"rollout-2026-03-01T10-00-00-empty.jsonl: it is empty",
			},
		},
		"damaged lines among others": {
			files: map[string]string{
				".claude/projects/-p/" + idA + ".jsonl": "no JSON\n\n\x00\x00\x00\n{\"type\":\n" + claude(idA, "/p") + `{"type":"user","uuid":"cut`,
			},
			want: []string{"claude-code " + idA + " /p"},
		},
		"compressed": {
			files: map[string]string{
				".claude/projects/-p/" + idA + ".jsonl.gz":                                     gzipped(claude(idA, "/p")),
				".claude/projects/-p/" + idB + ".jsonl.zst":                                    zstandard(claude(idB, "/p")),
				".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-a.jsonl.zst":           zstandard(codex("a", "/p")),
				".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-b.jsonl.zst":           "the agent has uncompressed it",
				".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-b.jsonl":               codex("b", "/p"),
				".codex/archived_sessions/rollout-2026-03-01T10-00-00-c.jsonl.gz":              gzipped(codex("c", "/p")),
				".copilot/session-state/d/events.jsonl.gz":                                     gzipped(copilot("d", "/p")),
				".gemini/tmp/" + hashOf("/p") + "/chats/session-2025-09-01T10-00-e.json.gz":    gzipped(geminiDocument("e")),
				".qwen/projects/-p/chats/f.jsonl.zst":                                          zstandard(qwen("f", "/p")),
				".pi/agent/sessions/--p--/2026-03-01T10-00-00-000Z_g.jsonl.gz":                 gzipped(pi("g", "/p")),
				".cursor/projects/p/agent-transcripts/h.jsonl.gz":                              gzipped(cursor),
				".gemini/tmp/" + hashOf("/p") + "/chats/session-2025-09-01T10-00-i.jsonl.zst":  zstandard(gemini("i")),
				".gemini/tmp/" + hashOf("/q") + "/chats/session-2025-09-01T10-00-i2.jsonl.zst": zstandard(gemini("i2")),
			},
			want: []string{
				"cursor h", "gemini e /p", "claude-code " + idA + " /p", "claude-code " + idB + " /p",
				"codex a /p", "codex b /p", "codex c /p", "copilot d /p", "qwen f /p", "pi g /p", "gemini i /p",
			},
		},
		"nothing": {},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for path, text := range tt.files {
				write(t, filepath.Join(home, path), text)
			}
			if tt.roots == nil {
				tt.roots = []string{"/p"}
			}
			found, skipped := find(t, query(home, tt.roots...))
			byID := func(a, b string) int { // the times are tested elsewhere
				return strings.Compare(a[strings.IndexByte(a, ' '):]+a, b[strings.IndexByte(b, ' '):]+b)
			}
			slices.SortFunc(found, byID)
			slices.SortFunc(tt.want, byID)
			if d := cmp.Diff(tt.want, found); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.skipped, skipped); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestFolders finds the stores by the variables of the agents.
func TestFolders(t *testing.T) {
	t.Parallel()
	for variable, path := range map[string]string{
		"CLAUDE_CONFIG_DIR":              "projects/-p/" + idA + ".jsonl",
		"ENTIRE_TEST_CLAUDE_PROJECT_DIR": idA + ".jsonl",
		"CODEX_HOME":                     "sessions/2026/03/01/rollout-2026-03-01T10-00-00-" + idA + ".jsonl",
		"COPILOT_HOME":                   "session-state/" + idA + "/events.jsonl",
		"PI_CODING_AGENT_DIR":            "sessions/--p--/2026-03-01T10-00-00-000Z_" + idA + ".jsonl",
		"XDG_DATA_HOME":                  "opencode/storage/session/p/ses_1.json",
	} {
		t.Run(variable, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			text := map[string]string{"CODEX_HOME": codex(idA, "/p"), "COPILOT_HOME": copilot(idA, "/p"), "PI_CODING_AGENT_DIR": pi(idA, "/p"), "XDG_DATA_HOME": `{"id":"ses_1","directory":"/p","time":{"created":1,"updated":2}}`}[variable]
			if text == "" {
				text = claude(idA, "/p")
			}
			write(t, filepath.Join(dir, path), text)
			if variable == "XDG_DATA_HOME" {
				write(t, filepath.Join(dir, "opencode/storage/message/ses_1/msg_1.json"), `{"role":"user"}`)
			}
			q := query("", "/p")
			q.Getenv = func(name string) string {
				if name == variable {
					return dir
				}
				return ""
			}
			if found, skipped := find(t, q); len(found) != 1 || len(skipped) > 0 {
				t.Error(found, skipped)
			}
		})
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for id, hour := range map[string]string{idA: "10", idB: "12"} {
		write(t, filepath.Join(home, ".claude/projects/-p", id+".jsonl"), strings.ReplaceAll(claude(id, "/p"), "T10:", "T"+hour+":"))
	}
	write(t, filepath.Join(home, ".qwen/projects/-p/chats", idA+".jsonl"), qwen(idA, "/p"))
	tests := map[string]struct {
		change func(*sessionfile.Query)
		want   []string
	}{
		"all":                {func(*sessionfile.Query) {}, []string{"claude-code " + idA + " /p", "qwen " + idA + " /p", "claude-code " + idB + " /p"}},
		"one agent":          {func(q *sessionfile.Query) { q.Agents = []agent.Agent{agent.Qwen()} }, []string{"qwen " + idA + " /p"}},
		"one id":             {func(q *sessionfile.Query) { q.Session = idB }, []string{"claude-code " + idB + " /p"}},
		"since its end":      {func(q *sessionfile.Query) { q.Since = time.Date(2026, 3, 1, 12, 5, 0, 0, time.UTC) }, []string{"claude-code " + idB + " /p"}},
		"since after all":    {func(q *sessionfile.Query) { q.Since = time.Date(2026, 3, 1, 12, 5, 1, 0, time.UTC) }, nil},
		"no home, no roots":  {func(q *sessionfile.Query) { q.Home = "" }, nil},
		"a relative root":    {func(q *sessionfile.Query) { q.Roots = []string{"p"} }, nil},
		"an unwritten store": {func(q *sessionfile.Query) { q.Since = time.Now().Add(time.Hour) }, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := query(home, "/p")
			tt.change(&q)
			found, skipped := find(t, q)
			if d := cmp.Diff(tt.want, found); d != "" || len(skipped) > 0 {
				t.Error(d, skipped)
			}
		})
	}
}

// TestSpecialFiles: nothing but regular files is opened, and links are not followed.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	project := filepath.Join(home, ".claude/projects/-p")
	write(t, filepath.Join(project, idA+".jsonl"), claude(idA, "/p"))
	write(t, filepath.Join(home, "elsewhere", idB+".jsonl"), claude(idB, "/p"))
	if err := os.Symlink(filepath.Join(home, "elsewhere", idB+".jsonl"), filepath.Join(project, idB+".jsonl")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(home, "elsewhere"), filepath.Join(home, ".claude/projects/-p-linked")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(project, "pipe.jsonl"), 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
	write(t, filepath.Join(project, "secret.jsonl"), claude(idB, "/p"))
	if err := os.Chmod(filepath.Join(project, "secret.jsonl"), 0); err != nil {
		t.Fatal(err)
	}
	want := []string{idB + ".jsonl: it is a symbolic link", "pipe.jsonl: it is not a regular file"}
	if os.Geteuid() != 0 {
		want = append(want, "secret.jsonl: permission denied")
	}
	found, skipped := find(t, query(home, "/p"))
	if os.Geteuid() == 0 {
		found = slices.DeleteFunc(found, func(f string) bool { return strings.Contains(f, idB) })
	}
	if d := cmp.Diff([]string{"claude-code " + idA + " /p"}, found); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, skipped); d != "" {
		t.Error(d)
	}
	if _, err := sessionfile.Open(t.Context(), filepath.Join(project, "pipe.jsonl"), agent.Agent{}); err == nil {
		t.Error("a pipe was opened")
	}
	if f, err := sessionfile.Open(t.Context(), filepath.Join(project, idB+".jsonl"), agent.Agent{}); err != nil || f.ID != idB {
		t.Error("a person may name a link:", f, err)
	}
}

// TestLinkedRoot: the root may be a link, or be within one.
func TestLinkedRoot(t *testing.T) {
	t.Parallel()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	target, link := filepath.Join(home, "real"), filepath.Join(home, "link")
	write(t, filepath.Join(target, "sub", "x"), "")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, ".claude/projects", agent.ProjectSlug(target), idA+".jsonl"), claude(idA, target))
	write(t, filepath.Join(home, ".claude/projects", agent.ProjectSlug(link), idB+".jsonl"), claude(idB, link))
	write(t, filepath.Join(home, ".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-linked.jsonl"), codex("linked", link+"/sub"))
	both := []string{"claude-code " + idA + " " + target, "claude-code " + idB + " " + link, "codex linked " + link + "/sub"}
	if found, _ := find(t, query(home, link)); cmp.Diff(both, found) != "" {
		t.Error(cmp.Diff(both, found))
	}
	if found, _ := find(t, query(home, target)); cmp.Diff([]string{both[0], both[2]}, found) != "" {
		t.Error(found)
	}
}

// TestFileTimes: Cursor records no times, so those of the file are taken.
func TestFileTimes(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, ".cursor/projects/p/agent-transcripts", idA+".jsonl")
	begin := time.Now().Add(-time.Minute)
	write(t, path, cursor)
	modified := begin.Add(time.Hour)
	for _, modified := range []time.Time{modified, begin.Add(-time.Hour)} { // the latter if it is a copy
		if err := os.Chtimes(path, time.Time{}, modified); err != nil {
			t.Fatal(err)
		}
		files, _, err := sessionfile.Find(t.Context(), query(home, "/p"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		f := files[0]
		if !f.End.Equal(modified) || f.Start.After(f.End) || modified.After(begin) && f.Start.Before(begin) {
			t.Error(f.Start, f.End)
		}
	}
}

func TestStamp(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, ".claude/projects/-p", idA+".jsonl")
	stamp := func() string {
		t.Helper()
		files, _, err := sessionfile.Find(t.Context(), query(home, "/p"))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		return files[0].Stamp
	}
	write(t, path, claude(idA, "/p"))
	first := stamp()
	if stamp() != first {
		t.Error("the stamp of an unchanged file changed")
	}
	write(t, path, claude(idA, "/p")+claude(idA, "/p"))
	if stamp() == first {
		t.Error("the file grew")
	}
	write(t, path, claude(idA, "/p"))
	if err := os.Chtimes(path, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if stamp() == first {
		t.Error("the file was written again")
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const n = 50
	for i := range n {
		write(t, filepath.Join(home, fmt.Sprintf(".claude/projects/-p/%d.jsonl", i)), claude(strconv.Itoa(i), "/p"))
	}
	q := query(home, "/p")
	var last, calls int
	q.Progress = func(done, total int) {
		if calls++; total != n || done != last+1 {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}
	if found, _ := find(t, q); len(found) != n || calls != n {
		t.Error(len(found), calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := sessionfile.Find(ctx, q); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestManyFiles finds 10,000 sessions, those of other projects among them.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	generate(t, home, 40)
	found, skipped := find(t, query(home, "/p"))
	if len(found) != 7000 || len(skipped) > 0 {
		t.Error(len(found), skipped)
	}
}

// generate writes 10,000 session files, 7,000 of them of sessions in /p.
func generate(t testing.TB, home string, instructions int) {
	t.Helper()
	put := func(path, text string) {
		if err := os.WriteFile(filepath.Join(home, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{".claude/projects/-p", ".claude/projects/-q", ".codex/sessions/2026/03/01", ".codex/sessions/2026/03/02"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5000 {
		put(fmt.Sprintf(".claude/projects/-p/%d.jsonl", i), claude(strconv.Itoa(i), "/p"))
	}
	for i := range 1000 {
		put(fmt.Sprintf(".claude/projects/-q/%d.jsonl", i), claude(strconv.Itoa(i), "/q"))
	}
	for i := range 4000 {
		dir := []string{"/p", "/q"}[i%2]
		put(fmt.Sprintf(".codex/sessions/2026/03/0%d/rollout-2026-03-01T10-00-00-%d.jsonl", 1+i%2, i), instructed(strconv.Itoa(i), dir, instructions))
	}
}

func BenchmarkFind(b *testing.B) {
	home := b.TempDir()
	generate(b, home, 4000)
	q := query(home, "/p")
	for b.Loop() {
		if _, _, err := sessionfile.Find(b.Context(), q); err != nil {
			b.Fatal(err)
		}
	}
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // can't fail in memory
	_ = w.Close()
	return b.String()
}

func zstandard(text string) string {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return string(w.EncodeAll([]byte(text), nil))
}
