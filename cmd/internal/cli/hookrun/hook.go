package hookrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/hooks/githook"
	"github.com/seed-3aff656d/entire/internal/database"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// endTimeout limits the hooks at the end of a session, which waits for them.
const endTimeout = time.Second

// pushTimeout limits a push of checkpoints.
const pushTimeout = 30 * time.Second

// childTimeout limits the time that a detached child runs.
const childTimeout = 5 * time.Minute

// lineTimeout is the part of childTimeout that one line of a transcript may take.
const lineTimeout = 4 * time.Minute

// slowLock is the minimum time of waiting for the repository's lock, or of holding it, that the log
// records.
const slowLock = 100 * time.Millisecond

// The tasks of a detached child: the rest of a session's work, snapshots, the summary of a
// checkpoint, the rest of a session's context, the index of turns, or a prompt in the other
// repositories of a session.
const (
	childComplete  = "complete"
	childSnapshot  = "snapshot"
	childSummarize = "summarize"
	childRecall    = "recall"
	childIndex     = "index"
	childFollow    = "follow"
)

// hook is one run of a hook.
type hook struct {
	app  *app.App
	kind string // agent, git or child
	name string
	args []string
	by   agent.Agent // the agent of an agent hook

	repo     *git.Repo
	settings settings.Settings
	log      *slog.Logger
	logFile  io.Closer // closed after all else
	session  string
	commit   int        // git processes that the commit of a turn took
	mended   int        // git processes that repaired git's hooks
	later    [][]string // children to run in this process, if they may not be detached
	started  bool       // a child was started
	inline   bool       // children run in this process, one after another
	w        *workspace.Workspace
}

// parse returns the hook that arguments name; its kind is empty if there is none.
func parse(args []string) *hook {
	h := &hook{}
	isAgent := false
	if len(args) >= 2 {
		h.by, isAgent = agent.ByName(args[0])
	}
	switch {
	case len(args) >= 2 && args[0] == "git":
		h.kind, h.name, h.args = "git", args[1], args[2:]
	case isAgent && agenthook.Verb(h.by, args[1]) != "":
		h.kind, h.name, h.args = "agent", agenthook.Verb(h.by, args[1]), args[2:]
	case len(args) >= 1 && slices.Contains([]string{childComplete, childSnapshot, childSummarize, childRecall, childIndex, childFollow}, args[0]):
		h.kind, h.name, h.args = "child", args[0], args[1:]
	}
	return h
}

// runHook runs one hook. Errors are logged, and those of git hooks are also printed on one line, as
// a user waits for the commit.
func runHook(ctx context.Context, a *app.App, args []string) {
	if a.Getenv(claude.Summarizing) != "" {
		return // the program that writes a summary is not a session
	}
	h := parse(args)
	if h.kind == "" {
		return
	}
	h.app, h.log = a, slog.New(slog.DiscardHandler)
	began := a.Now()
	var err error
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

// end logs the line of this hook, unless recording is off here and the hook did nothing.
func (h *hook) end(ctx context.Context, began time.Time, err error) {
	if h.repo == nil {
		return
	}
	name := h.name
	if errors.Is(err, agenthook.ErrVerb) || errors.Is(err, githook.ErrVerb) {
		name = "unknown"
	}
	level, attrs := slog.LevelInfo, []slog.Attr{
		slog.String("component", "hooks"), slog.String("hook", name), slog.String("hook_type", h.kind),
		slog.Float64("duration_ms", float64(h.app.Now().Sub(began).Microseconds())/1000), //nolint:mnd // microseconds in a millisecond
		slog.Int("git_processes", h.repo.Processes()-h.commit-h.mended), slog.Bool("success", err == nil),
	}
	if h.session != "" {
		attrs = append(attrs, slog.String("session_id", h.session))
	}
	if h.commit > 0 {
		attrs = append(attrs, slog.Int("commit_git_processes", h.commit))
	}
	if h.mended > 0 {
		attrs = append(attrs, slog.Int("mend_git_processes", h.mended))
	}
	if h.w != nil && h.w.Recovered > 0 {
		attrs = append(attrs, slog.Int("recovered", h.w.Recovered))
	}
	if h.w != nil && h.w.Retried > 0 {
		attrs = append(attrs, slog.Int("retried", h.w.Retried))
	}
	if h.w != nil && max(h.w.LockWait, h.w.LockHeld) >= slowLock {
		attrs = append(attrs, slog.Int64("lock_wait_ms", h.w.LockWait.Milliseconds()), slog.Int64("lock_held_ms", h.w.LockHeld.Milliseconds()))
	}
	if err != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.String("error", redact.New().Text(err.Error())))
		if h.kind == "git" {
			h.app.Streams.Notef("entire: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
			if hint := app.HintOf(err); hint != "" {
				h.app.Streams.Hint(hint)
			}
		}
	}
	h.log.LogAttrs(ctx, level, "hook", attrs...)
}

// open sets the repository of the hook if recording is on there, and opens the log.
func (h *hook) open(repo *git.Repo) (on bool) {
	h.settings = h.app.Settings(repo)
	if repo.Bare || repo.Root == "" || !h.settings.Enabled {
		return false
	}
	h.repo = repo
	h.log, h.logFile = app.OpenLog(workspace.Runtime(repo, h.settings.Activation.Level), h.settings.LogLevel)
	return true
}

