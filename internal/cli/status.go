package cli

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/hooks/githook"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/internal/ui"
)

type statusOptions struct{ detailed, json bool }

func newStatusCmd(a *app) *cobra.Command {
	var opts statusOptions
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what is recorded here, and what keeps it from being recorded",
		Long: `Shows whether sessions are recorded in this repository, the sessions that are
open in all worktrees, what the next commit here would be linked to, and
everything that stands in the way: missing hooks, bad settings, failures of
hooks since you last looked. With --json it prints the same for programs, and
doesn't count as a look; the schema is docs/formats/status.md.

EXIT STATUS
  0  the status was shown, whatever it is
  1  failure
  2  wrong usage`,
		Args:        cobra.NoArgs,
		Annotations: map[string]string{worksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := a.status(cmd.Context())
			if err != nil {
				return err
			}
			return a.runStatus(opts, s)
		},
	}
	cmd.Flags().BoolVar(&opts.detailed, "detailed", false, "show each settings file and pending file too")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
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

// statusReport is the answer of `status --json`; docs/formats/status.md
// describes it.
type statusReport struct {
	Version    int             `json:"version"`
	State      string          `json:"state"`
	Strategy   string          `json:"strategy,omitempty"`
	Repository *repositoryJSON `json:"repository,omitempty"`
	Settings   *settingsJSON   `json:"settings,omitempty"`
	GitHooks   *gitHooksJSON   `json:"git_hooks,omitempty"`
	AgentHooks *agentHooksJSON `json:"agent_hooks,omitempty"`
	Failures   *failuresJSON   `json:"hook_failures,omitempty"`
	Unfinished int             `json:"unfinished"`
	Snapshots  *snapshotsJSON  `json:"snapshots,omitempty"`
	Contexts   *contextJSON    `json:"context_checkpoints,omitempty"`
	Next       *nextCommitJSON `json:"next_commit,omitempty"`
	Sessions   []sessionJSON   `json:"sessions"`
	Notes      []note          `json:"notes"`
	// Copies are the transcripts that a rewind or a resume replaced.
	Copies *transcriptCopiesJSON `json:"transcript_copies,omitempty"`
	// Interrupted is the point of a rewind that was interrupted.
	Interrupted string `json:"interrupted_rewind,omitempty"`
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

func newGitHooksJSON(s githook.Status) *gitHooksJSON {
	missing := slices.Concat(s.Missing, s.Overwritten, s.Outdated)
	return &gitHooksJSON{Installed: s.OK(), Dir: s.Dir, Missing: notNil(missing), Chained: notNil(s.Chained)}
}

// notNil is an empty list in JSON, never null.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

type agentHooksJSON struct {
	Agent     string   `json:"agent"`
	Installed int      `json:"installed"`
	Missing   []string `json:"missing"`
	File      string   `json:"file,omitempty"`
	// Questions is the file with the hooks that ask before a clear, Server for
	// whom the MCP server is registered that they ask.
	Questions  string       `json:"questions_file,omitempty"`
	Server     claude.Scope `json:"mcp_server,omitempty"`
	StatusLine string       `json:"status_line_file,omitempty"`
}

// status gathers the report. Only a repository that can't be read is an error.
func (a *app) status(ctx context.Context) (*statusReport, error) {
	r := &statusReport{Version: 1, Sessions: []sessionJSON{}, Notes: []note{}}
	repo, err := a.repository()
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
	s := a.settings(repo)
	addNext, addContexts := a.nextCommit(ctx, repo, s), a.contextCheckpoints(ctx, repo, s)
	r.Repository = &repositoryJSON{Root: repo.Root, CommonDir: repo.CommonDir, WorktreeID: repo.WorktreeID}
	r.State, r.Strategy = stateOf(&s), s.Strategy
	r.Interrupted, _ = interruptedRewind(repo)
	r.Copies = transcriptCopies(repo)
	files := newSettingsJSON(&s)
	r.Settings = &files
	r.Notes = append(r.Notes, settingsNotes(&s)...)
	if s.Configured {
		a.addHooks(ctx, r, repo, s.Enabled)
	}
	a.addRecords(ctx, r, repo)
	if s.Configured {
		a.addSnapshots(r, repo, s)
	}
	addContexts(r)
	addNext(r)
	return r, nil
}

func stateOf(s *settings.Settings) string {
	switch {
	case s.Enabled:
		return stateEnabled
	case s.Configured:
		return stateDisabled
	default:
		return stateNotSetUp
	}
}

// addHooks reports the hooks of git and of the agent. What is missing is worth
// a note only where recording is wanted.
func (a *app) addHooks(ctx context.Context, r *statusReport, repo *git.Repo, enabled bool) {
	hooks, err := githook.Installer{Repo: repo}.Check(ctx)
	if err != nil {
		r.Notes = append(r.Notes, note{Code: "git-hooks", Message: "The git hooks can't be checked: " + err.Error()})
	}
	r.GitHooks = newGitHooksJSON(hooks)
	agent, err := checkAgent(repo)
	if err != nil {
		r.Notes = append(r.Notes, note{Code: "agent-hooks", Message: err.Error()})
	}
	r.AgentHooks = &agentHooksJSON{
		Agent: claudeName, Installed: agent.Installed, Missing: notNil(agent.Missing), File: agent.File,
		StatusLine: statusLineFile(repo),
	}
	server := a.serverNotes(repo, r.AgentHooks)
	if !enabled {
		return
	}
	if hooks.Dir != "" {
		r.Notes = append(r.Notes, gitHookNotes(hooks)...)
	}
	r.Notes = append(r.Notes, agent.notes(repo)...)
	r.Notes = append(r.Notes, server...)
	if agent.Former {
		r.Notes = append(r.Notes, note{
			Code:    "former-hooks",
			Message: "Hooks of the former Entire CLI are here: its `rewind` must not be run on sessions recorded by this program, it would delete files.",
		})
	}
	if !onPath(a.Getenv, "entire") {
		r.Notes = append(r.Notes, note{
			Code: "not-on-path", Message: "`entire` isn't on your PATH: the hooks do nothing.", Hint: "add its folder to PATH",
		})
	}
}

// notes says which hooks the worktree lacks.
func (h agentHooks) notes(repo *git.Repo) []note {
	if h.complete() {
		return nil
	}
	text := "The hooks for " + claudeLabel + " are not installed in this worktree."
	if h.Installed > 0 {
		text = "Hooks for " + claudeLabel + " are missing in this worktree: " + strings.Join(h.Missing, ", ") + "."
	}
	return []note{{
		Code: "agent-hooks-missing", Message: text,
		Hint: "run `entire enable --agent " + claudeName + "` in " + repo.Root,
	}}
}

// runStatus prints the report.
func (a *app) runStatus(opts statusOptions, r *statusReport) error {
	w := a.Streams
	if opts.json {
		return w.JSON(r)
	}
	switch r.State {
	case stateNoRepo:
		w.Printf("%s not a git repository\n", w.Paint(ui.Red, "✕"))
	case stateBare:
		w.Printf("%s bare repository: nothing to do here\n", w.Paint(ui.Dim, "○"))
	case stateNotSetUp:
		w.Printf("%s not set up (run `entire enable`)\n", w.Paint(ui.Dim, "○"))
	case stateDisabled:
		w.Printf("%s (%s)\n", w.Paint(ui.Yellow, "Disabled"), r.Strategy)
	default:
		w.Printf("%s (%s)\n", w.Paint(ui.Green, "Enabled"), r.Strategy)
	}
	if opts.detailed {
		printFiles(w, r)
	}
	printSessions(w, opts, r.Sessions, a.Now())
	printNext(w, r.Next)
	a.printSnapshots(w, r.Snapshots)
	a.printContexts(w, r.Contexts)
	if c := r.Copies; c != nil {
		w.Printf("\nReplaced transcripts: %d, unredacted, %s, in %s\n", c.Count, shortSize(c.Bytes), c.Dir)
	}
	for _, n := range r.Notes {
		w.Printf("\n%s %s\n", w.Paint(ui.Yellow, "!"), n.Message)
		if n.Hint != "" {
			w.Printf("  hint: %s\n", n.Hint)
		}
	}
	markSeen(r)
	return nil
}

func printFiles(w ui.Streams, r *statusReport) {
	if r.Settings == nil {
		return
	}
	w.Printf("\n")
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
	if r.AgentHooks != nil && r.AgentHooks.Installed > 0 {
		w.Printf("%s for %s in %s\n", ui.Plural(r.AgentHooks.Installed, "hook"), claudeLabel, filepath.ToSlash(r.AgentHooks.File))
	}
	if r.AgentHooks != nil && r.AgentHooks.Questions != "" {
		w.Printf("Questions at /clear in %s\n", filepath.ToSlash(r.AgentHooks.Questions))
	}
	if r.AgentHooks != nil && r.AgentHooks.StatusLine != "" {
		w.Printf("Status line in %s\n", filepath.ToSlash(r.AgentHooks.StatusLine))
	}
}
