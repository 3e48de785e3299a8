package agenthook_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/session/agent"
)

// done fails the test on an error, and reports whether the file was changed.
func done(tb testing.TB) func(changed bool, err error) bool {
	tb.Helper()
	return func(changed bool, err error) bool {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return changed
	}
}

func asks(tb testing.TB, s agenthook.Settings) int {
	tb.Helper()
	n, all, err := s.Asking()
	if err != nil || all != (n == 2) {
		tb.Fatalf("%d, all %v: %v", n, all, err)
	}
	return n
}

const freshAsking = `{
  "hooks": {
    "SessionEnd": [
      {
        "matcher": "clear",
        "hooks": [
          {
            "type": "mcp_tool",
            "server": "entire",
            "tool": "checkpoint_before_clear",
            "input": {
              "session_id": "${session_id}",
              "prompt_id": "${prompt_id}",
              "transcript_path": "${transcript_path}",
              "cwd": "${cwd}"
            },
            "timeout": 45
          }
        ]
      }
    ],
    "SessionStart": [
      {
        "matcher": "clear",
        "hooks": [
          {
            "type": "mcp_tool",
            "server": "entire",
            "tool": "checkpoint_after_clear",
            "input": {
              "session_id": "${session_id}",
              "prompt_id": "${prompt_id}",
              "transcript_path": "${transcript_path}",
              "cwd": "${cwd}"
            },
            "timeout": 45
          }
        ]
      }
    ]
  }
}
`

const freshServer = `{
  "mcpServers": {
    "entire": {
      "type": "stdio",
      "command": "entire",
      "args": [
        "mcp"
      ]
    }
  }
}
`

func TestInstallAskingCreatesMissingFile(t *testing.T) {
	t.Parallel()
	s := place(t, "")
	if !done(t)(s.InstallAsking()) || asks(t, s) != 2 {
		t.Error("not installed")
	}
	if diff := cmp.Diff(freshAsking, read(t, s.Path)); diff != "" {
		t.Error(diff)
	}
	if done(t)(s.InstallAsking()) {
		t.Error("changed again")
	}
	if n, missing, err := s.Check(); n != 0 || len(missing) == 0 || err != nil {
		t.Errorf("counts as %d hooks: %v", n, err)
	}
	done(t)(s.RemoveAsking())
	if _, err := os.Stat(filepath.Dir(s.Path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
}

func TestDocumentShowsExtras(t *testing.T) {
	t.Parallel()
	doc := read(t, "../../docs/formats/hooks.md")
	for _, text := range []string{freshAsking, freshServer} {
		if !strings.Contains(doc, "```json\n"+text+"```\n") {
			t.Errorf("docs/formats/hooks.md lacks\n%s", text)
		}
	}
}

// TestExtrasKeepUserBytes: the user's settings survive any order of installing and
// removing.
func TestExtrasKeepUserBytes(t *testing.T) {
	t.Parallel()
	all := texts()
	all["a status line"] = "{\n  \"statusLine\": { \"type\": \"command\", \"command\": \"a \\\"b\\\"\", \"padding\": 0 }, // mine\n}\n"
	all["another status line"] = `{"statusLine": {"type": "later"}}`
	all["an odd status line"] = `{"statusLine": [1, /* two */ 2]}`
	all["hooks of other kinds"] = `{"hooks": {"SessionEnd": [{"matcher": "clear", "hooks": [
  {"type": "mcp_tool", "server": "entire", "tool": "checkpoint_save"},
  {"type": "mcp_tool", "server": "other", "tool": "checkpoint_before_clear", "input": {}},
  {"type": "http", "url": "http://127.0.0.1/"}, {"type": "prompt", "prompt": "x"}, {"type": "agent"}, {"type": "later", "x": [1]}, 7 ]}]}}`
	for name, text := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := place(t, text)
			done(t)(s.InstallAsking())
			install(t, s)
			done(t)(s.InstallStatusLine())
			if _, _, ours, err := s.StatusLine(); !ours || err != nil || asks(t, s) != 2 {
				t.Errorf("not installed: %v in\n%s", err, read(t, s.Path))
			}
			done(t)(s.RemoveAsking())
			if n, _, err := s.Check(); n != 13 || err != nil || asks(t, s) != 0 {
				t.Errorf("%d hooks, %v", n, err)
			}
			done(t)(s.RemoveStatusLine())
			if _, _, ours, err := s.StatusLine(); ours || err != nil {
				t.Errorf("still there: %v", err)
			}
			done(t)(s.InstallAsking())
			done(t)(s.InstallStatusLine())
			installed := read(t, s.Path)
			uninstall(t, s)
			if diff := cmp.Diff(text, read(t, s.Path)); diff != "" {
				t.Error(diff)
			}
			if strings.TrimSpace(text) == "" {
				return
			}
			// If the user has written too, only our entries are removed.
			write(t, s.Path, strings.TrimPrefix(text, "\uFEFF"))
			done(t)(s.InstallStatusLine())
			done(t)(s.InstallAsking())
			write(t, s.Path, read(t, s.Path)+"\n")
			uninstall(t, s)
			if diff := cmp.Diff(value(t, text), value(t, read(t, s.Path))); diff != "" {
				t.Error(diff)
			}
			value(t, installed)
		})
	}
}

