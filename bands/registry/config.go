package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/seed-3aff656d/entire/internal/disk"
	sizes "github.com/seed-3aff656d/entire/internal/settings"
)

// Config has the settings of config.toml about stores.
type Config struct {
	// BasePath is the folder with the folders of named stores: stores.base_path. It is empty
	// without a Home.
	BasePath string
	// DefaultSize (stores.default_size) and DefaultMountBase are 0 and empty if the file doesn't
	// set them.
	DefaultSize      int64
	DefaultMountBase string
	// Keep is the number of automatic snapshots to keep; 0 is the store's own retention, which
	// applies unless the file has keep_count or auto_prune.
	Keep int
	// NoPrune is auto_prune = false: no snapshot is pruned automatically.
	NoPrune bool
	// ClaudeCode is hooks.claude_code, CheckpointOn the tools of hooks.checkpoint_on, MinInterval
	// the minimum time between two snapshots of calls with --action.
	ClaudeCode   bool
	CheckpointOn []string
	MinInterval  time.Duration
}

// keepCount is the number of snapshots to keep if the file has auto_prune alone.
const keepCount = 100

// ConfigError names a key of config.toml with a bad value, Got, or one that means nothing; the key is
// empty if the whole file can't be read.
type ConfigError struct{ File, Key, Got, Problem string }

func (e *ConfigError) Error() string {
	if e.Key == "" {
		return e.File + ": " + e.Problem
	}
	return e.File + ": " + e.Key + ": " + e.Problem
}

// Places reports whether the value decides where a new store is created, and its size.
func (e *ConfigError) Places() bool {
	return e.Key == "" || e.Key == "stores" || strings.HasPrefix(e.Key, "stores.")
}

// placeConfig is Config for a new store: only values that decide its place and size are errors.
func (r *Registry) placeConfig() (Config, error) {
	cfg, bad := readConfig(r.Home, r.UserHome)
	return cfg, errors.Join(slices.DeleteFunc(bad, func(err error) bool {
		e, ok := errors.AsType[*ConfigError](err)
		return ok && !e.Places()
	})...)
}

// Config reads config.toml in Home; without one all values are the defaults. Each bad value is a
// ConfigError in the joined error, and its key has its default, so that a hook can continue.
func (r *Registry) Config() (Config, error) {
	cfg, bad := readConfig(r.Home, r.UserHome)
	return cfg, errors.Join(bad...)
}

// readConfig is Config for the registry in home; "" for none.
func readConfig(home, userHome string) (Config, []error) {
	cfg := Config{CheckpointOn: []string{"Edit", "Write", "MultiEdit"}, MinInterval: 10 * time.Second}
	if home == "" {
		return cfg, nil
	}
	cfg.BasePath = filepath.Join(home, "stores")
	path := filepath.Join(home, "config.toml")
	data, err := disk.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return cfg, nil
	case err != nil:
		return cfg, []error{fmt.Errorf("read configuration: %w", err)}
	}
	var tables map[string]any
	if _, err := toml.Decode(string(data), &tables); err != nil {
		problem := err.Error()
		if e, ok := errors.AsType[toml.ParseError](err); ok {
			problem = fmt.Sprintf("line %d: %s", e.Position.Line, e.Message)
		}
		return cfg, []error{&ConfigError{File: path, Problem: problem}}
	}
	c := configReader{file: path, tables: tables, userHome: userHome}
	c.read(&cfg)
	c.unknown()
	return cfg, c.bad
}

// ConfigErrors returns the bad values in an error of Config.
func ConfigErrors(err error) (list []*ConfigError) {
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		if bad, ok := errors.AsType[*ConfigError](err); ok {
			list = append(list, bad)
		} else if err != nil {
			list = append(list, &ConfigError{Problem: err.Error()})
		}
	}
	return list
}

// configReader reads the values of the parsed file and collects the errors.
type configReader struct {
	file     string
	tables   map[string]any
	userHome string
	bad      []error
}

