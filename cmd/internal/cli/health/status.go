// Package health shows the state of recording, finds its faults and removes records: status,
// doctor, agents, check, clean, reset, forget and redact.
package health

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/hooks/githook"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/sharing"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

type statusOptions struct{ detailed, json bool }

// NewStatus returns the command that shows the state of recording.
func NewStatus(a *app.App) *cobra.Command {
	var opts statusOptions
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what is recorded and what prevents recording",
		Long: `Shows whether sessions are recorded in this repository, the open sessions of all
worktrees, what the next commit would be linked to, the latest snapshot, the disk
space used, and problems: missing hooks, bad settings, failures of hooks since you
last looked. With --json it prints one object, and failures stay unseen; see
docs/formats/status.md.

EXIT STATUS
  0  shown
  1  failure
  2  wrong usage`,
		Example: `  entire status
  entire status --json`,
		Args:        cobra.NoArgs,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := status(cmd.Context(), a)
			if err != nil {
				return err
			}
			return runStatus(a, opts, s)
		},
	}
	cmd.Flags().BoolVar(&opts.detailed, "detailed", false, "also show each settings file and pending file")
	setup.JSONFlag(cmd.Flags(), &opts.json)
	return cmd
}

// The states of a repository.
const (
	stateEnabled  = "enabled"
	stateDisabled = "disabled"
	stateNotSetUp = "not-set-up"
	stateNoRepo   = "no-repository"
	stateBare     = "bare"
)

// statusReport is the output of `status --json`; docs/formats/status.md
// describes it.
type statusReport struct {
	State string `json:"state"`
	// Activation is the level that enables recording, and the reason why it is off.
	Activation *activationJSON     `json:"activation,omitempty"`
	Strategy   string              `json:"strategy,omitempty"`
	Repository *repositoryJSON     `json:"repository,omitempty"`
	Settings   *setup.SettingsJSON `json:"settings,omitempty"`
	GitHooks   *gitHooksJSON       `json:"git_hooks,omitempty"`
	AgentHooks *agentHooksJSON     `json:"agent_hooks,omitempty"`
	// OtherAgents holds the other agents that have hooks here.
	OtherAgents []*agentHooksJSON `json:"other_agents,omitempty"`
	Failures    *failuresJSON     `json:"hook_failures,omitempty"`
	Unfinished  int               `json:"unfinished"`
	Snapshots   *snapshotsJSON    `json:"snapshots,omitempty"`
	Contexts    *contextJSON      `json:"context_checkpoints,omitempty"`
	Next        *nextCommitJSON   `json:"next_commit,omitempty"`
	// Sending is the remote to which each push sends checkpoints, or would if the user allowed it.
	Sending  *setup.SendingJSON `json:"sending,omitempty"`
	Sessions []sessionJSON      `json:"sessions"`
	Notes    []app.Note         `json:"notes"`
	// Copies describes the transcripts that a rewind or a resume replaced.
	Copies *transcriptCopiesJSON `json:"transcript_copies,omitempty"`
	// Interrupted is the point of an interrupted rewind.
	Interrupted string `json:"interrupted_rewind,omitempty"`

	// text says why nothing is recorded; runtime is the folder of the log.
	text    string
	runtime settings.Folder
}

type activationJSON struct {
	Level  settings.Level  `json:"level"`
	Reason settings.Reason `json:"reason,omitempty"`
	By     string          `json:"by,omitempty"`
}

type repositoryJSON struct {
	Root       string `json:"root"`
	CommonDir  string `json:"common_dir"`
	WorktreeID string `json:"worktree_id"`
}

type gitHooksJSON struct {
	Installed bool     `json:"installed"`
	Dir       string   `json:"dir"`
	Missing   []string `json:"missing"`
	Chained   []string `json:"chained"`
}

type agentHooksJSON struct {
	Agent     string   `json:"agent"`
	Installed int      `json:"installed"`
	Missing   []string `json:"missing"`
	File      string   `json:"file,omitempty"`
	Level     string   `json:"level"` // of the file: project or user
	// Questions is the file with the hooks that ask before a clear. Server is the scope in which
	// the MCP server that they ask is registered.
	Questions  string       `json:"questions_file,omitempty"`
	Server     claude.Scope `json:"mcp_server,omitempty"`
	StatusLine string       `json:"status_line_file,omitempty"`
}