func TestFormerStatusLine(t *testing.T) {
	t.Parallel()
	s := place(t, `{"statusLine": {"type": "command", "command": "mine --x", "padding": 2}}`)
	check := func(command, former string, ours bool) {
		t.Helper()
		c, f, o, err := s.StatusLine()
		if c != command || f != former || o != ours || err != nil {
			t.Errorf("%q, %q, %v, %v", c, f, o, err)
		}
	}
	check("mine --x", "", false)
	done(t)(s.InstallStatusLine())
	check("entire statusline", "mine --x", true)
	if got := read(t, s.Path); !strings.Contains(got, `"padding": 2`) {
		t.Errorf("lost: %s", got)
	}
	if done(t)(s.InstallStatusLine()) {
		t.Error("changed again")
	}
	// The user has changed the file since the installation, and then the line.
	write(t, s.Path, read(t, s.Path)+" ")
	done(t)(s.RemoveStatusLine())
	check("mine --x", "", false)
	done(t)(s.InstallStatusLine())
	write(t, s.Path, `{"statusLine": {"type": "command", "command": "another"}}`)
	uninstall(t, s)
	check("another", "", false)
	// Without a record our line is removed, and nothing is left.
	done(t)(s.InstallStatusLine())
	forget(t, s)
	check("entire statusline", "", true)
	done(t)(s.RemoveStatusLine())
	check("", "", false)
	// The former line of a removed file doesn't apply to the next file.
	write(t, s.Path, `{"statusLine": {"type": "command", "command": "old"}}`)
	done(t)(s.InstallStatusLine())
	write(t, s.Path, `{"a": 1}`)
	done(t)(s.InstallStatusLine())
	check("entire statusline", "", true)
	uninstall(t, s)
	if got := read(t, s.Path); got != `{"a": 1}` {
		t.Errorf("got %q", got)
	}
}

func TestAskingUpdateKeepsUserTimeout(t *testing.T) {
	t.Parallel()
	older := `{"hooks": {"SessionEnd": [{"matcher": "clear", "hooks": [
  {"type": "mcp_tool", "server": "entire", "tool": "checkpoint_before_clear", "input": {"session": "x"}, "timeout": 59},
  {"type": "mcp_tool", "server": "entire", "tool": "checkpoint_before_clear"}]}]}}`
	s := place(t, older)
	install(t, s)
	if asks(t, s) != 1 {
		t.Error("installing hooks added questions")
	}
	got := read(t, s.Path)
	for text, n := range map[string]int{`"timeout": 59`: 1, "checkpoint_before_clear": 1, "${prompt_id}": 1, `"session"`: 0} {
		if strings.Count(got, text) != n {
			t.Errorf("%q is there %d times in\n%s", text, strings.Count(got, text), got)
		}
	}
	if !done(t)(s.InstallAsking()) || asks(t, s) != 2 {
		t.Error("not completed")
	}
}

func TestInstallKeepsUserTimeout(t *testing.T) {
	t.Parallel()
	s := place(t, `{"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": "entire hooks claude-code session-end", "timeout": 3}]}]}}`)
	install(t, s)
	if got := read(t, s.Path); strings.Contains(got, `"timeout": 10`) || !strings.Contains(got, `"timeout": 3`) {
		t.Error(got)
	}
}

