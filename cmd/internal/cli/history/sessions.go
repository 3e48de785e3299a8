package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/query"
)

// mostSessions is the number of sessions that are listed by default.
const mostSessions = 30

type sessionsOptions struct {
	outputFlags

	person personFlags
	agent  string
	limit  int
	all    bool
}

// NewSessions returns the command that lists sessions.
func NewSessions(a *app.App) *cobra.Command {
	var opts sessionsOptions
	cmd := &cobra.Command{
		Use:        "sessions",
		SuggestFor: []string{"session", "ls", "list", "conversations"},
		Short:      "List sessions, running and past",
		Long: `Lists the sessions of all worktrees and branches, last active first, including those
known only from checkpoints, such as fetched ones of colleagues.

  active    a turn is running
  idle      open, waiting for a prompt
  ended     ended
  gone      not ended, but its agent is no longer running
  stored    known only from its checkpoints
  imported  stored, and imported

A session has its own title, such as one given with /rename, or else its first prompt.
Commits are those linked to the session; tokens include subagents. Authors are listed
if there are several.

` + "`entire resume`, `entire show` and `entire recall`" + ` take an id, or at least
4 characters of it.

EXIT STATUS
  0  listed, even if there are none
  1  failure
  2  wrong usage`,
		Example: `  entire sessions
  entire resume 3f9a
  entire sessions --all --json`,
		Args:        cobra.MaximumNArgs(1),
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if args[0] == "" { // a script's empty variable
					return app.Usagef("the argument is empty")
				}
				s := showing{explainOptions: explainOptions{outputFlags: opts.outputFlags}, app: a}
				return s.showSession(cmd.Context(), args[0])
			}
			return runSessions(cmd.Context(), a, opts)
		},
	}
	f := cmd.Flags()
	addLimit(cmd, &opts.limit, mostSessions, "list at most this many")
	f.StringVar(&opts.agent, "agent", "", "only those of this agent: codex, or part of its name")
	opts.person.add(a, cmd)
	f.BoolVarP(&opts.all, "all", "a", false, "list all")
	opts.addListOutput(a, f)
	cmd.MarkFlagsMutuallyExclusive("limit", "all")
	setup.Flag(cmd, "agent", setup.FlagValue(a, setup.Agents))
	return cmd
}

// moreJSON follows the sessions in the output of `sessions --json`.
type moreJSON struct {
	// More is the number of sessions that are not listed.
	More    int              `json:"more"`
	Missing []format.GapJSON `json:"missing,omitempty"`
}

// sessionJSON is an entry of `sessions --json`; docs/formats/sessions.md describes it.
type sessionJSON struct {
	ID          string          `json:"id"`
	State       query.Phase     `json:"state"`
	Agent       string          `json:"agent,omitempty"`
	Worktree    string          `json:"worktree,omitempty"`
	Branch      string          `json:"branch,omitempty"`
	StartedAt   time.Time       `json:"started_at,omitzero"`
	ActiveAt    time.Time       `json:"active_at,omitzero"`
	Title       string          `json:"title,omitempty"`
	FirstPrompt string          `json:"first_prompt,omitempty"`
	Turns       int             `json:"turns"`
	Files       session.Paths   `json:"files"`
	Checkpoints []checkpoint.ID `json:"checkpoints"`
	Authors     []string        `json:"authors"`
	Tokens      session.Tokens  `json:"token_usage"`
	Commits     int             `json:"commits"`
	Imported    bool            `json:"imported,omitempty"`
}

func newSessionJSON(s *query.Session) sessionJSON {
	return sessionJSON{
		ID: s.ID, State: s.Phase, Agent: s.Agent, Worktree: s.Worktree, Branch: s.Branch,
		StartedAt: format.UTC(s.Started), ActiveAt: format.UTC(s.LastActive), Title: s.Title, FirstPrompt: s.Prompt, Turns: s.Turns,
		Files: session.Paths(format.NotNil(s.Files)), Checkpoints: format.NotNil(s.Checkpoints), Authors: format.NotNil(s.Persons), Tokens: s.Tokens,
		Commits: s.Commits(), Imported: s.Imported,
	}
}

