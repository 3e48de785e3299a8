package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

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
	list = list[:min(len(list), mostSessions)]
	for i := range list {
		if err := reader.Complete(ctx, &list[i]); err != nil {
			return "", err
		}
	}
	if len(list) == 0 {
		return "", app.WithHint(errors.New("no sessions yet"), "`entire enable` records those of your agent")
	}
	width, _ := r.Streams.Size()
	var options []ui.Option
	for i, label := range sessionLabels(list, r.Now(), width) {
		options = append(options, ui.Option{Label: label, Value: list[i].ID})
	}
	answers, err := r.Prompter.Ask(ctx, ui.Question{Title: "Resume which session?", Options: options, Flag: "<session>"})
	if err != nil {
		return "", err
	}
	return answers[0], nil
}

// sessionLabels are the sessions as lines to choose from, on a terminal of that width.
func sessionLabels(list []sessions.Session, now time.Time, width int) []string {
	const (
		mark  = len("| > ") // what a form puts before a line, at most
		gap   = 2
		least = 16
	)
	var ids []string
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	ids = format.UniqueSessions(ids)
	var facts ui.Table
	for i, s := range list {
		facts.Row(ids[i], agoOf(now, s.LastActive), string(s.Phase), cmp.Or(ui.Line(s.Branch, listedBranch), "-"))
	}
	labels := strings.Split(strings.TrimSuffix(facts.String(), "\n"), "\n")
	column := 0
	for _, label := range labels {
		column = max(column, ui.Width(label)+gap)
	}
	for i, s := range list {
		if prompt := ui.Line(s.Prompt, max(width-mark-column, least)); prompt != "" {
			labels[i] += strings.Repeat(" ", column-ui.Width(labels[i])) + prompt
		}
	}
	return labels
}

// sessionsNamed returns the sessions whose ids begin with a text. All checkpoints are read
// for them only where the text is nothing else, or a record names it as a session.
func (r *resuming) sessionsNamed(ctx context.Context, what string, unknown bool) ([]sessions.Session, error) {
	if !mayBeSession(what) || !unknown && !isID(what) { // as a name such as HEAD
		return nil, nil
	}
	reader := r.Sessions(r.repo)
	if !unknown {
		if named, err := reader.Named(ctx, what); !named {
			return nil, err
		}
	}
	return reader.Find(ctx, what)
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
		result.Sessions = append(result.Sessions, resumedSession{Session: s.ID, Prompt: s.Prompt, Path: s.Transcript, Command: resumeCommand(agent.Of(s.Agent), s.ID, s.Transcript)})
		return r.finish(result, "", at)
	case len(s.Checkpoints) == 0:
		return app.WithHint(fmt.Errorf("session %s has no commit, and its transcript is not here", s.ID), "`entire sessions` lists the others")
	}
	r.only = s.ID
	return r.restore(ctx, resume.Branch{Current: true}, resume.Carrier{IDs: s.Checkpoints})
}
