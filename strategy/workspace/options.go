package workspace

import (
	"cmp"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/settings"
)

// The strategies by their names in metadata and settings: the user commits, or
// each turn is committed when it ends.
const (
	Name       = checkpoint.ManualCommit
	AutoCommit = checkpoint.AutoCommit
)

// AutoMessage is the message of snapshots that the user did not ask for.
const AutoMessage = "auto"

// Options holds the settings of recording.
type Options struct {
	// Strategy is Name or AutoCommit; empty means Name.
	Strategy string
	// Ask reports whether the user is asked before a commit is linked.
	Ask bool
	// AmendCommits reports whether the last commit is amended with the trailer if no hook could
	// add it. Otherwise its link is kept beside it.
	AmendCommits bool
	// LockTimeout is how long a hook waits for the repository's lock.
	LockTimeout time.Duration
	// LineTimeout limits the redaction of one line of a transcript. A line that takes longer
	// is left out. Zero means no limit but that of the hook.
	LineTimeout time.Duration
	// PushRemote names the remote that checkpoints may be pushed to, if any.
	PushRemote string
	// OwnRemote reports whether PushRemote comes from the user's own settings, and not from a
	// proposal of the project: only then may it be a path.
	OwnRemote bool
	// Summarize reports whether a summary of each checkpoint is written.
	Summarize bool
	Bands     BandOptions
	Recall    settings.Recall
}

// BandOptions are the settings of snapshots.
type BandOptions struct {
	Enabled bool
	Exclude []string
	// Cap and Floor are bytes, 0 for the default of the file system.
	Cap, Floor int64
}

// StrategyName returns the strategy's name for metadata.
func (w *Workspace) StrategyName() string { return cmp.Or(w.Options.Strategy, Name) }
