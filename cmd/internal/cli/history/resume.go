package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/rewind"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

type resumeOptions struct {
	force, json bool
}

// NewResume returns the command that switches to a branch and restores its sessions.
func NewResume(a *app.App) *cobra.Command {
	var opts resumeOptions
	cmd := &cobra.Command{
		Use:        "resume [<branch | commit | checkpoint | session>]",
		SuggestFor: []string{"continue"},
		Short:      "Continue a session",
		Long: `Restores the transcripts of a checkpoint to where the agent looks for them, and prints
the command that continues each session, with its whole conversation. To begin a new
session with a short summary of an earlier one, use ` + "`entire recall`" + `. The argument is

  a branch      checked out; its last commit with a checkpoint is used
  a commit      HEAD~3, 1a2b3c4; nothing is checked out
  a checkpoint  a1b2c3d4e5f6, or at least 7 characters of it
  a session     its id in ` + "`entire log --sessions`" + `, or at least 4 characters of it

Without an argument you choose a session. Missing checkpoints are fetched. Paths in
the transcript are changed to this worktree's. A transcript here that is longer than
the stored one is kept, unless --force is given; replaced ones are kept as copies.

EXIT STATUS
  0    done, or the branch has no checkpoint
  1    failure, or a transcript is newer here (nothing is written)
  2    wrong usage, or no terminal to ask on
  130  interrupted`,
		Example: `  entire resume
  entire resume feature/login
  entire resume HEAD~3
  entire resume a1b2c3d4e5f6`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "") { // a script's empty variable
				return app.Usagef("an argument is empty")
			}
			err := runResume(cmd.Context(), a, firstOf(args), opts)
			if err != nil && firstOf(args) == "recording" {
				return app.WithHint(err, "`entire enable` resumes recording")
			}
			return err
		},
	}
	cmd.ValidArgsFunction = setup.Argument(a, 0, setup.Branches, setup.Sessions)
	cmd.Flags().BoolVarP(&opts.force, "force", "f", false, "don't ask, and replace newer transcripts; copies are kept")
	setup.JSONFlag(cmd.Flags(), &opts.json)
	return cmd
}

// resuming is one run of resume.
type resuming struct {
	*app.App

	opts resumeOptions
	repo *git.Repo
	w    *workspace.Workspace
	only string // the session to restore; empty restores all of a checkpoint
}

func runResume(ctx context.Context, a *app.App, what string, opts resumeOptions) (err error) {
	repo, err := a.Worktree()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	if err := repo.ReadLazily(); err != nil {
		return err
	}
	there, log := a.LoggingWorkspace(repo, "resume")
	defer func() { _ = log.Close() }()
	w := &resuming{App: a, opts: opts, repo: repo, w: there}
	if what == "" {
		if what, err = w.chooseSession(ctx); err != nil {
			return err
		}
	}
	branch, found, err := rewind.FindResumeBranch(ctx, w.w, what)
	if err != nil {
		return err
	}
	if found {
		err = w.branch(ctx, branch)
	} else {
		err = w.carrier(ctx, what)
	}
	if err == nil && !a.Settings(repo).Configured {
		a.Streams.Hint("run `entire enable` to record your further work")
	}
	return err
}

// branch resumes the sessions of a branch's last checkpoint. All checks and questions come before
// the first change.
func (r *resuming) branch(ctx context.Context, b rewind.ResumeBranch) error {
	if checkpoint.IsShadow(b.Name) || "refs/heads/"+b.Name == checkpoint.MetadataBranch {
		return fmt.Errorf("%s is a branch for Entire's records", b.Name)
	}
	if !b.Current {
		if err := rewind.CanSwitch(ctx, r.w); err != nil {
			return err
		}
	}
	if b.Remote != "" {
		title := fmt.Sprintf("Branch '%s' is only on %s. Fetch it and check it out?", b.Name, b.Remote)
		if err := r.confirm(ctx, ui.Question{Title: title, Flag: "--force"}); err != nil {
			return err
		}
		err := r.WithTransferProgress(r.repo, "Fetching "+b.Name, func() error { return rewind.FetchBranch(ctx, r.w, b) })
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			r.Streams.Notef("Not fetched, using the branch as last fetched: %v", err)
		}
	}
	last, found, err := rewind.LastCheckpoint(ctx, r.w, b)
	if err != nil {
		return err
	}
	if !found {
		if err := r.checkOut(ctx, b); err != nil {
			return err
		}
		r.Streams.Notef("No Entire checkpoint found on branch '%s'", b.Name)
		if hint := format.HintWithGaps(ctx, r.repo, ""); hint != "" {
			r.Streams.Hint(hint)
		}
		if r.opts.json {
			return r.Streams.JSON(newResumedJSON(b, rewind.Carrier{}, ""))
		}
		return nil
	}
	if last.Newer > 0 {
		title := fmt.Sprintf("The last checkpoint of '%s' is followed by %s without one. Resume from %s anyway?",
			b.Name, ui.Plural(last.Newer, "commit"), last.Commit.OID.Short())
		if err := r.confirm(ctx, ui.Question{Title: title, Help: ui.Line(last.Commit.Subject(), 60), Flag: "--force"}); err != nil {
			return err
		}
	}
	return r.restore(ctx, b, last)
}

