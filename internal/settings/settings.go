// Package settings is the program's configuration as one typed value, read from layers: the
// defaults, contextd's file, the user's file, the project's file, the project's personal file, the
// environment. A later layer wins, key by key, and every value records its source.
//
// Loading never fails as a whole: a bad value is reported as a Problem and its key gets the
// default, an unknown key is kept in its file and listed. The package starts no process and prints
// nothing.
package settings

import (
	"log/slog"
	"slices"
	"time"
)

// Names of the strategies.
const (
	ManualCommit = "manual-commit"
	AutoCommit   = "auto-commit"
)

// The forms of checkpoints: on the branch entire/checkpoints/v1, or each in a ref of its own.
const (
	GitBranch = "git-branch"
	GitRefs   = "git-refs"
)

// Linking is how commits are linked: silently or after a question.
type Linking string

// The values of commit_linking.
const (
	LinkAlways Linking = "always"
	LinkPrompt Linking = "prompt"
)

// Layer is a source of values; a higher one takes precedence.
type Layer int

// The layers.
const (
	Default  Layer = iota
	Contextd       // <config home>/contextd/config.json
	User           // <config home>/entire/settings.json
	Project        // .entire/settings.json
	Clone          // <git common dir>/entire/settings.json
	Local          // .entire/settings.local.json of the main worktree, then of the worktree
	Env            // ENTIRE_*, CONTEXTD_*
)

// String returns the layer's name as `entire config` prints it.
func (l Layer) String() string {
	return [...]string{"default", "contextd", "user", "project", "clone", "local", "environment"}[l]
}

// Source is the source of a value: a layer and the file or variable in it, empty for a default.
type Source struct {
	Layer Layer
	Name  string
}

// Sources are the inputs of Load. Worktree is the root of the worktree, empty in a bare repository;
// MainWorktree is the root of the main one, whose personal file is also in force in Worktree, and whose
// project's file is used if Worktree has no settings of its own; empty if there is none.
type Sources struct {
	Worktree, MainWorktree string
	CommonDir              string
	// Implicit reports that the repository has no .git of its own, as one among the files of another.
	Implicit bool
	Home     string
	Getenv   func(string) string
	// Tracked reports whether git controls the personal file of a worktree root, which then counts
	// as the project's. It is called only if that matters. nil means no.
	Tracked func(root string) bool
	// Origins returns the URLs of the remote origin. It is called only if the user excludes remotes.
	// nil means that there are none.
	Origins func() ([]string, error)
	// StoreDefaults returns the defaults of bands.cap and bands.free_floor for the file system of
	// the repository. nil, or 0, means those of a large one.
	StoreDefaults func() (limit, floor int64)
}

// Settings holds all effective values. The zero value isn't valid: use Load.
type Settings struct {
	// Enabled reports whether sessions are recorded here, Configured whether the repository was
	// ever enabled or is among those that are recorded on this machine, and Marker whether it was
	// enabled on this machine. Activation has the reasons.
	Enabled, Configured, Marker bool
	Activation                  Activation
	Global                      Global

	Strategy     string
	LogLevel     slog.Level
	LocalDev     bool
	Telemetry    bool // accepted, without effect
	PushSessions bool // only PushRemote pushes; see UnwantsPush
	PushRemote   string
	// ReadRemote is the remote that other versions push checkpoints to, which is asked first for missing
	// ones.
	ReadRemote string
	// Primary is the form of new checkpoints, GitBranch or GitRefs. Mirrors are accepted, without effect.
	Primary       string
	Mirrors       []string
	Summarize     bool
	CommitLinking Linking
	// AmendCommits reports whether the last commit is amended with the trailer if no git hook could
	// add it.
	AmendCommits bool
	HookTimeout  time.Duration // SessionEnd has its own
	LockTimeout  time.Duration
	Bands        Bands
	Recall       Recall

	// Root is the worktree whose project's file is in force. Files lists the existing ones in the order of
	// their layers, without contextd's.
	Root  string
	Files []File

	Problems  []Problem
	Unknown   []UnknownKey
	Proposals []Proposal

	sources map[string]Source
	refused map[string]Source // source of a bad value that hides lower layers
}

// Bands are the settings of snapshots.
type Bands struct {
	Enabled bool
	Exclude []string
	// Cap and FreeFloor are in bytes; 0 is the default for the file system.
	Cap, FreeFloor int64
}

// File is an existing settings file. Enabled is the file's own value of that key, true if it has
// none; Explicit reports whether it has one.
type File struct {
	Layer    Layer
	Path     string
	Enabled  bool
	Explicit bool
}

// UnknownKey is a key that this version doesn't know. Foreign means that it is in contextd's file,
// where that is not an error.
type UnknownKey struct {
	Key, File string
	Foreign   bool
}

// Proposal is a value in the project's files that takes effect only if the user's own layers set it
// or the user has approved it.
type Proposal struct{ Key, Value, File string }

// Pending returns the proposals for keys that the user's own layers don't set.
func (s *Settings) Pending() []Proposal {
	return slices.DeleteFunc(slices.Clone(s.Proposals), func(p Proposal) bool {
		layer := s.sources[p.Key].Layer
		return layer != Project && layer != Default
	})
}

// Proposed returns the value that a project proposes for a key that the user's own layers don't set, ""
// if there is none.
func (s *Settings) Proposed(key string) string {
	for _, p := range s.Pending() {
		if p.Key == key {
			return p.Value
		}
	}
	return ""
}

// Problem is an unusable value, or a whole unusable file if Key is empty; the default is used
// instead.
type Problem struct {
	Where   string // file or variable, empty for neither
	Key     string
	Got     string
	Allowed string
}

// String describes the problem and the allowed values.
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

// Values returns every key with its value in a fixed order.
func (s *Settings) Values() []Value {
	all := fields()
	values := make([]Value, 0, len(all))
	for i := range all {
		f := &all[i]
		values = append(values, Value{Key: f.key, Value: f.get(s), Source: s.sources[f.key]})
	}
	return values
}

// UnwantsPush reports whether the settings say that checkpoints are not to be pushed, other than by naming
// no remote.
func (s *Settings) UnwantsPush() bool {
	return !s.PushSessions && s.Source(KeyPushSessions).Layer != Default
}

// Source returns the source of the value of key.
func (s *Settings) Source(key string) Source { return s.sources[key] }

func defaults() Settings {
	return Settings{
		Enabled:       true,
		Strategy:      ManualCommit,
		Primary:       GitBranch,
		LogLevel:      slog.LevelInfo,
		CommitLinking: LinkAlways,
		HookTimeout:   5 * time.Second,
		LockTimeout:   4 * time.Second,
		Bands:         Bands{Enabled: true},
		Recall:        recallDefaults(),
	}
}