// status gathers the report. It fails only if the repository can't be read.
func status(ctx context.Context, a *app.App) (*statusReport, error) {
	r := &statusReport{Sessions: []sessionJSON{}, Notes: []app.Note{}}
	repo, err := a.Repository()
	switch {
	case errors.Is(err, git.ErrNotRepository):
		r.State = stateNoRepo
		return r, nil
	case err != nil:
		return nil, err
	case repo.Bare:
		r.State = stateBare
		return r, nil
	}
	defer func() { _ = repo.Close() }()
	s := a.Settings(repo)
	addNext, addContexts := nextCommit(ctx, a, repo, s), contextCheckpoints(ctx, a, repo, s)
	r.Repository = &repositoryJSON{Root: repo.Root, CommonDir: repo.CommonDir, WorktreeID: repo.WorktreeID}
	switch {
	case s.Enabled:
		r.State = stateEnabled
	case s.Configured:
		r.State = stateDisabled
	default:
		r.State = stateNotSetUp
	}
	r.Strategy, r.Activation = s.Strategy, &activationJSON{s.Activation.Level, s.Activation.Reason, s.Activation.By}
	r.text = s.Activation.Text()
	r.Interrupted, _ = app.InterruptedRewind(repo)
	copies := transcriptCopiesJSON{Dir: workspace.TranscriptCopies(repo)}
	if entries, err := os.ReadDir(copies.Dir); err == nil {
		for _, e := range entries {
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				copies.Count++
				copies.Bytes += info.Size()
			}
		}
	}
	if copies.Count > 0 {
		r.Copies = &copies
	}
	all := setup.WithStores(a, s)
	files := setup.NewSettingsJSON(&all)
	r.Settings = &files
	if s.Enabled {
		r.Sending, err = setup.Sending(ctx, a.Workspace(repo))
		if err != nil {
			r.Notes = append(r.Notes, app.Note{Code: "sending", Message: "No remote for checkpoints: " + err.Error()})
		}
		r.Notes = append(r.Notes, sharingNotes(ctx, a.Workspace(repo))...)
	}
	r.Notes = append(r.Notes, settingsNotes(&all, r.Sending)...)
	if s.Configured {
		addHooks(ctx, a, r, repo, s)
	}
	r.runtime = workspace.Runtime(repo, s.Activation.Level)
	addRecords(ctx, a, r, repo)
	if partial, err := repo.IsPartial(); err == nil && partial || git.IsShallow(repo) {
		if gaps, err := (query.CheckpointReader{Repo: repo}).Gaps(ctx); err == nil && len(gaps) > 0 {
			what, hint := format.Gaps(gaps)
			r.Notes = append(r.Notes, app.Note{Code: "clone-gaps", Message: format.Capitalize(what) + ".", Hint: hint})
		}
	}
	if s.Configured {
		addSnapshots(a, r, repo, s)
	}
	addContexts(r)
	addNext(r)
	return r, nil
}

// settingsNotes returns the notes on settings: a remote that the project proposes is in force if the
// user has allowed sending there.
func settingsNotes(s *settings.Settings, to *setup.SendingJSON) []app.Note {
	if to == nil {
		return setup.SettingsNotes(s)
	}
	known := *s
	if to.Proposed && to.Allowed {
		known.Proposals = slices.DeleteFunc(slices.Clone(s.Proposals), func(p settings.Proposal) bool { return p.Key == settings.KeyPushRemote })
	}
	return setup.SettingsNotes(&known)
}

// sharingNotes returns the notes on checkpoints that are not sent, and on those that a remote has lost.
func sharingNotes(ctx context.Context, w *workspace.Workspace) []app.Note {
	var notes []app.Note
	fault := func(err error) {
		if err != nil {
			notes = append(notes, app.Note{Code: "sending", Message: "What was sent can't be read: " + err.Error()})
		}
	}
	to, err := sharing.FindDestination(ctx, w)
	if err != nil {
		fault(err)
		return notes
	}
	switch u, err := sharing.FindUnsent(ctx, w, to); {
	case err != nil:
		fault(err)
	case u.Why == sharing.NotTrusted:
		notes = append(notes, app.Note{Code: "not-trusted", Message: format.Capitalize(u.String()) + ": you have not allowed it for this remote.", Hint: u.Hint()})
	case u.Why == sharing.NotNamed:
		notes = append(notes, app.Note{Code: "not-sent", Message: format.Capitalize(u.String()) + ".", Hint: u.Hint()})
	}
	if !to.Allowed {
		return notes
	}
	lost, err := sharing.FindLost(ctx, w, to.Remote, to.Place)
	fault(err)
	if lost.How != sharing.NoLoss {
		notes = append(notes, app.Note{
			Code: "remote-lost", Message: format.Capitalize(lost.String()) + ".",
			Hint: "the next `git push` sends it again; `entire forget --checkpoint ID --push " + lost.Remote + "` removes one there for good",
		})
	}
	return notes
}

