package settings_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/settings"
)

// place is a set of directories with settings files.
type place struct {
	contextd, user, project, clone, local, mainProject, mainLocal string
	marker, tracked                                               bool
	origins                                                       []string
	env                                                           map[string]string
}

func (p place) load(t testing.TB) settings.Settings {
	t.Helper()
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	write := func(name, text string) {
		if text == "" {
			return
		}
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("home/.config/contextd/config.json", p.contextd)
	write("home/.config/entire/settings.json", p.user)
	write("work/.entire/settings.json", p.project)
	write("work/.entire/settings.local.json", p.local)
	write("git/entire/settings.json", p.clone)
	write("main/.entire/settings.json", p.mainProject)
	write("main/.entire/settings.local.json", p.mainLocal)
	if p.marker {
		write("git/entire/enabled", "\n")
	}
	s := settings.Load(settings.Sources{
		Worktree: at("work"), MainWorktree: at("main"), CommonDir: at("git"), Home: at("home"),
		Getenv:  func(name string) string { return p.env[name] },
		Tracked: func(string) bool { return p.tracked },
		Origins: func() ([]string, error) { return p.origins, nil },
	})
	s.Activation.By = strings.TrimPrefix(s.Activation.By, root+"/")
	for i := range s.Problems {
		s.Problems[i].Where = strings.TrimPrefix(s.Problems[i].Where, root+"/")
	}
	for i := range s.Unknown {
		s.Unknown[i].File = strings.TrimPrefix(s.Unknown[i].File, root+"/")
	}
	for i := range s.Proposals {
		s.Proposals[i].File = strings.TrimPrefix(s.Proposals[i].File, root+"/")
	}
	return s
}

func TestEnabled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		place               place
		enabled, configured bool
	}{
		"nothing at all":                                 {place{}, false, false},
		"a marker is enough":                             {place{marker: true}, true, true},
		"a project file is enough":                       {place{project: `{}`}, true, true},
		"a local file is enough":                         {place{local: `{}`}, true, true},
		"the user's own file enables nothing":            {place{user: `{"enabled": true}`}, false, false},
		"the user's own file disables":                   {place{user: `{"enabled": false}`, marker: true}, false, true},
		"the project is disabled":                        {place{project: `{"enabled": false}`, marker: true}, false, true},
		"local overrides project":                        {place{project: `{"enabled": false}`, local: `{"enabled": true}`}, true, true},
		"local disables":                                 {place{project: `{"enabled": true}`, local: `{"enabled": false}`}, false, true},
		"a worktree without files has main's":            {place{mainLocal: `{"enabled": false}`, marker: true}, false, true},
		"main's personal file counts in every worktree":  {place{mainLocal: `{"enabled": false}`, project: `{}`}, false, true},
		"a worktree's own personal file is above main's": {place{mainLocal: `{"enabled": false}`, project: `{}`, local: `{"enabled": true}`}, true, true},
		"a worktree with files has no project's of main": {place{mainProject: `{"enabled": false}`, local: `{}`}, true, true},
		"a damaged file counts as a file":                {place{project: `{"enabled": fal`}, true, true},
		"a bad value is the default":                     {place{project: `{"enabled": "no"}`}, true, true},
		"the environment disables":                       {place{project: `{}`, env: map[string]string{"ENTIRE_ENABLED": "0"}}, false, true},
		"the environment enables nothing by itself":      {place{env: map[string]string{"ENTIRE_ENABLED": "1"}}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := c.place.load(t)
			if s.Enabled != c.enabled || s.Configured != c.configured {
				t.Errorf("enabled %v, configured %v", s.Enabled, s.Configured)
			}
		})
	}
}

