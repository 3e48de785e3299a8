package settings_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/settings"
)

// sources returns a new home and worktree without settings.
func sources(t *testing.T, env map[string]string) settings.Sources {
	t.Helper()
	return settings.Sources{Home: t.TempDir(), Worktree: t.TempDir(), Getenv: func(name string) string { return env[name] }}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

func TestConfigureMakesAPrivateFile(t *testing.T) {
	t.Parallel()
	from := sources(t, nil)
	s, err := settings.Configure(
		from,
		settings.Change{Key: settings.KeyOnClear, Value: settings.Always},
		settings.Change{Key: settings.KeyThreshold, Value: 85},
		settings.Change{Key: "recall.exclude_patterns", Value: []string{"*.x"}},
		settings.Change{Key: "recall.max_file_size", Value: "2MiB"},
		settings.Change{Key: "recall.checkpoint_threshold_tokens", Value: int64(150000)},
		settings.Change{Key: settings.KeyVerify, Value: json.RawMessage("false")},
	)
	if err != nil {
		t.Fatal(err)
	}
	if s.Recall.OnClear != settings.Always || s.Recall.Threshold != 85 || s.Recall.MaxFile != 2<<20 || s.Recall.VerifyBeforeClear {
		t.Errorf("%+v", s.Recall)
	}
	path := settings.UserFile(from)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "recall": {
    "auto_checkpoint_on_clear": true,
    "checkpoint_threshold_percent": 85,
    "exclude_patterns": ["*.x"],
    "max_file_size": "2MiB",
    "checkpoint_threshold_tokens": 150000,
    "verify_before_clear": false
  }
}
`
	if d := cmp.Diff(want, string(data)); d != "" {
		t.Error(d)
	}
	for path, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestConfigureKeepsTheRest(t *testing.T) {
	t.Parallel()
	from := sources(t, nil)
	path := settings.UserFile(from)
	put(t, path, `{
	// mine
	"log_level": "warn", "other": [1, 2],
	"recall": {"mode": "summary", /* why */ "max_auto_summaries": 3},
}
`)
	_, err := settings.Configure(
		from,
		settings.Change{Key: "recall.mode", Value: nil},
		settings.Change{Key: settings.KeyOnStart, Value: settings.Prompt},
	)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
	// mine
	"log_level": "warn", "other": [1, 2],
	"recall": {"max_auto_summaries": 3, "auto_resume_on_start": "prompt"},
}
`
	if d := cmp.Diff(want, string(data)); d != "" {
		t.Error(d)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

func TestConfigureRefuses(t *testing.T) {
	t.Parallel()
	good := settings.Change{Key: settings.KeyOnClear, Value: true}
	for name, c := range map[string]struct {
		change settings.Change
		want   string
	}{
		"above the range":  {settings.Change{Key: settings.KeyThreshold, Value: 96}, `recall.checkpoint_threshold_percent is 96, allowed: a whole number from 70 to 95`},
		"no choice":        {settings.Change{Key: settings.KeyOnStart, Value: "ask"}, `recall.auto_resume_on_start is "ask", allowed: true, false or "prompt"`},
		"a bool in quotes": {settings.Change{Key: settings.KeyVerify, Value: "true"}, `recall.verify_before_clear is "true", allowed: true or false`},
		"another type":     {settings.Change{Key: settings.KeyThreshold, Value: 80.5}, `recall.checkpoint_threshold_percent is 80.5, allowed: a whole number from 70 to 95`},
		"no JSON":          {settings.Change{Key: settings.KeyVerify, Value: json.RawMessage("fal")}, `recall.verify_before_clear is fal, allowed: true or false`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := sources(t, nil)
			_, err := settings.Configure(from, good, c.change)
			bad, ok := errors.AsType[*settings.BadValueError](err)
			if !ok || bad.Error() != settings.UserFile(from)+": "+c.want || bad.Key != c.change.Key {
				t.Errorf("%v", err)
			}
			if _, err := os.Stat(settings.UserFile(from)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("something was written: %v", err)
			}
		})
	}
	if _, err := settings.Configure(sources(t, nil), settings.Change{Key: "recall.tokens", Value: 1}); !errors.Is(err, settings.ErrUnknownKey) {
		t.Error(err)
	}
	if _, err := settings.Configure(settings.Sources{Getenv: func(string) string { return "" }}, good); err == nil {
		t.Error("written without a home")
	}
}

func TestConfigureLeavesADamagedFile(t *testing.T) {
	t.Parallel()
	from := sources(t, nil)
	path := settings.UserFile(from)
	put(t, path, `{"recall": {`)
	if _, err := settings.Configure(from, settings.Change{Key: settings.KeyVerify, Value: true}); err == nil {
		t.Error("edited")
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != `{"recall": {` {
		t.Errorf("%q, %v", data, err)
	}
}

func TestConcurrentConfigure(t *testing.T) {
	t.Parallel()
	from := sources(t, nil)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 5 {
				if _, err := settings.Configure(from, settings.Change{Key: settings.KeyThreshold, Value: 70 + i}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if s := settings.Load(from); len(s.Problems) > 0 || s.Source(settings.KeyThreshold).Layer != settings.User {
		t.Errorf("%v", s.Problems)
	}
}

func TestOverrides(t *testing.T) {
	t.Parallel()
	from := sources(t, map[string]string{"CONTEXTD_VERIFY_BEFORE_CLEAR": "0", "ENTIRE_CHECKPOINT_THRESHOLD": "9"})
	local := settings.LocalFile(from.Worktree)
	put(t, local, `{"recall": {"auto_resume_on_start": false}}`)
	put(t, settings.ContextdFile(from), `{"hooks": {"auto_checkpoint_on_clear": false}}`)
	changes, ok := settings.Preset("auto")
	if !ok {
		t.Fatal("no preset")
	}
	s, err := settings.Configure(from, changes...)
	if err != nil {
		t.Fatal(err)
	}
	keys := make([]string, 0, len(changes))
	for _, c := range changes {
		keys = append(keys, c.Key)
	}
	want := []settings.Override{
		{Key: settings.KeyOnStart, Source: settings.Source{Layer: settings.Local, Name: local}},
		{Key: settings.KeyThreshold, Source: settings.Source{Layer: settings.Env, Name: "ENTIRE_CHECKPOINT_THRESHOLD"}},
		{Key: settings.KeyVerify, Source: settings.Source{Layer: settings.Env, Name: "CONTEXTD_VERIFY_BEFORE_CLEAR"}},
	}
	if d := cmp.Diff(want, s.Overrides(settings.User, keys...)); d != "" {
		t.Error(d)
	}
	if s.Recall.OnClear != settings.Always {
		t.Error("contextd's file overrides the user's own")
	}
}

func TestPresets(t *testing.T) {
	t.Parallel()
	want := map[string][4]any{
		"auto":   {settings.Always, settings.Always, 70, false},
		"prompt": {settings.Prompt, settings.Always, 70, true},
		"manual": {settings.Never, settings.Never, 70, false},
	}
	got := make(map[string][4]any)
	for _, name := range settings.Presets() {
		changes, _ := settings.Preset(name)
		s, err := settings.Configure(sources(t, nil), changes...)
		if err != nil {
			t.Fatal(err)
		}
		got[name] = [4]any{s.Recall.OnClear, s.Recall.OnStart, s.Recall.Threshold, s.Recall.VerifyBeforeClear}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, ok := settings.Preset("quiet"); ok {
		t.Error("a preset that there isn't")
	}
}

func TestParseChange(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]settings.Change{
		"prompt":  {Key: settings.KeyOnClear, Value: "prompt"},
		"true":    {Key: settings.KeyVerify, Value: true},
		"80":      {Key: settings.KeyThreshold, Value: 80},
		"a/,*.b":  {Key: "recall.exclude_patterns", Value: []string{"a/", "*.b"}},
		"2097152": {Key: "recall.max_file_size", Value: "2MiB"},
	} {
		got, err := settings.ParseChange(want.Key, text)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Error(d, err)
		}
		if _, err := settings.Configure(sources(t, nil), got); err != nil {
			t.Error(err)
		}
	}
	_, err := settings.ParseChange(settings.KeyThreshold, "50")
	bad, ok := errors.AsType[*settings.BadValueError](err)
	if !ok || bad.Error() != `recall.checkpoint_threshold_percent is "50", allowed: a whole number from 70 to 95` {
		t.Error(err)
	}
	if _, err := settings.ParseChange("recall", "x"); !errors.Is(err, settings.ErrUnknownKey) {
		t.Error(err)
	}
}