// addHooks reports the hooks of git and of the agents. It adds notes on missing hooks only if
// recording is enabled. Where it is enabled only for the machine, git's hooks are not missing before the
// first session, and agents' hooks only from the user's own settings.
func addHooks(ctx context.Context, a *app.App, r *statusReport, repo *git.Repo, s settings.Settings) {
	isMachine := s.Activation.Level == settings.Machine
	hooks, err := githook.Installer{Repo: repo}.Check(ctx)
	if err != nil {
		r.Notes = append(r.Notes, app.Note{Code: "git-hooks", Message: "Can't check the git hooks: " + err.Error()})
	}
	missing := slices.Concat(hooks.Missing, hooks.Overwritten, hooks.Outdated)
	r.GitHooks = &gitHooksJSON{Installed: hooks.OK(), Dir: hooks.Dir, Missing: format.NotNil(missing), Chained: format.NotNil(hooks.Chained)}
	agents, err := setup.CheckAgents(a, repo)
	if err != nil {
		r.Notes = append(r.Notes, app.Note{Code: "agent-hooks", Message: err.Error()})
	}
	r.AgentHooks = newAgentHooksJSON(agents[0])
	r.AgentHooks.StatusLine = setup.StatusLineFile(repo)
	for _, other := range agents[1:] {
		if other.Installed > 0 {
			r.OtherAgents = append(r.OtherAgents, newAgentHooksJSON(other))
		}
	}
	// Problems of the question before a clear. The user's list of servers may be long: it is read
	// only if hooks ask.
	var server []app.Note
	if at, err := setup.CheckQuestions(repo); err == nil && at.Installed > 0 {
		r.AgentHooks.Questions = at.File
		var found bool
		if _, r.AgentHooks.Server, found, err = setup.FindServer(a, repo); err == nil && !found {
			server = []app.Note{{
				Code:    codeServerMissing,
				Message: "Hooks call an MCP server before /clear that isn't registered with " + setup.ClaudeLabel + ".",
				Hint:    "run `entire enable --mcp`, or `entire enable --no-mcp`",
			}}
		}
	}
	if !s.Enabled {
		return
	}
	if hooks.Dir != "" && (!isMachine || hooks.AnyInstalled()) {
		r.Notes = append(r.Notes, setup.GitHookNotes(hooks)...)
	}
	if s.Global.Enabled {
		r.Notes = append(r.Notes, setup.UserHooksNotes(a)...)
	}
	if !isMachine {
		r.Notes = append(r.Notes, notes(agents, repo)...)
	}
	r.Notes = append(r.Notes, server...)
	if agents[0].Former {
		r.Notes = append(r.Notes, app.Note{
			Code:    "former-hooks",
			Message: "Hooks of the earlier Entire CLI are also installed: don't run its `rewind` on sessions recorded by this program, it would delete files.",
		})
	}
	if !app.OnPath(a.Getenv, "entire") {
		r.Notes = append(r.Notes, app.Note{
			Code: "not-on-path", Message: "`entire` isn't on your PATH: the hooks do nothing.", Hint: "add its folder to PATH",
		})
	}
}

func newAgentHooksJSON(h setup.AgentHooks) *agentHooksJSON {
	return &agentHooksJSON{Agent: h.Agent.Name, Installed: h.Installed, Missing: format.NotNil(h.Missing), File: h.Settings.Path, Level: setup.LevelOf(h.Settings)}
}

// notes returns a note for each agent whose hooks are missing in the worktree.
func notes(agents []setup.AgentHooks, repo *git.Repo) []app.Note {
	lacks := lacking(agents)
	list := make([]app.Note, 0, len(lacks))
	for _, h := range lacks {
		text, installs := "The hooks for "+h.Agent.Label+" are not installed in this worktree.", " to record its sessions; reading needs no hooks"
		if h.Installed > 0 {
			installs = ""
			text = "Hooks for " + h.Agent.Label + " are missing in this worktree: " + strings.Join(h.Missing, ", ") + "."
		}
		list = append(list, app.Note{
			Code: "agent-hooks-missing", Message: text,
			Hint: "run `entire enable --agent " + h.Agent.Name + "` in " + repo.Root + installs,
		})
	}
	return list
}