func TestLayers(t *testing.T) {
	t.Parallel()
	s := place{
		user:    `{"log_level": "error", "commit_linking": "prompt", "strategy_options": {"push_remote": "origin"}}`,
		project: "\xef\xbb\xbf" + `{"log_level": "warn", /* why */ "hooks": {"timeout": "7s"},}`,
		local:   `{"hooks": {"timeout": "8s", "lock_timeout": "1s"}, "local_dev": true, "bands": {"exclude": ["build/", "*.iso"], "cap": "2GiB"}}`,
		env:     map[string]string{"ENTIRE_HOOKS_LOCK_TIMEOUT": "50ms", "ENTIRE_SUMMARIZE_ENABLED": "true", "ENTIRE_BANDS_FREE_FLOOR": "3M"},
	}.load(t)
	if len(s.Problems)+len(s.Unknown)+len(s.Proposals) > 0 {
		t.Errorf("problems %v, unknown %v, proposals %v", s.Problems, s.Unknown, s.Proposals)
	}
	type row struct {
		Key   string
		Value any
		Layer string
	}
	var got []row
	for _, v := range s.Values() {
		if strings.HasPrefix(v.Key, "recall.") || settings.IsGlobal(v.Key) {
			continue // see TestRecallLayers, TestGlobalCountsOnlyInTheUsersFile
		}
		got = append(got, row{v.Key, v.Value, v.Source.Layer.String()})
	}
	want := []row{
		{"enabled", true, "default"},
		{"strategy", "manual-commit", "default"},
		{"log_level", "warn", "project"},
		{"local_dev", true, "local"},
		{"telemetry", false, "default"},
		{"strategy_options.push_sessions", false, "default"},
		{"strategy_options.push_remote", "origin", "user"},
		{"strategy_options.checkpoint_push_remote", "", "default"},
		{"checkpoints.primary.type", "git-branch", "default"},
		{"checkpoints.mirrors", []map[string]string{}, "default"},
		{"strategy_options.summarize.enabled", true, "environment"},
		{"commit_linking", "prompt", "user"},
		{"gemini.amend_commits", false, "default"},
		{"hooks.timeout", "8s", "local"},
		{"hooks.lock_timeout", "50ms", "environment"},
		{"bands.enabled", true, "default"},
		{"bands.exclude", []string{"build/", "*.iso"}, "local"},
		{"bands.cap", "2GiB", "local"},
		{"bands.free_floor", "3MiB", "environment"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if s.LogLevel != slog.LevelWarn || s.HookTimeout != 8*time.Second {
		t.Errorf("%v %v", s.LogLevel, s.HookTimeout)
	}
}

func TestProposals(t *testing.T) {
	t.Parallel()
	s := place{
		project: `{"strategy_options": {"push_remote": "https://example.com/x", "push_sessions": true, "summarize": {"enabled": true}}}`,
	}.load(t)
	want := []settings.Proposal{
		{Key: settings.KeyPushRemote, Value: "https://example.com/x", File: "work/.entire/settings.json"},
		{Key: settings.KeySummarize, Value: "true", File: "work/.entire/settings.json"},
	}
	if d := cmp.Diff(want, s.Proposals); d != "" || s.PushRemote != "" || s.Summarize {
		t.Error(d, s.PushRemote, s.Summarize)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	s := place{
		project: `{"strategy": "commit-often", "hooks": {"timeout": "1h", "lock_timeout": 2}, "bands": {"cap": "much", "exclude": [1], "x": 1},
			"agent": "claude", "strategy_options": {"push_remote": "-x", "y": {}}, "recall": {"mode": "stateful"}}`,
		local: `[1]`,
		env:   map[string]string{"ENTIRE_COMMIT_LINKING": "never"},
	}.load(t)
	var got []string
	for _, p := range s.Problems {
		got = append(got, p.String())
	}
	want := []string{
		`work/.entire/settings.json: strategy is "commit-often", allowed: "manual-commit" or "auto-commit"`,
		`work/.entire/settings.json: hooks.timeout is "1h", allowed: a duration from "10ms" to "10m0s"`,
		`work/.entire/settings.json: hooks.lock_timeout is 2, allowed: a duration from "10ms" to "10m0s"`,
		`work/.entire/settings.json: bands.cap is "much", allowed: a size of 1MiB or more, like "20GiB"`,
		`work/.entire/settings.json: bands.exclude is [1], allowed: a list of at most 1000 paths or patterns, "build/" or "*.iso", of at most 512 bytes each and 32768 in all`,
		`work/.entire/settings.json: strategy_options.push_remote is "-x", allowed: the name or the URL of a remote`,
		`work/.entire/settings.local.json: not a JSON object`,
		`ENTIRE_COMMIT_LINKING: commit_linking is "never", allowed: "always" or "prompt"`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	unknown := []settings.UnknownKey{
		{Key: "bands.x", File: "work/.entire/settings.json"},
		{Key: "agent", File: "work/.entire/settings.json"},
		{Key: "strategy_options.y", File: "work/.entire/settings.json"},
	}
	if d := cmp.Diff(unknown, s.Unknown); d != "" {
		t.Error(d)
	}
	if s.Strategy != settings.ManualCommit || s.HookTimeout != 5*time.Second || s.LockTimeout != 4*time.Second {
		t.Errorf("%v %v %v", s.Strategy, s.HookTimeout, s.LockTimeout)
	}
}

func TestOddFiles(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.MkdirAll(settings.ProjectFile(root), 0o755); err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat(`{"]":[`, 100_000)
	if err := os.WriteFile(settings.LocalFile(root), []byte(deep), 0o600); err != nil {
		t.Fatal(err)
	}
	s := settings.Load(settings.Sources{Worktree: root, Getenv: func(string) string { return "" }})
	var got []string
	for _, p := range s.Problems {
		got = append(got, strings.TrimPrefix(p.String(), root))
	}
	want := []string{"/.entire/settings.json: not a regular file", "/.entire/settings.local.json: nested deeper than 64"}
	if d := cmp.Diff(want, got); d != "" || !s.Enabled {
		t.Error(d, s.Enabled)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(`{"enabled": false, "strategy_options": {"push_remote": "x", "summarize": {"enabled": true}}, // c
	}`))
	f.Add([]byte(`{"hooks": {"timeout": "1s"}, "bands": {"exclude": ["a"]}, "x": null}`))
	f.Add([]byte("\xef\xbb\xbf{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		root := t.TempDir()
		if err := os.MkdirAll(filepath.Join(root, ".entire"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(settings.ProjectFile(root), data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := settings.Load(settings.Sources{Worktree: root, Getenv: func(string) string { return "" }})
		if !s.Configured || s.PushRemote != "" || s.Summarize || s.Strategy != settings.ManualCommit {
			t.Errorf("%+v", s)
		}
		if s.HookTimeout < 10*time.Millisecond || s.LockTimeout < 10*time.Millisecond {
			t.Errorf("deadlines %v %v", s.HookTimeout, s.LockTimeout)
		}
		out, err := settings.Apply(data, settings.Change{Key: settings.KeyEnabled, Value: false})
		if err != nil {
			return
		}
		if err := os.WriteFile(settings.ProjectFile(root), out, 0o600); err != nil {
			t.Fatal(err)
		}
		after := settings.Load(settings.Sources{Worktree: root, Getenv: func(string) string { return "" }})
		if after.Enabled || len(after.Unknown) != len(s.Unknown) || len(after.Problems) > len(s.Problems) {
			t.Errorf("%q became %q: %+v", data, out, after)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for name, p := range map[string]place{
		"absent": {},
		"both":   {project: `{"strategy": "manual-commit", "enabled": true}`, local: `{"enabled": true}`, marker: true},
	} {
		b.Run(name, func(b *testing.B) {
			root := b.TempDir()
			if p.project != "" {
				for _, f := range []string{settings.ProjectFile(root), settings.LocalFile(root)} {
					_ = os.MkdirAll(filepath.Dir(f), 0o755)
					_ = os.WriteFile(f, []byte(p.project), 0o600)
				}
			}
			from := settings.Sources{Worktree: root, CommonDir: root, Home: root, Getenv: func(string) string { return "" }}
			for b.Loop() {
				settings.Load(from)
			}
		})
	}
}