func servers(tb testing.TB, text string) agenthook.Servers {
	tb.Helper()
	return serversOf(tb, agent.ClaudeCode(), text)
}

func serversOf(tb testing.TB, a agent.Agent, text string) agenthook.Servers {
	tb.Helper()
	root := tb.TempDir()
	p := agenthook.Servers{Agent: a, Path: agenthook.ServersFile(a, root), Backup: filepath.Join(root, ".git", "entire", "backup")}
	if text != "" {
		write(tb, p.Path, text)
	}
	return p
}

func TestProjectServers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"no file":          {"", freshServer},
		"empty":            {"{}\n", freshServer},
		"others":           {"{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}", `{"mcpServers": {"a": {"command": "x"},"entire":{"type":"stdio","command":"entire","args":["mcp"]}}}`},
		"tabs and comment": {"{\n\t// ours\n\t\"mcpServers\": {\n\t}\n}\n", "{\n\t// ours\n\t\"mcpServers\": {\n\t\t\"entire\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"entire\",\n\t\t\t\"args\": [\n\t\t\t\t\"mcp\"\n\t\t\t]\n\t\t}\n\t}\n}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := servers(t, c.text)
			done(t)(p.Install())
			if diff := cmp.Diff(c.want, read(t, p.Path)); diff != "" {
				t.Error(diff)
			}
			if s, found, err := p.Server(); !found || !s.IsOurs() || err != nil {
				t.Errorf("%+v, %v, %v", s, found, err)
			}
			if done(t)(p.Install()) {
				t.Error("changed again")
			}
			done(t)(p.Uninstall())
			if c.text == "" {
				if _, err := os.Stat(p.Path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("left behind: %v", err)
				}
				return
			}
			if diff := cmp.Diff(c.text, read(t, p.Path)); diff != "" {
				t.Error(diff)
			}
			done(t)(p.Install())
			write(t, p.Path, read(t, p.Path)+"\n")
			done(t)(p.Uninstall())
			if diff := cmp.Diff(value(t, c.text), value(t, read(t, p.Path))); diff != "" && name != "empty" {
				t.Error(diff)
			}
		})
	}
}

func TestForeignServerOfSameNameStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"mcpServers": {"entire": {"command": "theirs"}}}`, `{"mcpServers": {"entire": {"command": "entire", "args": ["serve"]}}}`,
		`{"mcpServers": {"entire": null}}`, `{"mcpServers": []}`, `{"mcpServers": {`, `[]`,
	} {
		p := servers(t, text)
		if _, err := p.Install(); err == nil {
			t.Errorf("%s: installed", text)
		}
		_, _ = p.Uninstall()
		if got := read(t, p.Path); got != text {
			t.Errorf("got %s", got)
		}
	}
}

func FuzzExtras(f *testing.F) {
	for _, text := range texts() {
		f.Add(text)
	}
	f.Add(freshAsking)
	f.Add(freshServer)
	f.Add(`{"statusLine":{"type":"command","command":"x"},"mcpServers":{"entire":7},"hooks":{"SessionEnd":[{"hooks":[{"type":"mcp_tool"}]}]}}`)
	f.Add(`{"statusLine":/*a*/"x"//b` + "\n}")
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" || strings.Contains(text, "entire") {
			return
		}
		s := place(t, text)
		for _, step := range []func() (bool, error){s.InstallStatusLine, s.InstallAsking, s.RemoveStatusLine, s.InstallStatusLine, s.RemoveAsking, s.InstallAsking} {
			before := read(t, s.Path)
			if _, err := step(); err != nil {
				if after := read(t, s.Path); after != before {
					t.Fatalf("failed (%v) and changed the file", err)
				}
				return
			}
			value(t, read(t, s.Path))
		}
		uninstall(t, s)
		if got := read(t, s.Path); got != text {
			t.Fatalf("got %q, want %q", got, text)
		}
		p := servers(t, text)
		if _, err := p.Install(); err != nil {
			return
		}
		done(t)(p.Uninstall())
		if got := read(t, p.Path); got != text {
			t.Fatalf("got %q, want %q", got, text)
		}
	})
}