func runSessions(ctx context.Context, a *app.App, opts sessionsOptions) (err error) {
	repo, err := a.Repository()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	filter := query.SessionFilter{Person: opts.person.text(), Limit: opts.limit}
	if opts.all {
		filter.Limit = 0
	}
	if opts.agent != "" {
		filter.Agent = func(name string) bool { return app.MatchesAgent(opts.agent, name) }
	}
	found, err := a.Sessions(repo).List(ctx, filter)
	if err != nil {
		return err
	}
	for _, err := range found.Unread {
		a.Streams.Notef("Not everything is listed: %v", err)
	}
	list, more := found.Sessions, found.More
	if opts.json {
		return a.Streams.JSONList(ui.JSONList{
			Key: "sessions",
			Entries: func(yield func(any, error) bool) {
				for _, s := range list {
					if !yield(newSessionJSON(&s), nil) {
						return
					}
				}
			},
			After: func() any { return moreJSON{more, format.GapsOf(ctx, repo, found.Linked)} },
		})
	}
	if len(list) == 0 {
		noSessions(ctx, a, repo, opts, found.Linked)
		return nil
	}
	text := sessionsText(a, list)
	if more > 0 {
		text += fmt.Sprintf("\n%s more: use --all.\n", strconv.Itoa(more))
	}
	opts.show(a, text)
	format.NoteGaps(ctx, a.Streams, repo, found.Linked)
	return nil
}

// noSessions prints why no sessions are listed.
func noSessions(ctx context.Context, a *app.App, repo *git.Repo, opts sessionsOptions, linked bool) {
	gaps, err := query.CheckpointReader{Repo: repo}.GapsGiven(ctx, linked)
	switch {
	case err == nil && len(gaps) > 0:
		what, hint := format.Gaps(gaps)
		a.Streams.Notef("No sessions: %s.", what)
		a.Streams.Hint(hint)
	case opts.agent+opts.person.text() != "":
		a.Streams.Notef("No matching sessions.")
	default:
		a.Streams.Notef("No sessions yet. `entire enable` records your agent's.")
	}
}

// stateOf returns the word for the state of a session.
func stateOf(s *query.Session) string {
	if s.Imported {
		return imported
	}
	return string(s.Phase)
}

// sessionsText returns the table of sessions. It has a column of persons if there are several.
func sessionsText(a *app.App, list []query.Session) string {
	var ids, persons []string
	for i := range list {
		ids, persons = append(ids, list[i].ID), append(persons, list[i].Persons...)
	}
	ids = format.UniqueSessions(ids)
	table := &ui.Table{Spare: []string{"TURNS", "FILES", "BRANCH", "TOKENS", "COMMITS", "ACTIVE", "STATE", "PERSON"}}
	const person = 8 // the place of PERSON
	row := func(cells ...string) {
		if !format.HasSeveral(persons...) {
			cells = slices.Delete(cells, person, person+1)
		}
		table.AddRow(cells...)
	}
	row("ID", "STATE", "ACTIVE", "BRANCH", "TURNS", "FILES", "COMMITS", "TOKENS", "PERSON", "TITLE OR FIRST PROMPT")
	for i, s := range list {
		row(ids[i], stateOf(&s), agoOf(a.Now(), s.LastActive), cmp.Or(ui.Line(s.Branch, listedBranch), "-"), strconv.Itoa(s.Turns),
			strconv.Itoa(len(s.Files)), strconv.Itoa(s.Commits()), ui.Count(s.Total()),
			cmp.Or(ui.Line(strings.Join(s.Persons, ", "), format.PersonWidth), "-"), ui.Line(cmp.Or(s.Title, s.Prompt), format.LineWidth))
	}
	return a.Streams.Table(table)
}

// agoOf returns how long ago a time was, "-" for the zero time.
func agoOf(now, t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return ui.Ago(now, t)
}

// isID reports whether a text consists of hexadecimal digits and hyphens, like the ids of commits,
// checkpoints and most sessions.
func isID(text string) bool { return strings.Trim(strings.ToLower(text), "0123456789abcdef-") == "" }

// mayBeSession reports whether a text can be a session's id or its prefix.
func mayBeSession(text string) bool {
	return len(text) >= query.LeastPrefix && session.CheckID(text) == nil && !strings.ContainsAny(text, "~^@{}: \t")
}

// ambiguousSession returns the error for a prefix of several sessions' ids.
func ambiguousSession(what string, found []query.Session) error {
	ids := make([]string, 0, len(found))
	for _, s := range found {
		ids = append(ids, ui.Line(s.ID, format.NameWidth))
	}
	const most = 5
	if len(ids) > most {
		ids = append(ids[:most], "...")
	}
	return app.WithHint(fmt.Errorf("%s is ambiguous: %d sessions match: %s", what, len(found), strings.Join(ids, ", ")), "give more of the id; `entire log --sessions` lists them")
}
