package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/ui"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/conversation"
	"github.com/seed-3aff656d/entire/strategy/resume"
	"github.com/seed-3aff656d/entire/strategy/sessions"
)

// chooseSession lets a person choose a session, and returns its id.
func (r *resuming) chooseSession(ctx context.Context) (string, error) {
	if !r.Prompter.Interactive() {
		return "", app.WithHint(app.Usagef("an argument is missing"), "type entire resume <branch | commit | checkpoint | session>; `entire sessions` lists sessions")
	}
	reader := r.Sessions(r.repo)
	list, _, err := reader.List(ctx)
	if err != nil {
		return "", err
	}
	var options []ui.Option
	for i := range list[:min(len(list), mostSessions)] {
		s := &list[i]
		if err := reader.Complete(ctx, s); err != nil {
			return "", err
		}
		label := format.Session(s.ID) + "  " + ui.Ago(r.Now(), s.LastActive)
		if s.Branch != "" {
			label += "  " + ui.Line(s.Branch, listedBranch)
		}
		options = append(options, ui.Option{Label: label + format.Quoted(ui.Line(s.Prompt, format.ListedWidth)), Value: s.ID})
	}
	if len(options) == 0 {
		return "", app.WithHint(errors.New("no sessions yet"), "`entire enable` records those of your agent")
	}
	answers, err := r.Prompter.Ask(ctx, ui.Question{Title: "Resume which session?", Options: options, Flag: "<session>"})
	if err != nil {
		return "", err
	}
	return answers[0], nil
}

// sessionsNamed returns the sessions whose ids begin with a text.
func (r *resuming) sessionsNamed(ctx context.Context, what string) ([]sessions.Session, error) {
	if !mayBeSession(what) {
		return nil, nil
	}
	return r.App.Sessions(r.repo).Find(ctx, what)
}

// session takes up one session: where its transcript is here it goes on in its worktree,
// else its newest checkpoint is restored here.
func (r *resuming) session(ctx context.Context, s sessions.Session) error {
	if s.Phase == sessions.Active {
		r.Streams.Notef("Its turn runs: it is at work in %s.", format.Path(s.Worktree))
	}
	_, missing := os.Stat(s.Transcript)
	at, gone := filepath.EvalSymlinks(s.Worktree)
	switch {
	case !conversation.Resumable(s.ID):
		return fmt.Errorf("session %s can't be resumed: its id can't be given to an agent", ui.Line(s.ID, format.NameWidth))
	case s.Transcript != "" && missing == nil && gone == nil:
		result := newResumedJSON(resume.Branch{Current: true}, resume.Carrier{}, "")
		result.Sessions = append(result.Sessions, resumedSession{Session: s.ID, Prompt: s.Prompt, Path: s.Transcript, Command: agent.Of(s.Agent).Resume(s.ID)})
		return r.finish(result, "", at)
	case len(s.Checkpoints) == 0:
		return app.WithHint(fmt.Errorf("session %s has no commit, and its transcript is not here", s.ID), "`entire sessions` lists the others")
	}
	r.only = s.ID
	return r.restore(ctx, resume.Branch{Current: true}, resume.Carrier{IDs: s.Checkpoints})
}
