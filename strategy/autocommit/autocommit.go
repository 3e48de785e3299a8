package autocommit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/filelock"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gitwork"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// turnCommitTimeout bounds the commit of a turn, with all that the user's
// hooks do in it.
const turnCommitTimeout = 60 * time.Second

// tidyTimeout bounds what has to be done after it, however it ended.
const tidyTimeout = 5 * time.Second

// CommitTurn commits what the session's turns have changed, where the strategy
// wants it: exactly those files, and none that the user has staged. It is called
// once a stop is saved. notice is a line for the person, redacted, empty if all
// went well: what git or the state of the repository has against the commit. All
// is then as it was, and the next stop tries again. postCommit does the work of the
// hook of that name, which CommitTurn calls where git didn't run it.
func (co *Committer) CommitTurn(ctx context.Context, id string, postCommit func(context.Context) error) (notice string, err error) {
	if co.Options.Strategy != workspace.AutoCommit && !co.intended() {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, turnCommitTimeout)
	defer cancel()
	lock, err := filelock.Acquire(ctx, co.commitFile(".lock")) // one stop of this worktree commits at a time
	if err != nil {
		return "", err
	}
	if err = co.withdraw(ctx); err == nil { // what a stop that was killed has left
		s, failed := co.Sessions.Load(id)
		switch {
		case co.Options.Strategy != workspace.AutoCommit, errors.Is(failed, session.ErrNotFound):
		case failed != nil:
			err = failed
		case s.Phase == session.Active || !co.OwnsSession(s): // the next stop does it
		default:
			notice, err = co.commitDue(ctx, s, postCommit)
		}
	}
	err = errors.Join(err, lock.Unlock())
	if notice != "" {
		co.Log.WarnContext(ctx, "commit of a turn", "session_id", id, "notice", notice)
	}
	return notice, err
}

// commitDue commits the files that are due.
func (co *Committer) commitDue(ctx context.Context, s *session.State, postCommit func(context.Context) error) (notice string, err error) {
	plan, err := co.planCommit(ctx, s)
	if err != nil || len(plan.paths) == 0 {
		return "", err
	}
	doing, err := gitwork.InProgress(ctx, co.Repo)
	if err != nil {
		return "", err
	}
	if name := doing.Name(); name != "" {
		return "not committed: a " + name + " is in progress", nil
	}
	before, _, err := co.Head(ctx)
	if err != nil {
		return "", err
	}
	if len(plan.fresh) > 0 { // the index gets entries for them
		data, failed := json.Marshal(intent{Files: plan.fresh})
		if failed == nil {
			failed = disk.WriteDurable(co.commitFile(".json"), append(data, '\n'), 0o600)
		}
		if failed != nil {
			err = fmt.Errorf("note new files: %w", failed)
		} else {
			err = gitwork.IntendToAdd(ctx, co.Repo, plan.fresh)
		}
	}
	if err == nil {
		err = gitwork.CommitPaths(ctx, co.Repo, gitwork.PathCommit{
			Paths: plan.paths, Message: s.Recorder.Due.Subject,
			Env: append(agent.Of(s.AgentType).Environ(s.ID), workspace.TurnVariable+"="+s.TurnID),
		})
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyTimeout)
	defer cancel()
	head, born, lost := co.Head(after)
	if lost != nil {
		return "", errors.Join(err, lost)
	}
	made := born && head.OID != before.OID && firstParent(head) == before.OID
	if err != nil && !made { // one whose last hook was cut short is made
		return "not committed: " + co.reason(err), co.withdraw(after)
	}
	co.Log.InfoContext(ctx, "turn committed", "session_id", s.ID, "commit", head.OID.Short(), "files", len(plan.paths))
	if err := co.dropIntent(); err != nil {
		return "", err
	}
	if err := co.alignIndex(after, head, plan.paths); err != nil {
		return "", err
	}
	linked := func() (bool, error) {
		s, err := co.Sessions.Load(s.ID)
		return err == nil && s.BaseCommit == string(head.OID), err
	}
	if ok, err := linked(); ok || err != nil {
		return "", err
	}
	if err := postCommit(after); err != nil {
		return "", err
	}
	if ok, err := linked(); ok || err != nil {
		return "", err
	}
	return "committed as " + head.OID.Short() + ", but not linked: git doesn't run our hooks (`entire enable` installs them)", nil
}

func firstParent(c git.Commit) git.OID {
	if len(c.Parents) == 0 {
		return ""
	}
	return c.Parents[0]
}

// reason is a line on why git made no commit: with the first line of what it
// or a hook of the user's printed.
func (co *Committer) reason(err error) string {
	const longest = 200
	reason := err.Error()
	if exit, ok := errors.AsType[*git.ExitError](err); ok {
		reason = cmp.Or(git.Plainly(workspace.FirstLine(exit.Stderr)), reason)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		reason = fmt.Sprintf("git took more than %v", turnCommitTimeout)
	}
	printable := func(c rune) rune {
		if unicode.IsControl(c) {
			return -1
		}
		return c
	}
	runes := []rune(strings.Map(printable, co.Redact.Text(reason)))
	return string(runes[:min(longest, len(runes))])
}
