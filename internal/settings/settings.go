// Package settings is the program's configuration as one typed value, read
// from layers: the defaults, contextd's file, the user's file, the project's
// file, the project's personal file, the environment. A later layer wins, key by key, and
// every value remembers where it came from.
//
// Loading never fails as a whole: a bad value is a Problem and leaves the
// default for its key in force, an unknown key is kept in its file and listed.
// The package starts no process and prints nothing.
package settings

import (
	"log/slog"
	"slices"
	"time"
)

// The strategies by name.
const (
	ManualCommit = "manual-commit"
	AutoCommit   = "auto-commit"
)

// Linking reports whether a commit is linked silently or after a question.
type Linking string

// The values of commit_linking.
const (
	LinkAlways Linking = "always"
	LinkPrompt Linking = "prompt"
)

// Layer is a place that values come from; a higher one wins.
type Layer int

// The layers.
const (
	Default  Layer = iota
	Contextd       // <config home>/contextd/config.json
	User           // <config home>/entire/settings.json
	Project        // .entire/settings.json
	Local          // .entire/settings.local.json
	Env            // ENTIRE_*, CONTEXTD_*
)

// String is the layer's name as `entire config` prints it.
func (l Layer) String() string {
	return [...]string{"default", "contextd", "user", "project", "local", "environment"}[l]
}

// Source is where a value came from: a layer and, in it, the file or variable,
// empty for a default.
type Source struct {
	Layer Layer
	Name  string
}

// Sources is where Load looks. Worktree is the root of the worktree, empty in
// a bare repository; MainWorktree that of the main one, which counts where
// Worktree has no settings of its own.
type Sources struct {
	Worktree, MainWorktree string
	CommonDir              string
	Home                   string
	Getenv                 func(string) string
	// Tracked reports whether git brings the personal file of a worktree root, which
	// then counts as the project's. It is asked only where that matters. nil: no.
	Tracked func(root string) bool
	// StoreDefaults are the defaults of bands.cap and bands.free_floor for the
	// file system of the repository. nil, or 0: as for a large one.
	StoreDefaults func() (limit, floor int64)
}

// Settings is every value in force. The zero value isn't valid: use Load.
type Settings struct {
	// Enabled reports whether sessions are recorded here, Configured that somebody
	// once enabled the repository, and Marker that it was done on this machine.
	Enabled, Configured, Marker bool

	Strategy      string
	LogLevel      slog.Level
	LocalDev      bool
	Telemetry     bool // accepted, without effect
	PushSessions  bool // accepted, without effect: only PushRemote pushes
	PushRemote    string
	Summarize     bool
	CommitLinking Linking
	// AmendCommits reports whether the last commit is amended with the trailer if no git hook
	// could add it.
	AmendCommits bool
	HookTimeout  time.Duration // SessionEnd has one of its own
	LockTimeout  time.Duration
	Bands        Bands
	Recall       Recall

	// Root is the worktree whose files were read, Files those that exist, in
	// the order of their layers, without contextd's.
	Root  string
	Files []File

	Problems  []Problem
	Unknown   []UnknownKey
	Proposals []Proposal

	sources map[string]Source
	refused map[string]Source // where a bad value hides those below it
}

// Bands are the settings of snapshots.
type Bands struct {
	Enabled bool
	Exclude []string
	// Cap and FreeFloor are bytes; 0 is the default for the file system.
	Cap, FreeFloor int64
}

// File is a settings file that exists. Enabled is its own value of that key, true
// if it has none.
type File struct {
	Layer   Layer
	Path    string
	Enabled bool
}

// UnknownKey is a key that no version of the program has. In contextd's file
// that is no mistake: Foreign.
type UnknownKey struct {
	Key, File string
	Foreign   bool
}

// Proposal is a value that the project's files ask for, and that counts only
// from the user's own layers or once the user has approved it.
type Proposal struct{ Key, Value, File string }

// Pending are the proposals on which the user's own layers have not decided.
func (s *Settings) Pending() []Proposal {
	return slices.DeleteFunc(slices.Clone(s.Proposals), func(p Proposal) bool {
		layer := s.sources[p.Key].Layer
		return layer != Project && layer != Default
	})
}

// Problem is a value, or a whole file if Key is empty, that can't be used; the
// default is in force in its place.
type Problem struct {
	Where   string // file or variable, empty for neither
	Key     string
	Got     string
	Allowed string
}

// String describes what is wrong and what would be right.
func (p Problem) String() string {
	text := p.Allowed
	if p.Key != "" {
		text = p.Key + " is " + p.Got + ", allowed: " + p.Allowed
	}
	if p.Where == "" {
		return text
	}
	return p.Where + ": " + text
}

// Value is an effective value.
type Value struct {
	Key    string
	Value  any
	Source Source
}

// Values lists every key in a fixed order.
func (s *Settings) Values() []Value {
	all := fields()
	values := make([]Value, 0, len(all))
	for i := range all {
		f := &all[i]
		values = append(values, Value{Key: f.key, Value: f.get(s), Source: s.sources[f.key]})
	}
	return values
}

// Source is where the value of key came from.
func (s *Settings) Source(key string) Source { return s.sources[key] }

func defaults() Settings {
	return Settings{
		Enabled:       true,
		Strategy:      ManualCommit,
		LogLevel:      slog.LevelInfo,
		CommitLinking: LinkAlways,
		HookTimeout:   5 * time.Second,
		LockTimeout:   4 * time.Second,
		Bands:         Bands{Enabled: true},
		Recall:        recallDefaults(),
	}
}
