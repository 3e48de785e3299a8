package workspace

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

// Workspace is one worktree, with its sessions and settings, as the services of a
// hook or command use it. It is not safe for concurrent use.
type Workspace struct {
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

// Identity is who makes commits of ours: the user, now.
func (r *Workspace) Identity(ctx context.Context) (git.Signature, error) {
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

// RecordsDir is the folder of the repository's own records.
func (r *Workspace) RecordsDir() string { return filepath.Join(r.Repo.CommonDir, "entire") }

// WithLock runs do while this process holds the repository's lock.
func (r *Workspace) WithLock(ctx context.Context, do func() error) error {
	if err := disk.MkdirAll(r.RecordsDir(), 0o700); err != nil {
		return fmt.Errorf("make %s: %w", r.RecordsDir(), err)
	}
	wait, cancel := context.WithTimeout(ctx, r.Options.LockTimeout)
	defer cancel()
	asked := r.Env.Now()
	lock, err := disk.Lock(wait, filepath.Join(r.RecordsDir(), "lock"))
	taken := r.Env.Now()
	r.LockWait += taken.Sub(asked)
	if err != nil {
		return err
	}
	err = errors.Join(do(), lock.Unlock())
	r.LockHeld = max(r.LockHeld, r.Env.Now().Sub(taken))
	return err
}

// OwnsSession says whether the session belongs to this worktree. Of the main worktree
// are also those from before the repository was moved.
func (r *Workspace) OwnsSession(s *session.State) bool {
	if s.WorktreePath == r.Repo.Root {
		return true
	}
	resolved, err := filepath.EvalSymlinks(s.WorktreePath)
	if errors.Is(err, fs.ErrNotExist) {
		return s.WorktreeID == "" && r.Repo.WorktreeID == ""
	}
	return err == nil && resolved == r.Repo.Root
}

// PendingSessions answers the sessions of this worktree for which a commit may
// matter. States that can't be read are logged and left alone.
func (r *Workspace) PendingSessions(ctx context.Context) []*session.State {
	return r.OwnSessions(ctx, r.Sessions.Pending)
}

// OwnSessions answers the sessions of this worktree among those that list answers.
func (r *Workspace) OwnSessions(ctx context.Context, list func() ([]*session.State, []error)) []*session.State {
	states, failed := list()
	for _, err := range failed {
		r.Log.WarnContext(ctx, "session state skipped", "error", err.Error())
	}
	var here []*session.State
	for _, s := range states {
		if r.OwnsSession(s) {
			here = append(here, s)
		}
	}
	return here
}

// Head answers the commit at HEAD; false on an unborn branch.
func (r *Workspace) Head(ctx context.Context) (git.Commit, bool, error) {
	c, err := r.Repo.Commit(ctx, "HEAD")
	if errors.Is(err, git.ErrMissing) {
		return git.Commit{}, false, nil
	}
	return c, err == nil, err
}

// At returns the workspace of another worktree of the repository, whose repo the
// caller closes.
func (r *Workspace) At(repo *git.Repo) *Workspace {
	there := *r
	there.Repo = repo
	return &there
}

// AsPerson returns the workspace as the hook of a commit has it that a person makes
// at a terminal.
func (r *Workspace) AsPerson() *Workspace {
	person := *r
	person.Env.Getenv = func(name string) string {
		if name == "CLAUDECODE" {
			return ""
		}
		return r.Env.Getenv(name)
	}
	person.Env.Terminal = func() bool { return true }
	person.Env.Caller = func() (proc.Info, bool) { return proc.Info{}, false }
	return &person
}
