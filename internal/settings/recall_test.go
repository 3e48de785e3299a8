package settings_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/settings"
)

func TestRecallDefaults(t *testing.T) {
	t.Parallel()
	want := settings.Recall{
		OnClear: settings.Prompt, OnStart: settings.Always, Inject: settings.InjectPrompt, AtUse: true, Threshold: 70, VerifyBeforeClear: true,
		Auto: true, MaxAuto: 10, CleanupAfterDays: 30, Mode: "stateful", CaptureFiles: true, CaptureAnalysis: true,
		MaxCheckpoint: 10485760, MaxFile: 1048576, Exclude: []string{"node_modules/**", "*.log", "*.bin"},
	}
	if d := cmp.Diff(want, place{}.load(t).Recall); d != "" {
		t.Error(d)
	}
}

func TestRecallLayers(t *testing.T) {
	t.Parallel()
	s := place{
		contextd: `{
			"hooks": {"auto_checkpoint_on_clear": true, "auto_resume_on_start": "prompt", "verify_before_clear": false},
			// as in the page on stateful checkpoints
			"checkpoint": {
				"mode": "summary", "max_auto_summaries": 3, "cleanup_after_days": 7, "auto_summary_enabled": false,
				"max_file_size": 2048, "exclude_patterns": ["*.gen"], "capture_files": false, "capture_analysis": false,
			},
		}`,
		user:    `{"recall": {"max_auto_summaries": 4, "auto_resume_on_start": null, "max_checkpoint_size": "5MiB", "model_pass": true}}`,
		project: `{"recall": {"checkpoint_threshold_tokens": 150000, "cleanup_after_days": 8, "auto_checkpoint_on_clear": false}}`,
		local:   `{"recall": {"cleanup_after_days": 9, "mode": "stateful"}}`,
		env: map[string]string{
			"CONTEXTD_AUTO_CHECKPOINT_ON_CLEAR": "prompt", "CONTEXTD_CHECKPOINT_THRESHOLD": "80", "ENTIRE_CHECKPOINT_THRESHOLD": "90",
			"ENTIRE_RECALL_CHECKPOINT_THRESHOLD_PERCENT": "95", "ENTIRE_RECALL_CAPTURE_FILES": "1", "CONTEXTD_CHECKPOINT_MAX_SIZE": "20971520",
		},
	}.load(t)
	if len(s.Problems)+len(s.Unknown)+len(s.Proposals) > 0 {
		t.Errorf("problems %v, unknown %v, proposals %v", s.Problems, s.Unknown, s.Proposals)
	}
	type row struct {
		Value  any
		Source string
	}
	got := make(map[string]row)
	for _, v := range s.Values() {
		if key, found := strings.CutPrefix(v.Key, "recall."); found {
			from := v.Source.Layer.String() + " " + filepath.Base(v.Source.Name)
			got[key] = row{v.Value, from}
		}
	}
	want := map[string]row{
		"auto_checkpoint_on_clear":     {"prompt", "environment CONTEXTD_AUTO_CHECKPOINT_ON_CLEAR"},
		"auto_resume_on_start":         {"prompt", "contextd config.json"},
		"inject":                       {"prompt", "default ."},
		"at_use":                       {true, "default ."},
		"checkpoint_threshold_percent": {95, "environment ENTIRE_RECALL_CHECKPOINT_THRESHOLD_PERCENT"},
		"checkpoint_threshold_tokens":  {int64(150000), "project settings.json"},
		"verify_before_clear":          {false, "contextd config.json"},
		"auto_summary_enabled":         {false, "contextd config.json"},
		"max_auto_summaries":           {4, "user settings.json"},
		"cleanup_after_days":           {9, "local settings.local.json"},
		"mode":                         {"stateful", "local settings.local.json"},
		"capture_files":                {true, "environment ENTIRE_RECALL_CAPTURE_FILES"},
		"capture_analysis":             {false, "contextd config.json"},
		"max_checkpoint_size":          {"20MiB", "environment CONTEXTD_CHECKPOINT_MAX_SIZE"},
		"max_file_size":                {"2KiB", "contextd config.json"},
		"exclude_patterns":             {[]string{"*.gen"}, "contextd config.json"},
		"model_pass":                   {true, "user settings.json"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if s.Recall.OnClear != settings.Prompt || s.Recall.MaxCheckpoint != 20<<20 || s.Recall.Threshold != 95 {
		t.Errorf("%+v", s.Recall)
	}
}

// Every variable of the program and of contextd is set to a value other than the default.
func TestRecallVariables(t *testing.T) {
	t.Parallel()
	value := func(s settings.Settings, key string) any {
		for _, v := range s.Values() {
			if v.Key == key {
				return v.Value
			}
		}
		return nil
	}
	for name, c := range map[string]struct {
		key, text string
		want      any
	}{
		"AUTO_CHECKPOINT_ON_CLEAR": {"recall.auto_checkpoint_on_clear", "false", false},
		"AUTO_RESUME":              {"recall.auto_resume_on_start", "prompt", "prompt"},
		"AUTO_RESUME_ON_START":     {"recall.auto_resume_on_start", "0", false},
		"CHECKPOINT_THRESHOLD":     {"recall.checkpoint_threshold_percent", "88", 88},
		"VERIFY_BEFORE_CLEAR":      {"recall.verify_before_clear", "false", false},
		"CHECKPOINT_MODE":          {"recall.mode", "summary", "summary"},
		"CHECKPOINT_MAX_SIZE":      {"recall.max_checkpoint_size", "3MiB", "3MiB"},
	} {
		for _, variable := range []string{"CONTEXTD_" + name, "ENTIRE_" + name, settings.Variable(c.key)} {
			t.Run(variable, func(t *testing.T) {
				t.Parallel()
				s := place{env: map[string]string{variable: c.text}}.load(t)
				if got := value(s, c.key); got != c.want || len(s.Problems) > 0 {
					t.Errorf("%s is %v, %v", c.key, got, s.Problems)
				}
				if got := s.Source(c.key); got != (settings.Source{Layer: settings.Env, Name: variable}) {
					t.Errorf("from %+v", got)
				}
				bad := place{env: map[string]string{variable: "7%"}}.load(t)
				if len(bad.Problems) != 1 || bad.Problems[0].Where != variable || bad.Problems[0].Got != `"7%"` {
					t.Errorf("problems %v", bad.Problems)
				}
			})
		}
	}
}

func TestRecallProblems(t *testing.T) {
	t.Parallel()
	s := place{
		contextd: `{
			"hooks": {"auto_checkpoint_on_clear": "ask", "checkpoint_threshold_percent": 69, "mode": "stateful", "post_edit": []},
			"checkpoint": [], "qdrant": {"url": "x"}, "": {"": 1}, "hooks.verify_before_clear": 5
		}`,
		user: `{"recall": {
			"auto_resume_on_start": "true", "checkpoint_threshold_percent": 96, "checkpoint_threshold_tokens": 10,
			"max_auto_summaries": 0, "cleanup_after_days": 4000, "mode": "all", "max_checkpoint_size": 10, "max_file_size": "2GiB",
			"exclude_patterns": "x", "verify_before_clear": "prompt", "tokens": 1
		}}`,
		project: `{"recall": {"max_auto_summaries": 1.5, "model_pass": true, "capture_files": 1}}`,
		local:   `{"recall": true}`,
	}.load(t)
	var got []string
	for _, p := range s.Problems {
		got = append(got, p.String())
	}
	contextd, user, project := "home/.config/contextd/config.json: ", "home/.config/entire/settings.json: ", "work/.entire/settings.json: "
	want := []string{
		contextd + `hooks.auto_checkpoint_on_clear is "ask", allowed: true, false or "prompt"`,
		contextd + `hooks.checkpoint_threshold_percent is 69, allowed: a whole number from 70 to 95`,
		contextd + `checkpoint is [], allowed: an object`,
		contextd + `hooks.verify_before_clear is 5, allowed: true or false`,
		user + `recall.auto_resume_on_start is "true", allowed: true, false or "prompt"`,
		user + `recall.checkpoint_threshold_percent is 96, allowed: a whole number from 70 to 95`,
		user + `recall.checkpoint_threshold_tokens is 10, allowed: 0 for none, or a whole number from 1000 to 10000000`,
		user + `recall.max_auto_summaries is 0, allowed: a whole number from 1 to 1000`,
		user + `recall.cleanup_after_days is 4000, allowed: a whole number from 1 to 3650`,
		user + `recall.mode is "all", allowed: "stateful" or "summary"`,
		user + `recall.max_checkpoint_size is 10, allowed: bytes from 1024 to 1073741824, or a size like "10MiB"`,
		user + `recall.max_file_size is "2GiB", allowed: bytes from 1024 to 1073741824, or a size like "10MiB"`,
		user + `recall.exclude_patterns is "x", allowed: a list of at most 1000 paths or patterns, "build/" or "*.iso", of at most 512 bytes each and 32768 in all`,
		user + `recall.verify_before_clear is "prompt", allowed: true or false`,
		project + `recall.max_auto_summaries is 1.5, allowed: a whole number from 1 to 1000`,
		project + `recall.capture_files is 1, allowed: true or false`,
		`work/.entire/settings.local.json: recall is true, allowed: an object`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	where := strings.TrimSuffix(contextd, ": ")
	unknown := []settings.UnknownKey{
		{Key: "hooks.mode", File: where, Foreign: true},
		{Key: "hooks.post_edit", File: where, Foreign: true},
		{Key: "qdrant", File: where, Foreign: true},
		{Key: "", File: where, Foreign: true},
		{Key: "recall.tokens", File: strings.TrimSuffix(user, ": ")},
	}
	if d := cmp.Diff(unknown, s.Unknown); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(place{}.load(t).Recall, s.Recall); d != "" {
		t.Error("not the defaults:", d)
	}
	proposal := []settings.Proposal{{Key: settings.KeyModelPass, Value: "true", File: "work/.entire/settings.json"}}
	if d := cmp.Diff(proposal, s.Proposals); d != "" {
		t.Error(d)
	}
}

func TestContextdFileEnablesNothing(t *testing.T) {
	t.Parallel()
	s := place{contextd: `{"enabled": true, "hooks": {"enabled": true}}`}.load(t)
	if s.Configured || s.Enabled || len(s.Files) != 0 {
		t.Errorf("%+v", s)
	}
	if s := (place{contextd: `not json`, marker: true}).load(t); len(s.Problems) != 1 || !s.Enabled {
		t.Errorf("%v", s.Problems)
	}
}

// The files shown in contextd's documentation are accepted unchanged.
func TestContextdExamples(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"automation": `{"hooks": {"auto_checkpoint_on_clear": "prompt", "auto_resume_on_start": true, "checkpoint_threshold_percent": 70,
			"verify_before_clear": true}, "checkpoint": {"auto_summary_enabled": true, "max_auto_summaries": 10, "cleanup_after_days": 30}}`,
		"stateful": `{"checkpoint": {"mode": "stateful",              // "summary" | "stateful"
			"capture_files": true, "capture_analysis": true, "max_checkpoint_size": 10485760, // 10MB
			"max_file_size": 1048576,        // 1MB per file
			"exclude_patterns": ["node_modules/**", "*.log", "*.bin"]}}`,
	} {
		s := place{contextd: text}.load(t)
		if len(s.Problems)+len(s.Unknown) > 0 {
			t.Errorf("%s: %v %v", name, s.Problems, s.Unknown)
		}
		if d := cmp.Diff(place{}.load(t).Recall, s.Recall); d != "" {
			t.Errorf("%s are not the defaults: %s", name, d)
		}
	}
}

func TestConfigHome(t *testing.T) {
	t.Parallel()
	home, xdg := t.TempDir(), t.TempDir()
	for name, c := range map[string]struct {
		home, xdg, user, contextd string
	}{
		"home":           {home, "", home + "/.config/entire/settings.json", home + "/.config/contextd/config.json"},
		"XDG":            {home, xdg, xdg + "/entire/settings.json", xdg + "/contextd/config.json"},
		"a relative XDG": {home, "x", home + "/.config/entire/settings.json", home + "/.config/contextd/config.json"},
		"none":           {},
	} {
		from := settings.Sources{Home: c.home, Getenv: func(string) string { return c.xdg }}
		if got := settings.UserFile(from); got != c.user {
			t.Errorf("%s: %s", name, got)
		}
		if got := settings.ContextdFile(from); got != c.contextd {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func FuzzContextd(f *testing.F) {
	f.Add([]byte(`{"hooks": {"auto_checkpoint_on_clear": "prompt"}, "checkpoint": {"max_file_size": "1MB"}}`))
	f.Add([]byte(`{"": {"": 1}, "hooks": null, "checkpoint": [1e9]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		home := t.TempDir()
		from := settings.Sources{Home: home, Getenv: func(string) string { return "" }}
		path := settings.ContextdFile(from)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := settings.Load(from)
		r := s.Recall
		if s.Configured || r.ModelPass || r.Threshold < 70 || r.Threshold > 95 || r.MaxAuto < 1 || r.MaxFile < 1024 {
			t.Errorf("%+v", s)
		}
		for _, p := range s.Problems {
			if p.Where != path || p.Allowed == "" {
				t.Errorf("%+v", p)
			}
		}
	})
}

// jsonBlocks returns the JSON examples of a page.
func jsonBlocks(page string) []string {
	var blocks []string
	for _, text := range strings.Split(page, "```json\n")[1:] {
		block, _, _ := strings.Cut(text, "```")
		blocks = append(blocks, block)
	}
	return blocks
}

func page(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../docs", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// The examples of the pages set their keys to the defaults.
func TestDocumentedExamples(t *testing.T) {
	t.Parallel()
	guide := jsonBlocks(page(t, "guides/checkpoint-automation.md"))
	format := jsonBlocks(page(t, "formats/settings.md"))
	if len(guide) != 2 || len(format) != 1 {
		t.Fatalf("%d and %d examples", len(guide), len(format))
	}
	for name, c := range map[string]struct {
		place place
		keys  int // that the example sets
	}{
		"the guide's own":      {place{user: guide[0]}, 17},
		"the guide's contextd": {place{contextd: guide[1]}, 7},
		"the format's":         {place{contextd: format[0]}, 13},
	} {
		s := c.place.load(t)
		if len(s.Problems)+len(s.Unknown) > 0 {
			t.Errorf("%s: %v %v", name, s.Problems, s.Unknown)
		}
		if d := cmp.Diff(place{}.load(t).Recall, s.Recall); d != "" {
			t.Errorf("%s has other values than the defaults: %s", name, d)
		}
		set := 0
		for _, v := range s.Values() {
			if v.Source.Layer != settings.Default {
				set++
			}
		}
		if set != c.keys {
			t.Errorf("%s sets %d keys", name, set)
		}
	}
}

// The table of the format has a row for each key, with its default.
func TestDocumentedKeys(t *testing.T) {
	t.Parallel()
	text := page(t, "formats/settings.md")
	s := place{marker: true}.load(t)
	for _, v := range s.Values() {
		value, err := json.Marshal(v.Value)
		if err != nil {
			t.Fatal(err)
		}
		row := "| `" + v.Key + "` | `" + strings.ReplaceAll(string(value), ",", ", ") + "` |"
		if !strings.Contains(text, row) {
			t.Errorf("docs/formats/settings.md lacks %s", row)
		}
	}
}
