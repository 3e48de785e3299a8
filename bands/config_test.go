package bands_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/registry"
)

func configOf(t *testing.T, text string) (registry.Config, error) {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &registry.Registry{Home: home, UserHome: "/home/me", Now: time.Now}
	cfg, err := r.Config()
	cfg.BasePath = strings.Replace(cfg.BasePath, home, "HOME", 1)
	return cfg, err
}

func defaults() registry.Config {
	return registry.Config{BasePath: "HOME/stores", CheckpointOn: []string{"Edit", "Write", "MultiEdit"}, MinInterval: 10 * time.Second}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	with := func(edit func(*registry.Config)) registry.Config {
		c := defaults()
		edit(&c)
		return c
	}
	for name, c := range map[string]struct {
		text string
		want registry.Config
	}{
		"empty": {"", defaults()},
		"all keys": {`
[stores]
base_path = "~/.agentfs/stores"
default_size = "50G"
default_mount_base = "~/projects"

[checkpoints]
auto_prune = true
keep_count = 100

[hooks]  # Phase 2
claude_code = true
checkpoint_on = ["Edit", "NotebookEdit"]
min_interval = "90s"
`, registry.Config{
			BasePath: "/home/me/.agentfs/stores", DefaultSize: 50 << 30, DefaultMountBase: "/home/me/projects", Keep: 100,
			ClaudeCode: true, CheckpointOn: []string{"Edit", "NotebookEdit"}, MinInterval: 90 * time.Second,
		}},
		"auto_prune alone":        {"[checkpoints]\nauto_prune = true", with(func(c *registry.Config) { c.Keep = 100 })},
		"keep_count alone":        {"[checkpoints]\nkeep_count = 7", with(func(c *registry.Config) { c.Keep = 7 })},
		"nothing goes by itself":  {"[checkpoints]\nkeep_count = 7\nauto_prune = false", with(func(c *registry.Config) { c.NoPrune = true })},
		"no tools, no interval":   {"hooks.checkpoint_on = []\nhooks.min_interval = '0s'", with(func(c *registry.Config) { c.CheckpointOn, c.MinInterval = []string{}, 0 })},
		"a table that isn't ours": {"[syncthing]\nport = 8384", defaults()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := configOf(t, c.text)
			if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}

func TestConfigBadValues(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"keep_count = 7":                         "config.toml: keep_count: belongs in the table [checkpoints]",
		"x = 1":                                  "config.toml: x: unknown key",
		"[stores]\nother = true":                 "config.toml: stores.other: unknown key",
		"stores = 1":                             "config.toml: stores: must be a table",
		"[stores]\nbase_path = 'rel'":            `config.toml: stores.base_path: must be an absolute path, or one that starts with "~/"`,
		"[stores]\nbase_path = '~other/x'":       `stores.base_path: must be`,
		"[stores]\ndefault_mount_base = 3":       `stores.default_mount_base: must be`,
		"[stores]\ndefault_size = 'big'":         `config.toml: stores.default_size: must be a size of at least "1MiB", such as "50G"`,
		"[stores]\ndefault_size = '1K'":          `stores.default_size: must be`,
		"[stores]\ndefault_size = 50":            `stores.default_size: must be`,
		"[checkpoints]\nkeep_count = 0":          `checkpoints.keep_count: must be a whole number, at least 1`,
		"[checkpoints]\nkeep_count = 1.5":        `checkpoints.keep_count: must be`,
		"[checkpoints]\nkeep_count = -3":         `checkpoints.keep_count: must be`,
		"[checkpoints]\nauto_prune = 'yes'":      `checkpoints.auto_prune: must be true or false`,
		"[hooks]\nclaude_code = 1":               `hooks.claude_code: must be true or false`,
		"[hooks]\ncheckpoint_on = 'Edit'":        `hooks.checkpoint_on: must be a list of tools, such as ["Edit", "Write"]`,
		"[hooks]\ncheckpoint_on = ['Edit', 3]":   `hooks.checkpoint_on: must be`,
		"[hooks]\nmin_interval = '10'":           `hooks.min_interval: must be a duration from "0s" to "24h", such as "10s"`,
		"[hooks]\nmin_interval = '-1s'":          `hooks.min_interval: must be`,
		"[hooks]\nmin_interval = '25h'":          `hooks.min_interval: must be`,
		"[hooks]\nmin_interval = '3s'\n[stores":  `config.toml: line 3: `,
		"[hooks]\nmin_interval = 1\nclaude_code": `config.toml: line 3: `,
	} {
		got, err := configOf(t, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
		if _, ok := errors.AsType[*registry.ConfigError](err); !ok {
			t.Errorf("%q: %T", text, err)
		}
		if diff := cmp.Diff(defaults(), got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	both, err := configOf(t, "[stores]\nbase_path = 1\ndefault_size = '2G'\n[hooks]\nclaude_code = 1")
	if err == nil || strings.Count(err.Error(), "config.toml") != 2 || both.DefaultSize != 2<<30 {
		t.Errorf("of two bad keys: %v, %+v", err, both)
	}
}

func TestConfigDefaults(t *testing.T) {
	t.Parallel()
	r := &registry.Registry{Home: "/nowhere"}
	got, err := r.Config()
	want := defaults()
	want.BasePath = "/nowhere/stores"
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}
