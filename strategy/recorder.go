// Package strategy decides: what a turn changed, which commit belongs to which
// conversation, what of a session goes into a checkpoint and what is carried
// forward. It performs the actions that the session machine asks for, through
// checkpoint, session and internal/git.
//
// All it changes is changed under the repository's lock, in an order in which
// every prefix is a valid state: objects, refs, session states, and last the
// removal of the decision that asked for it. See docs/architecture.md.
package strategy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
)

// The strategies by their names in metadata and settings: the user commits, or
// each turn is committed when it ends.
const (
	Name       = checkpoint.ManualCommit
	AutoCommit = checkpoint.AutoCommit
)

// AgentType is how Claude Code stands in states, metadata and trailers.
const AgentType = "Claude Code"

// Redactor takes secrets out of text before it is written.
type Redactor interface {
	Line(line []byte) []byte
	Text(s string) string
	Path(path string) string
	// These end with ctx, in the middle of a long text too.
	LineContext(ctx context.Context, line []byte) ([]byte, error)
	TextContext(ctx context.Context, s string) (string, error)
}

// Options are the settings that the recorder obeys.
type Options struct {
	// Strategy is Name or AutoCommit; empty stands for Name.
	Strategy string
	// Ask says that a person is asked before a commit is linked.
	Ask bool
	// LockTimeout is how long a hook waits for the repository's lock.
	LockTimeout time.Duration
	// LineTimeout is how long one line of a transcript is redacted. A line that takes
	// longer is left out. Zero is no limit but that of the hook.
	LineTimeout time.Duration
	// PushRemote names the remote that checkpoints may be pushed to, if any.
	PushRemote string
	// OwnRemote says that PushRemote comes from the user's own settings, and not
	// from a proposal of the project: only then it may be a path.
	OwnRemote bool
	// Summarize says that a summary is written of each checkpoint.
	Summarize bool
	Bands     BandOptions
	Recall    settings.Recall
}

// Environment is what the recorder knows of the world outside the repository.
type Environment struct {
	Getenv  func(string) string
	Now     func() time.Time
	Random  io.Reader
	Home    string
	Version string
	// Terminal says whether a person sits at a terminal of this process.
	Terminal func() bool
	// Say shows a line to the person who waits.
	Say func(line string)
	// Confirm asks a person, with yes as the answer of silence.
	Confirm func(ctx context.Context, question string) bool
	// Detach starts this program again, with these arguments, to go on alone.
	Detach func(args ...string) error
	// Caller is the git process that runs this hook.
	Caller func() (proc.Info, bool)
	// Alive says whether a process still runs.
	Alive func(pid int, start uint64) bool
	// Ask puts a prompt to a model, at the user's cost, and answers what it says.
	Ask func(ctx context.Context, prompt string) (string, error)
	// Registry is the catalog of snapshots, nil where none is kept.
	Registry *bands.Registry
}

// Recorder carries out what happens to sessions and commits of one worktree.
// It serves one hook and is not safe for concurrent use.
type Recorder struct {
	Repo     *git.Repo
	Sessions *session.Store
	Redact   Redactor
	Options  Options
	Env      Environment
	Log      *slog.Logger

	// Recovered counts what was finished for others: decisions carried out
	// late, turns of dead agents.
	Recovered int
	// Retried counts how often work was done again because another hook was
	// faster.
	Retried int
	// LockWait is how long the recorder has waited for the repository's lock,
	// LockHeld the longest time that it has held it.
	LockWait, LockHeld time.Duration

	user  *git.Signature  // once asked for
	slots *disk.SlotLocks // of a child, while it works
}

// identity is who makes commits of ours: the user, now.
func (r *Recorder) identity(ctx context.Context) (git.Signature, error) {
	if r.user == nil {
		by, err := r.Repo.Identity(ctx)
		if err != nil {
			return by, err
		}
		r.user = &by
	}
	by := *r.user
	by.When = r.Env.Now()
	return by, nil
}

// dir is the folder of the repository's own records.
func (r *Recorder) dir() string { return filepath.Join(r.Repo.CommonDir, "entire") }

// locked runs do while this process holds the repository's lock.
func (r *Recorder) locked(ctx context.Context, do func() error) error {
	if err := disk.MkdirAll(r.dir(), 0o700); err != nil {
		return fmt.Errorf("make %s: %w", r.dir(), err)
	}
	wait, cancel := context.WithTimeout(ctx, r.Options.LockTimeout)
	defer cancel()
	asked := r.Env.Now()
	lock, err := disk.Lock(wait, filepath.Join(r.dir(), "lock"))
	taken := r.Env.Now()
	r.LockWait += taken.Sub(asked)
	if err != nil {
		return err
	}
	err = errors.Join(do(), lock.Unlock())
	r.LockHeld = max(r.LockHeld, r.Env.Now().Sub(taken))
	return err
}

// here says whether the session belongs to this worktree. Of the main worktree
// are also those from before the repository was moved.
func (r *Recorder) here(s *session.State) bool {
	if s.WorktreePath == r.Repo.Root {
		return true
	}
	resolved, err := filepath.EvalSymlinks(s.WorktreePath)
	if errors.Is(err, fs.ErrNotExist) {
		return s.WorktreeID == "" && r.Repo.WorktreeID == ""
	}
	return err == nil && resolved == r.Repo.Root
}

// pendingHere answers the sessions of this worktree for which a commit may
// matter. States that can't be read are logged and left alone.
func (r *Recorder) pendingHere(ctx context.Context) []*session.State {
	return r.ofHere(ctx, r.Sessions.Pending)
}

// ofHere answers the sessions of this worktree among those that list answers.
func (r *Recorder) ofHere(ctx context.Context, list func() ([]*session.State, []error)) []*session.State {
	states, failed := list()
	for _, err := range failed {
		r.Log.WarnContext(ctx, "session state skipped", "error", err.Error())
	}
	var here []*session.State
	for _, s := range states {
		if r.here(s) {
			here = append(here, s)
		}
	}
	return here
}

// head answers the commit at HEAD; false on an unborn branch.
func (r *Recorder) head(ctx context.Context) (git.Commit, bool, error) {
	c, err := r.Repo.Commit(ctx, "HEAD")
	if errors.Is(err, git.ErrMissing) {
		return git.Commit{}, false, nil
	}
	return c, err == nil, err
}
