package agenthook_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"

	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/internal/jsonedit"
)

// place creates settings with the given text ("" = no file) in a new worktree.
func place(tb testing.TB, text string) agenthook.Settings {
	tb.Helper()
	root := tb.TempDir()
	s := agenthook.Settings{
		Path:   filepath.Join(root, ".claude", "settings.json"),
		Backup: filepath.Join(root, ".git", "entire", "settings"),
	}
	if text != "" {
		write(tb, s.Path, text)
	}
	return s
}

func write(tb testing.TB, path, text string) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}

func read(tb testing.TB, path string) string {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

func install(tb testing.TB, s agenthook.Settings) (n int, changed bool) {
	tb.Helper()
	n, changed, err := s.Install()
	if err != nil {
		tb.Fatal(err)
	}
	return n, changed
}

func uninstall(tb testing.TB, s agenthook.Settings) {
	tb.Helper()
	if _, err := s.Uninstall(); err != nil {
		tb.Fatal(err)
	}
}

// forget removes the record, so that Uninstall has only the file.
func forget(tb testing.TB, s agenthook.Settings) {
	tb.Helper()
	if err := os.RemoveAll(s.Backup); err != nil {
		tb.Fatal(err)
	}
}

// value decodes a JWCC text.
func value(tb testing.TB, text string) any {
	tb.Helper()
	standard, err := hujson.Standardize([]byte(strings.TrimPrefix(text, "\uFEFF")))
	if err != nil {
		tb.Fatalf("%v in:\n%s", err, text)
	}
	var v any
	if err := json.Unmarshal(standard, &v); err != nil {
		tb.Fatal(err)
	}
	return v
}

const fresh = `{
  "hooks": {
    "SessionStart": [
      {
        "matcher": "",
        "hooks": [
          {
            "type": "command",
            "command": "entire hooks claude-code session-start 2>/dev/null || true"
          }
        ]
      },
      {
        "matcher": "",
        "hooks": [
          {
            "type": "command",
            "command": "entire hooks claude-code session-brief 2>/dev/null || true"
          }
        ]
      }
    ],
    "SessionEnd": [
      {
        "matcher": "",
        "hooks": [
          {
            "type": "command",
            "command": "entire hooks claude-code session-end 2>/dev/null || true",
            "timeout": 10
          }
        ]
      }
    ],
    "Stop": [
      {
        "matcher": "",
        "hooks": [
          {
            "type": "command",
            "command": "entire hooks claude-code stop 2>/dev/null || true"
          }
        ]
      }
    ],
    "StopFailure": [
      {
        "matcher": "",
        "hooks": [
          {
            "type": "command",
            "command": "entire hooks claude-code stop-failure 2>/dev/null || true"
          }
        ]
      }
    ],
    "UserPromptSubmit": [
      {
        "matcher": "",
        "hooks": [
          {
            "type": "command",
            "command": "entire hooks claude-code user-prompt-submit 2>/dev/null || true"
          }
        ]
      }
    ],
    "PreToolUse": [
      {
        "matcher": "Task|Agent",
        "hooks": [
          {
            "type": "command",
            "command": "entire hooks claude-code pre-task 2>/dev/null || true"
          }
        ]
      },
      {
        "matcher": "Edit|Write|MultiEdit|NotebookEdit|Bash",
        "hooks": [
          {
            "type": "command",
            "command": "entire hooks claude-code pre-tool 2>/dev/null || true",
            "timeout": 5
          }
        ]
      }
    ],
    "PostToolUse": [
      {
        "matcher": "Task|Agent",
        "hooks": [
          {
            "type": "command",
            "command": "entire hooks claude-code post-task 2>/dev/null || true"
          }
        ]
      },
      {
        "matcher": "TodoWrite|TaskUpdate",
        "hooks": [
          {
            "type": "command",
            "command": "entire hooks claude-code post-todo 2>/dev/null || true"
          }
        ]
      }
    ],
    "SubagentStop": [
      {
        "matcher": "",
        "hooks": [
          {
            "type": "command",
            "command": "entire hooks claude-code subagent-stop 2>/dev/null || true"
          }
        ]
      }
    ],
    "PreCompact": [
      {
        "matcher": "",
        "hooks": [
          {
            "type": "command",
            "command": "entire hooks claude-code pre-compact 2>/dev/null || true"
          }
        ]
      }
    ],
    "PostCompact": [
      {
        "matcher": "",
        "hooks": [
          {
            "type": "command",
            "command": "entire hooks claude-code post-compact 2>/dev/null || true"
          }
        ]
      }
    ]
  },
  "permissions": {
    "deny": [
      "Read(./.entire/metadata/**)"
    ]
  }
}
`

func TestInstallCreatesMissingFile(t *testing.T) {
	t.Parallel()
	s := place(t, "")
	if n, changed := install(t, s); n != 13 || !changed {
		t.Errorf("installed %d, changed %v", n, changed)
	}
	if diff := cmp.Diff(fresh, read(t, s.Path)); diff != "" {
		t.Error(diff)
	}
	if n, changed := install(t, s); n != 13 || changed {
		t.Errorf("the second time: installed %d, changed %v", n, changed)
	}
	uninstall(t, s)
	for _, gone := range []string{filepath.Dir(s.Path), s.Backup} {
		if _, err := os.Stat(gone); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", gone, err)
		}
	}
}

