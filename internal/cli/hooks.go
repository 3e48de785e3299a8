package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/hooks/githook"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy"
)

const (
	// endTimeout is what a session that ends waits for its hooks.
	endTimeout = time.Second
	// pushTimeout bounds a push of checkpoints.
	pushTimeout = 2 * time.Minute
	// childTimeout bounds a detached child, childLock its wait for the lock.
	childTimeout = 5 * time.Minute
	childLock    = 30 * time.Second
)

// newHooksCmd is what installed hooks call. It takes any arguments, as a hook
// must end well whatever it is called with.
func newHooksCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:                "hooks",
		Hidden:             true,
		DisableFlagParsing: true,
		Args:               cobra.ArbitraryArgs,
		Annotations:        map[string]string{worksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			runHook(cmd.Context(), a, args)
			return nil
		},
	}
}

// hook is one run of a hook.
type hook struct {
	app  *app
	kind string // agent, git or child
	name string
	args []string

	repo     *git.Repo
	settings settings.Settings
	log      *slog.Logger
	logFile  io.Closer // to be closed last of all
	session  string
	later    [][]string // children to run here, where none may be detached
	rec      *strategy.Recorder
}

// runHook runs one hook. Whatever goes wrong ends in the log, and where
// somebody waits for a commit in a line for them.
func runHook(ctx context.Context, a *app, args []string) {
	h := &hook{app: a, log: slog.New(slog.DiscardHandler)}
	began := a.Now()
	var err error
	switch {
	case len(args) >= 2 && args[0] == "git":
		h.kind, h.name, h.args = "git", args[1], args[2:]
	case len(args) >= 2 && args[0] == claudeName:
		h.kind, h.name, h.args = "agent", args[1], args[2:]
	case len(args) >= 1 && args[0] == "complete":
		h.kind, h.name, h.args = "child", "complete", args[1:]
	default:
		return
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
		h.end(ctx, began, err)
		if h.logFile != nil {
			_ = h.logFile.Close()
		}
	}()
	switch h.kind {
	case "git":
		err = h.git(ctx)
	case "agent":
		err = h.agent(ctx)
	case "child":
		err = h.child(ctx)
	}
}

// end logs the one line that every hook leaves, unless it did nothing because
// recording is off here.
func (h *hook) end(ctx context.Context, began time.Time, err error) {
	if h.repo == nil {
		return
	}
	level, attrs := slog.LevelInfo, []slog.Attr{
		slog.String("component", "hooks"), slog.String("hook", h.name), slog.String("hook_type", h.kind),
		slog.Float64("duration_ms", float64(h.app.Now().Sub(began).Microseconds())/1000), //nolint:mnd // microseconds in a millisecond
		slog.Int("git_processes", h.repo.Processes()), slog.Bool("success", err == nil),
	}
	if h.session != "" {
		attrs = append(attrs, slog.String("session_id", h.session))
	}
	if h.rec != nil && h.rec.Recovered > 0 {
		attrs = append(attrs, slog.Int("recovered", h.rec.Recovered))
	}
	if err != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.String("error", redact.New().Text(err.Error())))
		if h.kind == "git" {
			h.app.Streams.Notef("entire: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	h.log.LogAttrs(ctx, level, "hook", attrs...)
}

// open takes a repository if recording is on there.
func (h *hook) open(repo *git.Repo) (on bool, done func()) {
	h.settings = h.app.settings(repo)
	if repo.Bare || repo.Root == "" || !h.settings.Enabled {
		return false, func() { _ = repo.Close() }
	}
	h.repo = repo
	h.log, h.logFile = openLog(repo.Root, h.settings.LogLevel)
	return true, func() { _ = repo.Close() }
}

// git runs a git hook.
func (h *hook) git(ctx context.Context) error {
	repo, err := git.Discover(git.Locate{Dir: h.app.Dir, Getenv: h.app.Getenv, Environ: h.app.Environ, Hook: true})
	if err != nil {
		return nil // not in a repository: nothing to record
	}
	on, done := h.open(repo)
	defer func() { done() }()
	if !on {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, h.gitTimeout())
	defer cancel()
	err = githook.Handle(ctx, h.recorder(h.settings.LockTimeout), h.name, h.args, h.app.Streams.In)
	return errors.Join(err, h.finish(ctx))
}

// gitTimeout is how long a git hook may take: a push and a question take
// longer than what nobody knows of.
func (h *hook) gitTimeout() time.Duration {
	switch {
	case h.name == "pre-push":
		return pushTimeout
	case h.settings.CommitLinking == settings.LinkPrompt:
		return h.settings.HookTimeout + answerTimeout
	default:
		return h.settings.HookTimeout
	}
}

// finish runs the children that may not be detached.
func (h *hook) finish(ctx context.Context) error {
	failed := make([]error, 0, len(h.later))
	for _, args := range h.later {
		child := &hook{app: h.app, settings: h.settings, log: h.log}
		repo, err := git.Discover(git.Locate{Dir: h.repo.Root, Getenv: h.app.Getenv, Environ: h.childEnviron()})
		if err != nil {
			return err
		}
		child.repo = repo
		err = child.recorder(childLock).Complete(context.WithoutCancel(ctx), strings.Join(args, ""))
		failed = append(failed, err, repo.Close())
	}
	return errors.Join(failed...)
}

// child does what a hook left for later.
func (h *hook) child(ctx context.Context) error {
	repo, err := h.app.repository()
	if err != nil {
		return nil // the worktree is gone
	}
	on, done := h.open(repo)
	defer func() { done() }()
	if !on {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, childTimeout)
	defer cancel()
	if len(h.args) > 0 {
		h.session = h.args[0]
	}
	return h.recorder(childLock).Complete(ctx, h.session)
}

// agent runs a hook of the agent.
func (h *hook) agent(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, h.app.settings(nil).HookTimeout)
	payload, bad := claude.Decode(wait, h.app.Streams.In)
	cancel()
	repo, err := h.sessionRepo(payload)
	if err != nil {
		return nil // not in a repository: nothing to record
	}
	on, done := h.open(repo)
	defer func() { done() }()
	if !on || bad != nil {
		return bad
	}
	timeout := h.settings.HookTimeout
	if h.name == "session-end" {
		timeout = min(timeout, endTimeout)
	}
	ctx, cancel = context.WithTimeout(ctx, timeout)
	defer cancel()
	h.session = payload.SessionID
	if err := h.checkTranscript(payload); err != nil {
		return err
	}
	if h.name == "session-start" || h.name == "user-prompt-submit" {
		h.mark(ctx)
	}
	if h.name == "session-start" {
		h.mend(ctx)
	}
	reply, err := claude.Handle(ctx, h.recorder(h.settings.LockTimeout), h.name, strategy.Input{
		SessionID: payload.SessionID, Transcript: payload.Transcript, Prompt: payload.Prompt,
		Summary: payload.Summary, Background: len(payload.Background) > 0, Agent: h.agentProcess(),
	})
	if len(reply) > 0 {
		h.app.Streams.Printf("%s", reply)
	}
	return errors.Join(err, h.finish(ctx))
}