// lacking returns the agents with some of their hooks missing. If no agent has hooks, it returns
// Claude Code.
func lacking(agents []setup.AgentHooks) []setup.AgentHooks {
	none := !slices.ContainsFunc(agents, func(h setup.AgentHooks) bool { return h.Installed > 0 })
	var list []setup.AgentHooks
	for i, h := range agents {
		if !h.Complete() && (h.Installed > 0 || none && i == 0) {
			list = append(list, h)
		}
	}
	return list
}

// runStatus prints the report.
func runStatus(a *app.App, opts statusOptions, r *statusReport) error {
	w := a.Streams
	if opts.json {
		return w.JSON(r)
	}
	switch r.State {
	case stateNoRepo:
		w.Printf("%s not a git repository\n", w.Paint(ui.Red, "✕"))
		w.Hint(app.NoRepositoryHint)
	case stateBare:
		w.Printf("%s bare repository: nothing to record\n", w.Paint(ui.Dim, "○"))
	case stateNotSetUp:
		if r.Activation.Reason != settings.NotEnabled {
			w.Printf("%s not recorded: %s\n", w.Paint(ui.Dim, "○"), r.text)
			break
		}
		w.Printf("%s not set up (run `entire enable`)\n", w.Paint(ui.Dim, "○"))
	case stateDisabled:
		w.Printf("%s (%s), %s\n", w.Paint(ui.Yellow, "Disabled"), r.Strategy, strings.TrimPrefix(r.text, "disabled "))
	default:
		w.Printf("%s (%s), %s\n", w.Paint(ui.Green, "Enabled"), r.Strategy, levelText(r.Activation.Level))
	}
	if opts.detailed {
		printFiles(w, r)
		printSessionsDetailed(w, r.Sessions, a.Now())
	} else {
		printSessions(w, r, a.Now())
	}
	if r.Sending != nil && r.Sending.Allowed {
		w.Printf("Each git push sends checkpoints to %s\n", r.Sending.Remote)
	}
	printNext(w, r.Next)
	printSnapshots(a, w, r.Snapshots, opts.detailed)
	printContexts(a, w, r.Contexts)
	if c := r.Copies; c != nil {
		w.Printf("Replaced transcripts: %d, not redacted, %s, in %s\n", c.Count, format.Size(c.Bytes), c.Dir)
	}
	for _, n := range r.Notes {
		w.Printf("\n%s %s\n", w.Paint(ui.Yellow, "!"), n.Message)
		if n.Hint != "" {
			w.Printf("  hint: %s\n", n.Hint)
		}
	}
	if text := advice(r); text != "" {
		w.Printf("Next: %s\n", text)
	}
	// If the time of the last failure can't be written, the failures are shown again.
	if r.Failures != nil {
		if dir, err := r.runtime.Make("logs", 0o755); err == nil {
			_ = disk.WriteCache(filepath.Join(dir, seenName), []byte(r.Failures.last.Format(time.RFC3339Nano)+"\n"), 0o600)
		}
	}
	return nil
}

// levelText says what enables recording.
func levelText(l settings.Level) string {
	switch l {
	case settings.Machine:
		return "as every repository on this machine"
	case settings.Marker:
		return "by `entire enable` on this machine"
	case settings.Repository, settings.NoLevel:
	}
	return "by this repository's settings"
}

func printFiles(w ui.Streams, r *statusReport) {
	if r.Settings == nil {
		return
	}
	for _, f := range r.Settings.Files {
		state := "enabled"
		if !f.Enabled {
			state = "disabled"
		}
		w.Printf("%s, %s (%s)\n", strings.ToUpper(f.Layer[:1])+f.Layer[1:], state, f.Path)
	}
	if r.GitHooks != nil && r.GitHooks.Installed {
		w.Printf("Git hooks in %s\n", r.GitHooks.Dir)
	}
	if r.AgentHooks != nil {
		for _, h := range append([]*agentHooksJSON{r.AgentHooks}, r.OtherAgents...) {
			if a, _ := agent.ByName(h.Agent); h.Installed > 0 {
				w.Printf("%s for %s in %s\n", ui.Plural(h.Installed, "hook"), a.Label, filepath.ToSlash(h.File))
			}
		}
	}
	if r.AgentHooks != nil && r.AgentHooks.Questions != "" {
		w.Printf("Questions at /clear in %s\n", filepath.ToSlash(r.AgentHooks.Questions))
	}
	if r.AgentHooks != nil && r.AgentHooks.StatusLine != "" {
		w.Printf("Status line in %s\n", filepath.ToSlash(r.AgentHooks.StatusLine))
	}
}