// read reads the values of all keys.
func (c *configReader) read(cfg *Config) {
	var text string
	c.path("stores.base_path", &cfg.BasePath)
	c.path("stores.default_mount_base", &cfg.DefaultMountBase)
	const allowed = `a size of at least "1MiB", such as "50G"`
	if value(c, "stores.default_size", allowed, &text) {
		if n, err := sizes.ParseSize(text); err == nil && n >= 1<<20 {
			cfg.DefaultSize = n
		} else {
			c.wrong("stores.default_size", allowed)
		}
	}

	var prune bool
	var keep int64
	hasPrune := value(c, "checkpoints.auto_prune", "true or false", &prune)
	const counts = "a whole number, at least 1"
	hasKeep := value(c, "checkpoints.keep_count", counts, &keep)
	if hasKeep && keep < 1 {
		c.wrong("checkpoints.keep_count", counts)
		hasKeep = false
	}
	switch {
	case hasPrune && !prune:
		cfg.NoPrune = true
	case hasKeep:
		cfg.Keep = int(min(keep, 1<<30))
	case hasPrune:
		cfg.Keep = keepCount
	}

	value(c, "hooks.claude_code", "true or false", &cfg.ClaudeCode)
	const tools = `a list of tools, such as ["Edit", "Write"]`
	var list []any
	if value(c, "hooks.checkpoint_on", tools, &list) {
		names := make([]string, 0, len(list))
		for _, item := range list {
			if name, ok := item.(string); ok && name != "" {
				names = append(names, name)
			}
		}
		if len(names) == len(list) {
			cfg.CheckpointOn = names
		} else {
			c.wrong("hooks.checkpoint_on", tools)
		}
	}
	const durations = `a duration from "0s" to "24h", such as "10s"`
	if value(c, "hooks.min_interval", durations, &text) {
		if d, err := time.ParseDuration(text); err == nil && d >= 0 && d <= 24*time.Hour {
			cfg.MinInterval = d
		} else {
			c.wrong("hooks.min_interval", durations)
		}
	}
}

// unknown reports keys without effect, such as misspelled or misplaced ones. Tables of other programs
// are left alone.
func (c *configReader) unknown() {
	known := map[string][]string{
		"stores":      {"base_path", "default_size", "default_mount_base"},
		"checkpoints": {"auto_prune", "keep_count"},
		"hooks":       {"claude_code", "checkpoint_on", "min_interval"},
	}
	for table, inner := range c.tables {
		values, isTable := inner.(map[string]any)
		if known[table] == nil && isTable {
			continue
		}
		if known[table] == nil {
			where := "unknown key"
			for name, keys := range known {
				if slices.Contains(keys, table) {
					where = "belongs in the table [" + name + "]"
				}
			}
			c.bad = append(c.bad, &ConfigError{File: c.file, Key: table, Problem: where})
			continue
		}
		for key := range values {
			if isTable && !slices.Contains(known[table], key) {
				c.bad = append(c.bad, &ConfigError{File: c.file, Key: table + "." + key, Problem: "unknown key"})
			}
		}
	}
	slices.SortStableFunc(c.bad, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
}

// path reads an absolute path, or one in the user's home directory.
func (c *configReader) path(key string, to *string) {
	const paths = `an absolute path, or one that starts with "~/"`
	var text string
	if !value(c, key, paths, &text) {
		return
	}
	text = expandHome(text, c.userHome)
	if !filepath.IsAbs(text) {
		c.wrong(key, paths)
		return
	}
	*to = filepath.Clean(text)
}

// expandHome replaces a ~ at the beginning of path.
func expandHome(path, home string) string {
	if rest, found := strings.CutPrefix(path, "~"); found && home != "" && (rest == "" || rest[0] == '/' || rest[0] == filepath.Separator) {
		return filepath.Join(home, rest)
	}
	return path
}

func (c *configReader) wrong(key, want string) {
	table, name, _ := strings.Cut(key, ".")
	got := c.tables[table]
	if values, ok := got.(map[string]any); ok && name != "" {
		got = values[name]
	}
	text := fmt.Sprint(got)
	if s, ok := got.(string); ok {
		text = strconv.Quote(s)
	}
	c.bad = append(c.bad, &ConfigError{File: c.file, Key: key, Got: text, Problem: "must be " + want})
}

// value reads the value of key, which is "table.name". It returns false if the file has none or one
// of another type.
func value[T any](c *configReader, key, want string, to *T) bool {
	table, name, _ := strings.Cut(key, ".")
	inner, found := c.tables[table]
	if !found {
		return false
	}
	values, ok := inner.(map[string]any)
	if !ok {
		c.wrong(table, "a table")
		return false
	}
	raw, found := values[name]
	if !found {
		return false
	}
	v, ok := raw.(T)
	if !ok {
		c.wrong(key, want)
		return false
	}
	*to = v
	return true
}