// git runs a git hook.
func (h *hook) git(ctx context.Context) error {
	repo, err := git.Discover(git.Locate{Dir: h.app.Dir, Getenv: h.app.Getenv, Environ: h.app.Environ, Hook: true})
	if err != nil {
		return nil // not in a repository: nothing to record
	}
	defer func() { _ = repo.Close() }()
	if !h.open(repo) {
		return nil
	}
	// A push and a question take longer than the other hooks.
	timeout := h.settings.HookTimeout
	switch {
	case h.name == "pre-push":
		timeout = pushTimeout
	case h.settings.CommitLinking == settings.LinkPrompt:
		timeout += answerTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = githook.Handle(ctx, h.workspace(h.settings.LockTimeout), h.name, h.args, h.app.Streams.In)
	if h.name == "post-commit" {
		err = errors.Join(err, h.startIndexing())
	}
	return errors.Join(err, h.finish(ctx))
}

// finish runs the children that may not be detached.
func (h *hook) finish(ctx context.Context) error {
	failed := make([]error, 0, len(h.later))
	for _, args := range h.later {
		child := &hook{app: h.app, kind: "child", name: args[0], args: args[1:], settings: h.settings, log: h.log}
		repo, err := git.Discover(git.Locate{Dir: h.repo.Root, Getenv: h.app.Getenv, Environ: childEnviron(h.app)})
		if err != nil {
			return err
		}
		child.repo = repo
		err = child.work(context.WithoutCancel(ctx))
		failed = append(failed, err, repo.Close())
	}
	return errors.Join(failed...)
}

// child runs the task that a hook left to a detached child.
func (h *hook) child(ctx context.Context) error {
	if h.name == childFollow && len(h.args) == 2 {
		return h.followPrompt(ctx, h.args[0], h.args[1])
	}
	repo, err := h.app.Repository()
	if err != nil {
		return nil // the worktree was removed
	}
	defer func() { _ = repo.Close() }()
	if !h.open(repo) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, childTimeout)
	defer cancel()
	return h.work(ctx)
}

// work runs the task of a child. Every child then updates the index of turns if it exists. The
// first query creates the index, as that may take a minute and 100 MB.
func (h *hook) work(ctx context.Context) error {
	if _, err := checkpoint.LoadTombstones(h.repo.CommonDir); err != nil {
		return err // the task remains to be done
	}
	if len(h.args) > 0 && (h.name == childComplete || h.name == childRecall) {
		h.session = h.args[0]
	}
	var err error
	switch h.name {
	case childIndex:
	case childSnapshot:
		err = strategy.ServeSnapshots(ctx, h.workspace(app.ChildLock))
	case childSummarize:
		err = h.summarize(ctx)
	case childRecall:
		err = strategy.FinishRecall(ctx, h.workspace(app.ChildLock), h.session)
	default: // childComplete
		w := h.workspace(app.ChildLock)
		w.Options.LineTimeout = lineTimeout
		err = strategy.Complete(ctx, w, h.session)
	}
	if w := h.workspace(app.ChildLock); database.HasDriver() && strategy.HasIndex(w) {
		err = errors.Join(err, strategy.FillIndex(ctx, w))
	}
	return err
}

// startIndexing starts a child that updates the index of turns, unless another child was started,
// which will update it, or no query has created the index yet.
func (h *hook) startIndexing() error {
	if h.started || !strategy.HasIndex(h.w) {
		return nil
	}
	return h.detach("hooks", childIndex)
}

// Project is the repository of an agent's session, open for recording.
type Project struct {
	Repo      *git.Repo
	Workspace *workspace.Workspace
	Settings  settings.Settings
	Log       *slog.Logger

	hook *hook
}

// OpenProject opens the repository of a session, which is searched as for a hook of the agent in
// dir, with its current settings and log.
func OpenProject(a *app.App, sessionID, dir string) (*Project, error) {
	h := &hook{app: a, kind: "mcp", name: "mcp"}
	repo, err := sessionRepo(a, agenthook.Payload{SessionID: sessionID, Dir: dir})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if !h.open(repo) {
		_ = repo.Close()
		return nil, errors.New("recording is off here: run `entire enable`")
	}
	w := h.workspace(h.settings.LockTimeout)
	w.Env.Terminal = func() bool { return false } // the terminal is the agent's
	return &Project{Repo: repo, Workspace: w, Settings: h.settings, Log: h.log, hook: h}, nil
}

// Close completes the work that can't be left to another process, and closes the repository.
func (p *Project) Close(ctx context.Context) error {
	err := p.hook.finish(ctx)
	_ = p.Repo.Close()
	return errors.Join(err, p.hook.logFile.Close())
}

// workspace returns the workspace of the repository, with the terminal and the log of the hook.
func (h *hook) workspace(lock time.Duration) *workspace.Workspace {
	h.w = h.app.WorkspaceOf(h.repo, h.settings, h.log.With("component", h.name))
	h.w.Options.LockTimeout = lock
	h.w.Env.Registry.Defaults = func(err error) { h.log.Warn("settings of the stores", "error", err.Error()) }
	tty := terminal{h.app.Getenv("ENTIRE_TEST_TTY")}
	h.w.Env.Terminal, h.w.Env.Confirm, h.w.Env.Detach = tty.attended, tty.confirm, h.detach
	return h.w
}

// summarize runs the child that writes the summary of a new checkpoint.
func (h *hook) summarize(ctx context.Context) error {
	if len(h.args) == 0 {
		return errors.New("no checkpoint named")
	}
	id, err := checkpoint.ParseID(h.args[0])
	if err != nil {
		return err
	}
	if !h.settings.Summarize {
		return fmt.Errorf("checkpoint %s: summaries are off", id)
	}
	err = app.Summarize(ctx, h.workspace(app.ChildLock), record.SummaryOf{ID: id})
	if errors.Is(err, record.ErrSummarized) || errors.Is(err, record.ErrNothingSaid) {
		return nil
	}
	return err
}
