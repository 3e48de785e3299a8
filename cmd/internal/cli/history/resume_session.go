package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/rewind"
)

// chooseSession lets the user choose a session, and returns its id.
func (r *resuming) chooseSession(ctx context.Context) (string, error) {
	if !r.Prompter.Interactive() {
		return "", app.WithHint(app.Usagef("an argument is missing"), "type entire resume <branch | commit | checkpoint | session>; `entire sessions` lists sessions")
	}
	found, err := r.Sessions(r.repo).List(ctx, query.SessionFilter{Limit: mostSessions})
	if err != nil {
		return "", err
	}
	list := found.Sessions
	if len(list) == 0 {
		return "", app.WithHint(errors.New("no sessions yet"), "`entire enable` records those of your agent")
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
		r.Streams.Notef("Its turn runs: it is at work in %s.", format.Path(s.Worktree))
	}
	_, missing := os.Stat(s.Transcript)
	at, gone := filepath.EvalSymlinks(s.Worktree)
	switch {
	case !rewind.Resumable(s.ID):
		return fmt.Errorf("session %s can't be resumed: its id can't be given to an agent", ui.Line(s.ID, format.NameWidth))
	case s.Transcript != "" && missing == nil && gone == nil:
		result := newResumedJSON(rewind.ResumeBranch{Current: true}, rewind.Carrier{}, "")
		result.Sessions = append(result.Sessions, resumedSession{Session: s.ID, Prompt: s.Prompt, Path: s.Transcript, Command: resumeCommand(agent.Of(s.Agent), s.ID, s.Transcript)})
		return r.finish(result, "", at)
	case len(s.Checkpoints) == 0:
		return app.WithHint(fmt.Errorf("session %s has no commit, and its transcript is not here", s.ID), "`entire sessions` lists the others")
	}
	r.only = s.ID
	return r.restore(ctx, rewind.ResumeBranch{Current: true}, rewind.Carrier{IDs: s.Checkpoints})
}