func TestDocumentShowsEntries(t *testing.T) {
	t.Parallel()
	if doc := read(t, "../../docs/formats/hooks.md"); !strings.Contains(doc, "```json\n"+fresh+"```\n") {
		t.Error("docs/formats/hooks.md lacks the entries as they are written")
	}
}

// texts returns settings files of users, each with content that must survive.
func texts() map[string]string {
	return map[string]string{
		"an empty object":        "{}",
		"an empty file":          " \n",
		"one line":               `{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}`,
		"tabs":                   "{\n\t\"model\": \"opus\"\n}\n",
		"four spaces, no end":    "{\n    \"model\": \"opus\",\n    \"hooks\": {}\n}",
		"CRLF":                   "{\r\n  \"model\": \"opus\", // why\r\n  \"hooks\": {\r\n  }\r\n}\r\n",
		"byte order mark":        "\uFEFF{\n  \"model\": \"opus\"\n}\n",
		"trailing commas":        "{\n  \"permissions\": {\n    \"deny\": [\n      \"Read(.env)\",\n    ],\n  },\n}\n",
		"inline array":           "{\n  \"permissions\": {\"deny\": [\"Read(.env)\"], \"allow\": []}\n}\n",
		"comment after the last": "{\n  \"a\": 1 // last\n  // end\n}\n",
		"comments everywhere":    "// top\n{ // open\n  /* b */ \"hooks\": /* c */ { /* d */ } /* e */, // f\n  // g\n} // h\n",
		"comment in empty":       "{\n  // nothing yet\n}\n",
		"the user's own hooks": `{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {"type": "command", "command": "notify.sh", "timeout": 5, "async": true}  // mine
        ]
      }
    ],
    "PreToolUse": [ { "matcher": "Bash", "hooks": [ { "command": "guard", "type": "command" } ] } ]
  },
  "zeta": 1.50, "alpha": "\u00e4"
}
`,
	}
}

func TestInstallKeepsUserBytes(t *testing.T) {
	t.Parallel()
	for name, text := range texts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := place(t, text)
			install(t, s)
			installed := read(t, s.Path)
			if !subsequence(text, installed) && name != "an empty file" {
				t.Errorf("bytes are gone:\n%s", installed)
			}
			if strings.Contains(text, "\r\n") && strings.Count(installed, "\n") != strings.Count(installed, "\r\n") {
				t.Errorf("mixed line ends: %q", installed)
			}
			if n, missing, err := s.Check(); n != 13 || len(missing) > 0 || err != nil {
				t.Errorf("check: %d, %v, %v", n, missing, err)
			}
			uninstall(t, s)
			if diff := cmp.Diff(text, read(t, s.Path)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func subsequence(part, whole string) bool {
	for i := 0; i < len(whole) && part != ""; i++ {
		if whole[i] == part[0] {
			part = part[1:]
		}
	}
	return part == ""
}

func TestUninstallAfterEditRemovesOnlyOurEntries(t *testing.T) {
	t.Parallel()
	for name, text := range texts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := place(t, text)
			install(t, s)
			// The user's edit: a comment before everything.
			mark := "/* edited */ "
			write(t, s.Path, mark+strings.TrimPrefix(read(t, s.Path), "\uFEFF"))
			uninstall(t, s)
			got := strings.TrimPrefix(read(t, s.Path), mark)
			want := strings.TrimPrefix(text, "\uFEFF")
			if strings.TrimSpace(want) == "" {
				want = "{}\n"
			}
			if spaceless(got) != spaceless(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			if !strings.Contains(text, "{}") && !strings.Contains(text, "{ ") && name != "CRLF" && name != "an empty file" && name != "comment in empty" && got != want {
				t.Errorf("not byte for byte:\n%q\nwant:\n%q", got, want)
			}
		})
	}
}

