package app

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// ChildLock is how long a detached child waits for the repository's lock.
const ChildLock = 30 * time.Second

// Workspace returns the workspace of a repository with its settings, without a log.
func (a *App) Workspace(repo *git.Repo) *workspace.Workspace {
	return a.WorkspaceOf(repo, a.Settings(repo), slog.New(slog.DiscardHandler))
}

// LoggingWorkspace is Workspace with the log of the worktree for a component, which the caller closes.
func (a *App) LoggingWorkspace(repo *git.Repo, component string) (*workspace.Workspace, io.Closer) {
	is := a.Settings(repo)
	log, file := OpenLog(workspace.Runtime(repo, is.Activation.Level), is.LogLevel)
	return a.WorkspaceOf(repo, is, log.With("component", component)), file
}

// WorkspaceOf returns the workspace of a repository. It confirms all questions without asking, and
// starts no child processes.
func (a *App) WorkspaceOf(repo *git.Repo, s settings.Settings, log *slog.Logger) *workspace.Workspace {
	remote := s.Source(settings.KeyPushRemote).Layer
	w := &workspace.Workspace{
		Repo:     repo,
		Sessions: session.Open(repo.CommonDir),
		Redact:   redact.New().WithFilesOf(repo.Root).WithMemory(),
		Options: workspace.Options{
			Level:    s.Activation.Level,
			Strategy: s.Strategy, Ask: s.CommitLinking == settings.LinkPrompt, AmendCommits: s.AmendCommits, LockTimeout: s.LockTimeout,
			Order:      checkpoint.Order(s.Primary == settings.GitRefs),
			ReadRemote: s.ReadRemote,
			PushRemote: s.PushRemote, OwnRemote: remote != settings.Project, ProposedRemote: s.Proposed(settings.KeyPushRemote),
			UnwantsPush:  s.UnwantsPush(),
			NeedsConsent: s.Global.Enabled && (remote == settings.User || remote == settings.Env), Global: s.Global,
			Summarize: s.Summarize, Bands: BandOptions(s), Recall: s.Recall,
		},
		Env: workspace.Environment{
			Getenv: a.Getenv, Now: a.Now, Random: a.Rand, Home: a.Home, Version: a.Version,
			Terminal: func() bool { return false }, Confirm: func(context.Context, string) bool { return true },
			Detach: func(...string) error { return nil },
			Say:    func(line string) { a.Streams.Notef("%s", line) },
			Ask:    func(ctx context.Context, prompt string) (string, error) { return claude.Ask(ctx, a.Environ, prompt) },
			Caller: proc.Caller, Alive: proc.Alive, Registry: a.Registry(),
			Machine: a.Machine(), Ancestors: proc.Ancestors,
		},
		Log: log,
	}
	if err := w.MaskForgotten(); err != nil {
		log.Error("the list of forgotten content can't be read", "error", err.Error())
	}
	return w
}

// Machine returns the records of the sessions on this machine, nil if there is no home directory.
func (a *App) Machine() *session.Machine {
	return session.OpenMachine(session.MachineDir(a.Getenv, a.Home))
}

// Sessions lists the sessions of a repository.
func (a *App) Sessions(repo *git.Repo) query.SessionReader {
	return query.SessionReader{
		Repo: repo, Alive: proc.Alive, Locate: git.Locate{Getenv: a.Getenv, Environ: a.Environ},
		Index: func(ctx context.Context) (*index.Reader, error) { return a.OpenIndex(ctx, repo) },
	}
}

// OpenIndex opens the index of a repository for a query, brought up to date with the record. It
// shows the progress.
func (a *App) OpenIndex(ctx context.Context, repo *git.Repo) (r *index.Reader, err error) {
	w := a.Workspace(repo)
	err = a.Streams.Stages("Reading the record", func(reach func(string, int64, int64)) (err error) {
		r, err = query.OpenIndex(ctx, w, reach)
		return err
	})
	if errors.Is(err, index.ErrBusy) {
		return nil, WithHint(errors.New("another process is updating the index"), "try again in a moment")
	}
	return r, err
}

// BandOptions returns the settings of snapshots as options of recording.
func BandOptions(s settings.Settings) workspace.BandOptions {
	return workspace.BandOptions{Enabled: s.Bands.Enabled, Exclude: s.Bands.Exclude, Cap: s.Bands.Cap, Floor: s.Bands.FreeFloor}
}

// Summarize writes a checkpoint's summaries at the user's request. Errors that the user can do
// something about have a hint.
func Summarize(ctx context.Context, w *workspace.Workspace, of record.SummaryOf) error {
	err := record.Summarize(ctx, w, of)
	switch {
	case errors.Is(err, record.ErrSummarized):
		return WithHint(err, "use --force to replace it")
	case errors.Is(err, proc.ErrNoProgram):
		return WithHint(err, "summaries need the program `claude`: install it, or add it to the PATH")
	case errors.Is(err, claude.ErrAnswer), errors.Is(err, record.ErrNoSummary):
		return WithHint(err, "try again, or check that `claude --print hello` works")
	}
	return err
}