// carrier resumes the sessions of a commit or of a checkpoint, or the session with such an id.
func (r *resuming) carrier(ctx context.Context, what string) error {
	c, err := rewind.FindCarrier(ctx, r.w, what)
	_, unknown := errors.AsType[*rewind.PointError](err)
	var named []query.Session
	if mayBeSession(what) && (unknown || isID(what)) { // not a name such as HEAD
		// Open the index only if the text is nothing else, or a record names such a session.
		reader := r.Sessions(r.repo)
		known := unknown
		var unread error
		if !known {
			known, unread = reader.Named(ctx, what)
		}
		if known {
			named, unread = reader.Find(ctx, what)
		}
		if unread != nil {
			return unread
		}
	}
	switch {
	case unknown && len(named) == 1, len(named) == 1 && named[0].ID == what:
		return r.session(ctx, named[0])
	case unknown && len(named) > 1:
		return ambiguousSession(what, named)
	case unknown:
		return app.WithHint(fmt.Errorf("branch '%s' not found, and no such commit, checkpoint or session", what),
			"`entire log --sessions` lists sessions; a new branch may need `git fetch`")
	case len(named) > 0 && (err == nil || errors.Is(err, rewind.ErrNoCheckpoint)):
		return app.WithHint(fmt.Errorf("%s is ambiguous: a commit or checkpoint, and session %s", what, named[0].ID), "give more of the id")
	case errors.Is(err, rewind.ErrNoCheckpoint):
		return app.WithHint(fmt.Errorf("No Entire checkpoint found: %w", err), "try a branch: its earlier commits are searched, too") //nolint:staticcheck // scripts rely on it
	case err != nil:
		return err
	}
	return r.restore(ctx, rewind.ResumeBranch{Current: true}, c)
}

// confirm returns an error unless the answer is yes.
func (r *resuming) confirm(ctx context.Context, q ui.Question) error {
	if r.opts.force {
		return nil
	}
	answers, err := r.Prompter.Ask(ctx, q)
	if err != nil {
		return err
	}
	if answers[0] != ui.Yes {
		r.Streams.Notef("Resume cancelled, nothing was changed.")
		return app.ErrDone
	}
	return nil
}

func (r *resuming) checkOut(ctx context.Context, b rewind.ResumeBranch) error {
	if b.Current {
		return nil
	}
	left, err := rewind.DetachedHead(ctx, r.w)
	if err != nil {
		return err
	}
	if err := r.WithTransferProgress(r.repo, "Checking out "+b.Name, func() error { return rewind.SwitchBranch(ctx, r.w, b) }); err != nil {
		return err
	}
	r.Streams.Notef("Switched to branch '%s'.", b.Name)
	if left != "" {
		r.Streams.Notef("HEAD was detached at %s.", left.Short())
	}
	return nil
}

// chooseSession lets the user choose a session, and returns its id.
func (r *resuming) chooseSession(ctx context.Context) (string, error) {
	if !r.Prompter.Interactive() {
		return "", app.WithHint(app.Usagef("an argument is missing"), "type entire resume <branch | commit | checkpoint | session>; `entire log --sessions` lists sessions")
	}
	found, err := r.Sessions(r.repo).List(ctx, query.SessionFilter{Limit: mostSessions})
	if err != nil {
		return "", err
	}
	list := found.Sessions
	if len(list) == 0 {
		return "", app.WithHint(errors.New("no sessions yet"), "`entire enable` records your agent's")
	}
	// A line shows a session's facts, and its prompt as far as the terminal has room.
	const (
		mark  = len("| > ") // the longest prefix of a line of the form
		gap   = 2
		least = 16
	)
	ids := make([]string, len(list))
	for i, s := range list {
		ids[i] = s.ID
	}
	ids = format.UniqueSessions(ids)
	var facts ui.Table
	for i, s := range list {
		facts.AddRow(ids[i], agoOf(r.Now(), s.LastActive), string(s.Phase), cmp.Or(ui.Line(s.Branch, listedBranch), "-"))
	}
	labels := strings.Split(strings.TrimSuffix(facts.String(), "\n"), "\n")
	column := 0
	for _, label := range labels {
		column = max(column, ui.Width(label)+gap)
	}
	width, _ := r.Streams.Size()
	options := make([]ui.Option, len(list))
	for i, s := range list {
		label := labels[i]
		if prompt := ui.Line(s.Prompt, max(width-mark-column, least)); prompt != "" {
			label += strings.Repeat(" ", column-ui.Width(label)) + prompt
		}
		options[i] = ui.Option{Label: label, Value: s.ID}
	}
	answers, err := r.Prompter.Ask(ctx, ui.Question{Title: "Resume which session?", Options: options, Flag: "<session>"})
	if err != nil {
		return "", err
	}
	return answers[0], nil
}

// session resumes one session: in its worktree if its transcript exists, else its newest checkpoint
// is restored here.
func (r *resuming) session(ctx context.Context, s query.Session) error {
	if s.Phase == query.Active {
		r.Streams.Notef("It is working in %s.", format.Path(s.Worktree))
	}
	_, missing := os.Stat(s.Transcript)
	at, gone := filepath.EvalSymlinks(s.Worktree)
	switch {
	case !rewind.Resumable(s.ID):
		return fmt.Errorf("session %s can't be resumed: its id is not valid for an agent", ui.Line(s.ID, format.NameWidth))
	case s.Transcript != "" && missing == nil && gone == nil:
		result := newResumedJSON(rewind.ResumeBranch{Current: true}, rewind.Carrier{}, "")
		result.Sessions = append(result.Sessions, resumedSession{Session: s.ID, Prompt: s.Prompt, Path: s.Transcript, Command: resumeCommand(agent.Of(s.Agent), s.ID, s.Transcript)})
		return r.finish(result, "", at)
	case len(s.Checkpoints) == 0:
		return app.WithHint(fmt.Errorf("session %s has no commit, and its transcript is not here", s.ID), "`entire log --sessions` lists the others")
	}
	r.only = s.ID
	return r.restore(ctx, rewind.ResumeBranch{Current: true}, rewind.Carrier{IDs: s.Checkpoints})
}