func spaceless(s string) string { return strings.Join(strings.Fields(s), "") }

func TestInstallKeepsFileStyle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"after a comment": {
			"{\n  \"permissions\": {\n    \"deny\": [\n      \"a\" // why\n    ]\n  }\n}\n",
			"\n      \"a\", // why\n      \"Read(./.entire/metadata/**)\"\n    ]",
		},
		"inline": {
			"{\n  \"permissions\": {\"deny\": [\"a\"]}\n}\n",
			`{"deny": ["a", "Read(./.entire/metadata/**)"]}`,
		},
		"trailing comma": {
			"{\n\t\"permissions\": {\n\t\t\"deny\": [\n\t\t\t\"a\",\n\t\t],\n\t},\n}\n",
			"\n\t\t\t\"a\",\n\t\t\t\"Read(./.entire/metadata/**)\",\n\t\t],",
		},
		"flat": {
			`{"permissions":{}}`,
			`{"permissions":{"deny":["Read(./.entire/metadata/**)"]},"hooks":{"SessionStart":[{"matcher":"","hooks":[{`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := place(t, c.text)
			install(t, s)
			if got := read(t, s.Path); !strings.Contains(got, c.want) {
				t.Errorf("%s\nlacks\n%s", got, c.want)
			}
		})
	}
}

// existing is the settings file that the existing tool writes.
const existing = `{
  "hooks": {
    "PostToolUse": [
      {"hooks": [{"command": "entire hooks claude-code post-task", "type": "command"}], "matcher": "Task"},
      {"hooks": [{"command": "entire hooks claude-code post-todo", "type": "command"}], "matcher": "TodoWrite"}
    ],
    "PreToolUse": [{"hooks": [{"command": "entire hooks claude-code pre-task", "type": "command"}], "matcher": "Task"}],
    "SessionEnd": [{"hooks": [{"command": "entire hooks claude-code session-end", "type": "command"}], "matcher": ""}],
    "SessionStart": [{"hooks": [{"command": "go run ${CLAUDE_PROJECT_DIR}/cmd/entire/main.go hooks claude-code session-start", "type": "command"}], "matcher": ""}],
    "Stop": [
      {"hooks": [
        {"command": "mine", "type": "command"},
        {"command": "entire hooks claude-code stop", "type": "command", "timeout": 9},
        {"command": "entire hooks claude-code stop", "type": "command"}
      ], "matcher": ""}
    ],
    "UserPromptSubmit": [{"hooks": [{"command": "entire hooks claude-code user-prompt-submit", "type": "command"}], "matcher": ""}]
  },
  "permissions": {"deny": ["Read(./.entire/metadata/**)"]}
}
`

func TestInstallUpgradesExistingToolEntriesInPlace(t *testing.T) {
	t.Parallel()
	s := place(t, existing)
	install(t, s)
	got := read(t, s.Path)
	for verb, n := range map[string]int{
		"session-start 2>": 1, "session-end 2>": 1, "code stop 2>": 1, "subagent-stop 2>": 1, "stop-failure 2>": 1, "user-prompt-submit 2>": 1,
		"pre-task 2>": 1, "post-task 2>": 1, "post-todo 2>": 1, `"Task|Agent"`: 2, `"TodoWrite|TaskUpdate"`: 1, `"Task"`: 0, "go run": 0, `"timeout": 9`: 1, `"mine"`: 1, "Read(": 1,
	} {
		if strings.Count(got, verb) != n {
			t.Errorf("%q is there %d times, not %d:\n%s", verb, strings.Count(got, verb), n, got)
		}
	}
	uninstall(t, s)
	want := value(t, `{"hooks": {"Stop": [{"hooks": [{"command": "mine", "type": "command"}], "matcher": ""}]}}`)
	if diff := cmp.Diff(want, value(t, read(t, s.Path))); diff != "" {
		t.Error(diff)
	}
}

