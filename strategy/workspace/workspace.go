// Package workspace holds the state that the functions of package strategy and its subpackages
// take: one worktree with its repository, sessions, settings and environment, and the lock of
// the repository's records.
//
// It imports the formats and the packages that do input and output (session,
// checkpoint, bands, internal/git, internal/disk), and no other package of strategy.
package workspace

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"time"

	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Workspace is one worktree, with its sessions and settings, as a hook or command
// uses it. It is not safe for concurrent use.
type Workspace struct {
	Repo     *git.Repo
	Sessions *session.Store
	Redact   Redactor
	Options  Options
	Env      Environment
	Log      *slog.Logger

	// Recovered counts the work finished for other hooks: decisions carried out late, turns of
	// dead agents.
	Recovered int
	// Retried counts how often work was repeated because another hook had saved
	// the session.
	Retried int
	// LockWait is how long the process has waited for the repository's lock,
	// LockHeld the longest time that it has held it.
	LockWait, LockHeld time.Duration

	user  *git.Signature // cached by Identity
	slots *disk.Slots    // of a child, while it runs

	masked     fs.FileInfo // the list of forgotten entries that Redact masks; nil if there is none
	redactions int         // the number of changes to the masks of Redact
}

// Identity returns the user as the author of the program's own commits, with the current time.
func (w *Workspace) Identity(ctx context.Context) (git.Signature, error) {
	if w.user == nil {
		by, err := git.Identity(ctx, w.Repo)
		if err != nil {
			return by, err
		}
		w.user = &by
	}
	by := *w.user
	by.When = w.Env.Now()
	return by, nil
}

// Transcripts returns the place of the transcripts of the worktree's sessions.
func (w *Workspace) Transcripts() transcript.Place {
	return transcript.Place{Getenv: w.Env.Getenv, Home: w.Env.Home, Root: w.Repo.Root, Records: w.RecordsDir()}
}

// Records opens the checkpoints of the repository, including fetched ones.
func (w *Workspace) Records(ctx context.Context) (checkpoint.Records, error) {
	return checkpoint.Open(ctx, w.Repo, w.Options.Order)
}

// LocalRecords opens the checkpoints that this clone has or continues: see checkpoint.OpenLocal.
func (w *Workspace) LocalRecords(ctx context.Context) (checkpoint.Records, error) {
	return checkpoint.OpenLocal(ctx, w.Repo, w.Options.Order)
}

// UpdateRecords applies changes to checkpoints, as the user, and moves the extra refs with them: see
// checkpoint.Update.
func (w *Workspace) UpdateRecords(ctx context.Context, changes []checkpoint.Change, extra ...git.RefChange) error {
	if len(changes)+len(extra) == 0 {
		return nil
	}
	by, err := w.Identity(ctx)
	if err != nil {
		return err
	}
	return checkpoint.Update(ctx, w.Repo, w.Options.Order, by, changes, extra)
}

// NewID returns an id for a new checkpoint: a ULID if new checkpoints get refs, else hex digits.
func (w *Workspace) NewID() (checkpoint.ID, error) {
	if w.Options.Order == checkpoint.RefsFirst {
		return checkpoint.NewULID(w.Env.Now(), w.Env.Random)
	}
	return checkpoint.NewHexID(w.Env.Random)
}

// Head returns the commit at HEAD; false on an unborn branch.
func (w *Workspace) Head(ctx context.Context) (git.Commit, bool, error) {
	c, err := w.Repo.Commit(ctx, "HEAD")
	if errors.Is(err, git.ErrMissing) {
		return git.Commit{}, false, nil
	}
	return c, err == nil, err
}

// NonceLen is the length of a nonce.
const NonceLen = 12

// NewNonce returns a random number in hexadecimal.
func (w *Workspace) NewNonce() (string, error) {
	b := make([]byte, 6)
	if _, err := io.ReadFull(w.Env.Random, b); err != nil {
		return "", fmt.Errorf("random number: %w", err)
	}
	return hex.EncodeToString(b), nil
}

// At returns the workspace of another worktree of the repository, whose repo the
// caller closes.
func (w *Workspace) At(repo *git.Repo) *Workspace {
	there := *w
	there.Repo = repo
	return &there
}

// AsPerson returns the workspace of a commit's hook as if a person had made the commit
// at a terminal.
func (w *Workspace) AsPerson() *Workspace {
	person := *w
	person.Env.Getenv = agent.WithoutMarks(w.Env.Getenv)
	person.Env.Terminal = func() bool { return true }
	person.Env.Caller = func() (proc.Info, bool) { return proc.Info{}, false }
	return &person
}

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
	// Level is what enables recording here.
	Level settings.Level
	// Strategy is Name or AutoCommit; empty means Name.
	Strategy string
	// Order is RefsFirst if new checkpoints get refs of their own.
	Order checkpoint.Order
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
	// ReadRemote is the remote to ask first for missing checkpoints, if any.
	ReadRemote string
	// OwnRemote reports whether PushRemote comes from the user's own settings, and not from a
	// proposal of the project: only then may it be a path.
	OwnRemote bool
	// ProposedRemote is the remote that only the project's settings name. Checkpoints are sent there if
	// Global trusts it.
	ProposedRemote string
	// UnwantsPush reports that the user isn't told that nothing is sent, though others send theirs.
	UnwantsPush bool
	// NeedsConsent reports that PushRemote is set for all repositories, of which every one is
	// recorded: checkpoints are sent to those remotes that Global trusts.
	NeedsConsent bool
	Global       settings.Global
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

// Environment provides access to the process, the user and the system.
type Environment struct {
	Getenv  func(string) string
	Now     func() time.Time
	Random  io.Reader
	Home    string
	Version string
	// Terminal reports whether this process has a terminal that a person can type at.
	Terminal func() bool
	// Say shows a line to the user.
	Say func(line string)
	// Confirm asks the user a question; the default is yes.
	Confirm func(ctx context.Context, question string) bool
	// Detach starts this program with these arguments as a process of its own.
	Detach func(args ...string) error
	// Caller returns the git process that runs this hook.
	Caller func() (proc.Info, bool)
	// Alive reports whether the process with this start time still runs.
	Alive func(pid int, start uint64) bool
	// Ask sends a prompt to a model, at the user's cost, and returns its reply.
	Ask func(ctx context.Context, prompt string) (string, error)
	// Registry is the catalog of snapshots, nil if there is none.
	Registry *registry.Registry
	// Machine has the records of the sessions on this machine, nil without a home directory.
	Machine *session.Machine
	// Ancestors returns the processes that started this one, the nearest first.
	Ancestors func() []proc.Info
}
