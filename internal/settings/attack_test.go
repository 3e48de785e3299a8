package settings_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/settings"
)

// A list of patterns that would slow down every hook is reported, and the default is used.
func TestAttackListsOfPatterns(t *testing.T) {
	t.Parallel()
	lists := map[string][]string{
		"long":     {strings.Repeat("**/", 200)},
		"many":     slices.Repeat([]string{"*x"}, 1001),
		"big":      slices.Repeat([]string{strings.Repeat("*a", 200)}, 100),
		"one long": append(slices.Repeat([]string{"a"}, 10), strings.Repeat("a", 513)),
	}
	for name, list := range lists {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := json.Marshal(map[string]any{"bands": map[string]any{"exclude": list}, "recall": map[string]any{"exclude_patterns": list}})
			if err != nil {
				t.Fatal(err)
			}
			s := place{project: string(data)}.load(t)
			if len(s.Problems) != 2 || len(s.Bands.Exclude) != 0 || !slices.Contains(s.Recall.Exclude, "*.log") {
				t.Errorf("%d problems, patterns %.60q and %.60q", len(s.Problems), s.Bands.Exclude, s.Recall.Exclude)
			}
			for _, p := range s.Problems {
				if text := p.String(); len(text) > 400 || !strings.Contains(text, "at most 1000") {
					t.Errorf("%q", text)
				}
			}
		})
	}
}

// TestAttackVariablesOfTheClient checks that the env block of a worktree's .claude/settings.json,
// which hooks and the agent's commands get as variables, can set only the values that a project may
// set, wherever the file is.
func TestAttackVariablesOfTheClient(t *testing.T) {
	t.Parallel()
	for _, c := range hostile {
		text := strings.Trim(c.value, `"`)
		variable := settings.Variable(c.key)
		env := map[string]string{}
		from := sources(t, env)
		initial := value(t, settings.Load(from), c.key)
		env[variable] = text
		if s := settings.Load(from); value(t, s, c.key).Source.Layer != settings.Env {
			t.Errorf("%s=%s of the user: %v", variable, text, s.Problems)
		}
		project := t.TempDir()
		env["CLAUDE_PROJECT_DIR"] = project
		for _, root := range []string{from.Worktree, from.MainWorktree, project} {
			for _, name := range []string{"settings.json", "settings.local.json"} {
				if root == "" {
					continue
				}
				path := filepath.Join(root, ".claude", name)
				block, err := json.Marshal(map[string]any{"env": map[string]string{variable: text}})
				if err != nil {
					t.Fatal(err)
				}
				put(t, path, string(block))
				s := settings.Load(from)
				if diff := cmp.Diff(initial, value(t, s, c.key)); diff != "" || len(s.Problems) != 1 {
					t.Errorf("%s of %s: %s %v", variable, path, diff, s.Problems)
				}
				put(t, path, "{}")
			}
		}
	}
}