func TestUninstallWithoutRecordRemovesExistingToolEntries(t *testing.T) {
	t.Parallel()
	s := place(t, fresh)
	uninstall(t, s)
	if got := read(t, s.Path); got != "{\n}\n" && got != "{}\n" {
		t.Errorf("left: %q", got)
	}
}

func TestUninstallRestoresBytesAfterUpgrade(t *testing.T) {
	t.Parallel()
	text := "{ \"model\": \"opus\" }\n"
	s := place(t, text)
	install(t, s)
	older := strings.ReplaceAll(read(t, s.Path), "stop 2>/dev/null || true", "stop")
	write(t, s.Path, older)
	if _, changed := install(t, s); !changed {
		t.Error("the older entry was left")
	}
	uninstall(t, s)
	if got := read(t, s.Path); got != text {
		t.Errorf("got %q", got)
	}
}

func TestInstallRefusesUneditableFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, place string }{
		"cut short":          {"{\n  \"a\": ", "settings.json:2:8:"},
		"not JSON":           {"{\n  a: 1\n}", "settings.json:2:3:"},
		"not an object":      {" []", "settings.json:1:2:"},
		"hooks is an array":  {"{\n \"hooks\": []}", "settings.json:2:11:"},
		"an event is null":   {`{"hooks": {"Stop": null}}`, "settings.json:1:20:"},
		"deny is a string":   {`{"permissions": {"deny": "x"}}`, "settings.json:1:26:"},
		"unclosed comment":   {"{} /* ", "settings.json:1:4:"},
		"text after the end": {"{} {}", "settings.json:1:4:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := place(t, c.text)
			_, _, err := s.Install()
			var at *jsonedit.Error
			if !errors.As(err, &at) || !strings.Contains(err.Error(), c.place) || !strings.Contains(err.Error(), "hint:") {
				t.Errorf("error: %v", err)
			}
			if got := read(t, s.Path); got != c.text {
				t.Errorf("changed to %q", got)
			}
			if _, err := os.Stat(s.Backup); err == nil {
				t.Error("a record was written")
			}
		})
	}
}

func TestInstallWritesThroughSymlinksAndKeepsModes(t *testing.T) {
	t.Parallel()
	s := place(t, "")
	target := filepath.Join(t.TempDir(), "dotfiles.json")
	write(t, target, "{}\n")
	if err := os.Chmod(target, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(s.Path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, s.Path); err != nil {
		t.Fatal(err)
	}
	check := func(want string) {
		t.Helper()
		if link, err := os.Readlink(s.Path); link != target {
			t.Errorf("the link is gone: %v", err)
		}
		info, err := os.Stat(target)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		if got := read(t, target); got != want {
			t.Errorf("got %q", got)
		}
	}
	install(t, s)
	check(fresh)
	uninstall(t, s)
	check("{}\n")
}

func TestUninstallRestoresFileOfLastInstall(t *testing.T) {
	t.Parallel()
	s := place(t, "{\"a\": 1}\n")
	install(t, s)
	write(t, s.Path, "{\"b\": 2}\n") // as by git checkout of another branch
	install(t, s)
	uninstall(t, s)
	if got := read(t, s.Path); got != "{\"b\": 2}\n" {
		t.Errorf("got %q", got)
	}
}

func TestUninstallRemovesEditedNewFileIfEmpty(t *testing.T) {
	t.Parallel()
	s := place(t, "")
	install(t, s)
	write(t, s.Path, strings.ReplaceAll(read(t, s.Path), "  ", "\t"))
	uninstall(t, s)
	if _, err := os.Stat(filepath.Dir(s.Path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
}

func TestUninstallKeepsFormerDenyRule(t *testing.T) {
	t.Parallel()
	text := "{\n  \"permissions\": {\"deny\": [\"Read(./.entire/metadata/**)\"]}\n}\n"
	s := place(t, text)
	install(t, s)
	write(t, s.Path, read(t, s.Path)+"\n")
	uninstall(t, s)
	if got := read(t, s.Path); got != text+"\n" {
		t.Errorf("got %q", got)
	}
}