// sessionRepo finds the repository of an agent's event: the one that holds the
// session's state, looked for from the project folder and then from the
// working directory, and in it the worktree of the working directory, else the
// session's last one.
func (h *hook) sessionRepo(p claude.Payload) (*git.Repo, error) {
	dir := p.Dir
	if !filepath.IsAbs(dir) {
		dir = h.app.Dir
	}
	locate := func(dir string) (*git.Repo, error) {
		return git.Discover(git.Locate{Dir: dir, Getenv: h.app.Getenv, Environ: h.app.Environ})
	}
	here, err := locate(dir)
	if err != nil && dir != h.app.Dir {
		here, err = locate(h.app.Dir)
	}
	project := h.app.Getenv("CLAUDE_PROJECT_DIR")
	if !filepath.IsAbs(project) {
		return here, err
	}
	there, failed := locate(project)
	if failed != nil || (err == nil && there.CommonDir == here.CommonDir) {
		return here, err
	}
	s, lost := session.Open(there.CommonDir).Load(p.SessionID)
	if lost == nil {
		if last, err := locate(s.WorktreePath); err == nil && last.CommonDir == there.CommonDir {
			return last, nil
		}
		return there, nil
	}
	if err == nil {
		if _, lost := session.Open(here.CommonDir).Load(p.SessionID); lost == nil {
			return here, nil
		}
	}
	return there, nil
}

// checkTranscript refuses a transcript that isn't the agent's: its content
// would end in the repository. One that the state names already was checked
// when it was named first, in the environment of then.
func (h *hook) checkTranscript(p claude.Payload) error {
	if p.Transcript == "" {
		return nil
	}
	if s, err := session.Open(h.repo.CommonDir).Load(p.SessionID); err == nil && s.TranscriptPath == p.Transcript {
		return nil
	}
	return transcript.CheckPath(p.Transcript, transcript.SessionDir(h.app.Getenv, h.app.Home, h.repo.Root))
}

// mark notes that the repository is enabled on this machine.
func (h *hook) mark(ctx context.Context) {
	path := settings.MarkerFile(h.repo.CommonDir)
	if _, err := os.Lstat(path); err == nil {
		return
	}
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = disk.WriteCache(path, nil, 0o600)
	}
	if err != nil {
		h.log.WarnContext(ctx, "not marked as enabled", "error", err.Error())
	}
}

// mend puts right what other tools have done to the hooks since.
func (h *hook) mend(ctx context.Context) {
	report, err := githook.Installer{Repo: h.repo}.Install(ctx)
	if err != nil {
		h.log.WarnContext(ctx, "git hooks not installed", "error", err.Error())
	}
	for _, note := range report.Notes {
		h.log.InfoContext(ctx, "git hooks", "note", note)
	}
	for _, path := range claudeFiles(h.repo.Root) {
		s := claudeSettings(h.repo, path)
		if n, _, err := s.Check(); err != nil || n == 0 {
			continue
		}
		if _, _, err := s.Install(); err != nil {
			h.log.WarnContext(ctx, "agent hooks not upgraded", "path", path, "error", err.Error())
		}
	}
}

// agentProcess is the process of the agent, if it says which one that is.
func (h *hook) agentProcess() session.Process {
	pid, err := strconv.Atoi(h.app.Getenv("CLAUDE_PID"))
	if err != nil || pid <= 1 {
		return session.Process{}
	}
	info, ok := proc.Look(pid)
	if !ok {
		return session.Process{}
	}
	return session.Process{PID: pid, Start: info.Start}
}

// recorder is the service that does the work.
func (h *hook) recorder(lock time.Duration) *strategy.Recorder {
	h.rec = &strategy.Recorder{
		Repo:     h.repo,
		Sessions: session.Open(h.repo.CommonDir),
		Redact:   redact.New(),
		Options: strategy.Options{
			Ask: h.settings.CommitLinking == settings.LinkPrompt, LockTimeout: lock, PushRemote: h.settings.PushRemote,
		},
		Env: strategy.Environment{
			Getenv: h.app.Getenv, Now: h.app.Now, Random: h.app.Rand, Home: h.app.Home, Version: h.app.Version,
			Terminal: h.terminal, Confirm: h.confirm, Detach: h.detach,
			Caller: proc.Caller, Alive: proc.Alive,
		},
		Log: h.log.With("component", h.name),
	}
	return h.rec
}
